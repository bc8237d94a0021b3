// SPDX-License-Identifier: Apache-2.0
#include "optimizer/precision/quantized_operator.h"

#include <algorithm>
#include <cstring>

#include "operator/infer.h"
#include "optimizer/pass.h"
#include "optimizer/pass/channel_affine.h"

namespace tengine {
namespace {

// Whether the axes are 2, 3 ... or the last ones, at least two, as in the pooling after a network's
// last feature map, unlike the means of a normalisation.
bool reduces_last_axes(const node& mean)
{
    int number = 0;
    const int64_t* given = get_ir_node_ints(&mean, "axes", &number);
    Vector<int64_t> axes(given, given + number);
    const tensor* constant = get_ir_node_input(&mean, 1);
    if (is_constant(constant, TENGINE_DT_INT64))
        axes.assign(constant->i64, constant->i64 + constant->elem_num);
    std::sort(axes.begin(), axes.end());
    const auto rank = static_cast<int64_t>(axes.size());
    if (rank < 2) return false;
    for (size_t i = 1; i < axes.size(); ++i)
        if (axes[i] != axes[i - 1] + 1) return false;
    return axes[0] == 2 || axes[0] == -rank;
}

// Zero is in every range. Before opset 11 the value is an attribute.
bool pads_with_zeros(const node& pad)
{
    if (std::strcmp(get_ir_node_text(&pad, "mode", "constant"), "constant") != 0) return true;
    const tensor* value = get_ir_node_input(&pad, 2);
    if (!value) return get_ir_node_float(&pad, "value", 0) == 0;
    return is_constant(value, TENGINE_DT_FP32) && value->elem_num == 1 && *value->f32 == 0;
}

bool has_mode(const node& resize, const char* mode)
{
    const char* position = get_ir_node_text(&resize, "coordinate_transformation_mode", "");
    return std::strcmp(get_ir_node_text(&resize, "mode", "nearest"), mode) == 0 &&
           std::strcmp(position, "tf_crop_and_resize") != 0;
}

}  // namespace

bool is_plain_gemm(const node& gemm)
{
    return get_ir_node_float(&gemm, "alpha", 1) == 1 && get_ir_node_float(&gemm, "beta", 1) == 1 &&
           get_ir_node_int(&gemm, "transA", 0) == 0;
}

bool takes_nearest(const node& resize)
{
    return has_mode(resize, "nearest");
}

bool takes_between(const node& resize)
{
    const tensor* x = get_ir_node_input(&resize, 0);
    const tensor* y = get_ir_node_output(&resize, 0);
    int changed = 0;
    for (int i = 0; i < std::min(x->dim_num, y->dim_num); ++i)
        changed += x->dims[i] != y->dims[i];
    return has_mode(resize, "linear") && changed <= 2 &&
           get_ir_node_int(&resize, "antialias", 0) == 0 &&
           get_ir_node_int(&resize, "exclude_outside", 0) == 0;
}

bool suits_quantization(const node& node)
{
    if (is_op(&node, "Gemm")) return is_plain_gemm(node);
    if (is_op(&node, "ReduceMean")) return reduces_last_axes(node);
    if (is_op(&node, "Resize")) return takes_nearest(node) || takes_between(node);
    if (is_op(&node, "Pad")) return pads_with_zeros(node);
    if (is_op(&node, "BatchNormalization"))
        return has_constant_statistics(node) && node.output_num == 1 &&
               get_ir_node_int(&node, "training_mode", 0) == 0;
    return true;
}

Vector<tensor*> list_data_inputs(const node& node, const QuantizedOperator& op)
{
    const int number =
        op.data_inputs == 0 ? node.input_num : std::min(op.data_inputs, node.input_num);
    Vector<tensor*> inputs;
    for (int i = 0; i < number; ++i)
        inputs.push_back(get_ir_node_input(&node, i));
    return inputs;
}

Vector<tensor*> list_data_outputs(const node& node)
{
    Vector<tensor*> outputs;
    const int number = is_op(&node, "Split") ? node.output_num : 1;
    for (int i = 0; i < number; ++i)
        outputs.push_back(get_ir_node_output(&node, i));
    return outputs;
}

}  // namespace tengine
