// SPDX-License-Identifier: Apache-2.0
#include "optimizer/dialect/linear_node.h"

#include <algorithm>
#include <limits>

#include "graph/graph.h"
#include "operator/operator.h"
#include "optimizer/dialect/quantized_tensors.h"

namespace tengine {
namespace {

int read_zero_point(const struct tensor* zero_point, int index)
{
    if (!zero_point) return 0;
    const int i = zero_point->elem_num == 1 ? 0 : index;
    switch (zero_point->data_type) {
        case TENGINE_DT_INT8:
            return zero_point->i8[i];
        case TENGINE_DT_UINT8:
            return zero_point->u8[i];
        default:
            return zero_point->i32[i];
    }
}

// 511 steps of the scale must neither overflow nor be rounded in float types of fewer bits.
bool is_exact(float scale)
{
    return scale >= std::numeric_limits<float>::min() &&
           scale <= std::numeric_limits<float>::max() / 512;
}

bool is_vector_of_constants(const struct tensor& tensor, int number)
{
    return tensor.tensor_type == TENSOR_TYPE_CONST && tensor.data && tensor.dim_num <= 1 &&
           (tensor.elem_num == 1 || tensor.elem_num == number);
}

bool lies_along_dimension_0(const node& linear, const struct tensor& bytes, int number)
{
    const int64_t axis = get_ir_node_int(&linear, "axis", 1);
    return bytes.dim_num > 0 && (axis < 0 ? axis + bytes.dim_num : axis) == 0 &&
           bytes.dims[0] == number;
}

}  // namespace

bool read_linear_parameters(const node& linear, const struct tensor& bytes,
                            const struct tensor& values, LinearParameters* out_parameters)
{
    const struct tensor* scale = get_ir_node_input(&linear, 1);
    const struct tensor* zero_point = get_ir_node_input(&linear, 2);
    const int type = bytes.data_type;
    if (type != TENGINE_DT_INT8 && type != TENGINE_DT_UINT8 && type != TENGINE_DT_INT32)
        return false;
    const int number = static_cast<int>(scale->elem_num);
    if (values.data_type != TENGINE_DT_FP32 || scale->data_type != TENGINE_DT_FP32 || number < 1 ||
        !is_vector_of_constants(*scale, number) ||
        (zero_point && !is_vector_of_constants(*zero_point, number)))
        return false;
    if (number > 1 && !lies_along_dimension_0(linear, bytes, number)) return false;
    for (int i = 0; i < number; ++i) {
        if (!is_exact(scale->f32[i])) return false;
        out_parameters->scales.push_back(scale->f32[i]);
        out_parameters->zero_points.push_back(read_zero_point(zero_point, i));
    }
    return true;
}

bool can_have_parameters(const struct tensor& tensor, const LinearParameters& parameters)
{
    const auto number = static_cast<size_t>(tensor.quant_param_num);
    if (number == 0) return true;
    return number == parameters.scales.size() &&
           std::equal(parameters.scales.begin(), parameters.scales.end(), scales_of(tensor)) &&
           std::equal(parameters.zero_points.begin(), parameters.zero_points.end(),
                      zero_points_of(tensor));
}

int give_parameters(struct tensor& tensor, const LinearParameters& parameters)
{
    tensor.quant_axis = 0;
    return set_ir_tensor_quantization_parameter(&tensor, parameters.scales.data(),
                                                parameters.zero_points.data(),
                                                static_cast<int>(parameters.scales.size()));
}

}  // namespace tengine
