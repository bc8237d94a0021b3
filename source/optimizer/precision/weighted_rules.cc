// SPDX-License-Identifier: Apache-2.0
// Rules for Conv, ConvTranspose, Gemm, MatMul and BatchNormalization: QLinearConv, QGemm and
// QLinearMatMul.
#include "base/containers.hpp"
#include "graph/graph.h"
#include "operator/onnx/conv_param.h"
#include "optimizer/pass.h"
#include "optimizer/pass/channel_affine.h"
#include "optimizer/precision/fuser.h"
#include "optimizer/precision/quantized_operator.h"
#include "optimizer/precision/subpixel_conv.h"
#include "optimizer/precision/weights.h"

namespace tengine {
namespace {

// A product of quantised tensors in integers: y = x * weight + bias.
struct Product
{
    Operand x;
    Weight weight;
    tensor* bias = nullptr;
    Result y;
    Vector<tensor*> inputs;  // quantised values, scale and zero point of x and of the weight
};

// With x, weight and result: checks the factors and adds the bias.
bool complete(Fuser& fuser, int slices, tensor* bias, Product* out_product)
{
    Product& product = *out_product;
    const float unit = product.x.by.scale;
    for (int64_t i = 0; i < product.weight.scales->elem_num; ++i)
        if (!is_multiplier(unit * product.weight.scale(i) / product.y.by.scale)) return false;
    if (!make_bias(fuser, bias, slices, product.weight, unit, &product.bias)) return false;
    fuser.append(product.x, &product.inputs);
    for (tensor* input : {product.weight.bytes, product.weight.scales, product.weight.zero_points})
        product.inputs.push_back(input);
    return true;
}

// Prepares inputs 0 and 1 of the node. The result and the bias, which may be null, belong to
// another node when a bias is added after it. The weight may have a scale for each slice of `axis`.
bool prepare(Fuser& fuser, const node& node, const struct node& last, int axis, tensor* bias,
             Product* out_product)
{
    Product& product = *out_product;
    tensor* weight = get_ir_node_input(&node, 1);
    if (!fuser.find_result(last, 0, &product.y) ||
        !fuser.make_operand(get_ir_node_input(&node, 0), product.y, &product.x))
        return false;
    const double unit = product.x.by.scale;
    return make_weight(fuser, weight, axis, product.y, bias, unit, &product.weight) &&
           complete(fuser, axis >= 0 ? weight->dims[axis] : 1, bias, &product);
}

bool is_matrix(const tensor* value)
{
    return value && value->dim_num == 2;
}

bool add_product_matrix(Fuser& fuser, node& node, Product product)
{
    fuser.append(product.y, &product.inputs);
    return fuser.finish(node, product.y,
                        fuser.add("", "QLinearMatMul", node, product.inputs, product.y));
}

// `origin` has transB.
tensor* add_gemm(Fuser& fuser, node& origin, Product& product)
{
    Vector<tensor*> inputs = product.inputs;
    inputs.push_back(product.bias);
    fuser.append(product.y, &inputs);
    return fuser.add("com.microsoft", "QGemm", origin, inputs, product.y);
}

bool add_conv(Fuser& fuser, node& node, Product& product, int group)
{
    Vector<tensor*> inputs = product.inputs;
    fuser.append(product.y, &inputs);
    inputs.push_back(product.bias);
    return fuser.finish(node, product.y,
                        fuser.add("", "QLinearConv", node, inputs, product.y, group));
}

Vector<int> dims_of(const tensor& value)
{
    return {value.dims, value.dims + value.dim_num};
}

// A Gemm over all rows of x, of any rank.
tensor* add_gemm_of_rows(Fuser& fuser, node& origin, Product& product)
{
    const tensor& bytes = *product.x.bytes;
    if (is_matrix(&bytes)) return add_gemm(fuser, origin, product);
    const int depth = bytes.dims[bytes.dim_num - 1];
    if (bytes.dim_num < 2 || depth == 0) return nullptr;
    product.inputs[0] =
        fuser.reshape(product.x.bytes, {static_cast<int>(bytes.elem_num / depth), depth}, origin);
    tensor* rows = product.inputs[0] ? add_gemm(fuser, origin, product) : nullptr;
    return fuser.reshape(rows, dims_of(*product.y.value), origin);
}

// The bias of the product, null if it is not a list.
tensor* find_addend(const node& sum, const tensor* product)
{
    tensor* a = get_ir_node_input(&sum, 0);
    tensor* b = get_ir_node_input(&sum, 1);
    tensor* addend = a == product ? b : a;
    return addend->dim_num <= 1 ? addend : nullptr;
}

// The MatMul by a matrix before an Add, which is its only reader.
node* find_matmul(const Fuser& fuser, const node& sum)
{
    for (int i = 0; i < 2; ++i) {
        const tensor* value = get_ir_node_input(&sum, i);
        node* matmul = producer_of(fuser.graph(), value);
        if (is_op(matmul, "MatMul") && value->consumer_num == 1 && !matmul->core->keep_float &&
            is_matrix(get_ir_node_input(matmul, 1)) &&
            !is_ir_graph_output(&fuser.graph(), value->index))
            return matmul;
    }
    return nullptr;
}

// ---- ConvTranspose ----

// False if the Conv would multiply by more than three zeros for each weight.
bool describe_subpixels(const node& node, SubpixelConv* out_conv)
{
    SubpixelConv& conv = *out_conv;
    window window;
    const tensor& weight = *get_ir_node_input(&node, 1);
    conv.axis_num = weight.dim_num - 2;
    if (conv.axis_num < 1 || conv.axis_num > 2 ||
        resolve_conv_transpose_window(&node, &window) != TENGINE_OK)
        return false;
    conv.groups = static_cast<const conv_param*>(node.op.param_mem)->group;
    conv.input_channels = weight.dims[0] / conv.groups;
    conv.output_channels = weight.dims[1];
    find_subpixel_axis({1, 1, 1, 1, 1, 0, 0}, &conv.axes[0]);
    int64_t taps = 1;
    double multiplied = 1;
    for (int i = 0; i < conv.axis_num; ++i) {
        SubpixelAxis& axis = conv.axes[2 - conv.axis_num + i];
        if (!find_subpixel_axis(window.axes[i], &axis)) return false;
        taps *= axis.kernel;
        multiplied *= double{1} * axis.stride * axis.window;
    }
    conv.has_phases_first = conv.groups == 1 && conv.axes[0].stride == conv.axes[1].stride;
    return multiplied <= 4.0 * static_cast<double>(taps);
}

// Repeats `values`, one or one for each channel of the ConvTranspose, for the channels of the Conv.
tensor* spread(Fuser& fuser, const SubpixelConv& conv, tensor* values)
{
    if (!values || values->elem_num == 1) return values;
    Vector<uint8_t> bytes;
    const auto size = get_ir_tensor_bytes(values) / static_cast<size_t>(values->elem_num);
    for (int i = 0; i < conv.channels(); ++i) {
        const uint8_t* from = values->u8 + static_cast<size_t>(conv.find_channel(i)) * size;
        bytes.insert(bytes.end(), from, from + size);
    }
    return fuser.rewriter().add_constant(String(values->name) + "_subpixel", values->data_type,
                                         {conv.channels()}, bytes.data());
}

tensor* move_weight(Fuser& fuser, const SubpixelConv& conv, const Weight& weight)
{
    const Vector<uint8_t> bytes =
        move_weights(conv, weight.bytes->u8, weight.zero_points->u8, weight.zero_points->elem_num);
    Vector<int> dims = {conv.channels(), conv.input_channels};
    for (int i = 2 - conv.axis_num; i < 2; ++i)
        dims.push_back(conv.axes[i].window);
    return fuser.rewriter().add_constant(String(weight.bytes->name) + "_subpixel",
                                         weight.bytes->data_type, dims, bytes.data());
}

tensor* add_subpixel_conv(Fuser& fuser, const node& node, const SubpixelConv& conv,
                          Product& product)
{
    Vector<tensor*>& inputs = product.inputs;
    inputs[3] = move_weight(fuser, conv, product.weight);
    inputs[4] = spread(fuser, conv, inputs[4]);
    inputs[5] = spread(fuser, conv, inputs[5]);
    fuser.append(product.y, &inputs);
    inputs.push_back(spread(fuser, conv, product.bias));
    NodeDraft draft = {"",        "QLinearConv",
                       node.name, node.core->source_index,
                       inputs,    {String(product.y.value->name) + "_subpixels"},
                       nullptr,   {{"group", conv.groups}}};
    Vector<int64_t> pads, ends;
    for (int i = 2 - conv.axis_num; i < 2; ++i) {
        pads.push_back(conv.axes[i].pad_begin);
        ends.push_back(conv.axes[i].pad_end);
    }
    pads.insert(pads.end(), ends.begin(), ends.end());
    draft.lists = {{"pads", pads}};
    return fuser.rewriter().add_device_tensor(draft);
}

// N x C s_y s_x x H x W as N x C x H s_y x W s_x.
tensor* interleave(Fuser& fuser, const node& node, const SubpixelConv& conv, tensor* bytes)
{
    const auto& [y, x] = conv.axes;
    if (conv.phases() == 1 || !bytes) return bytes;
    const String name = String(node.name) + "_interleave";
    if (y.stride == x.stride)
        return fuser.rewriter().add_device_tensor(
            {"",
             "DepthToSpace",
             name,
             node.core->source_index,
             {bytes},
             {name + "d"},
             nullptr,
             {{"blocksize", y.stride}},
             {},
             {{"mode", conv.has_phases_first ? "DCR" : "CRD"}}});
    const int batch = bytes->dims[0], channels = conv.groups * conv.output_channels;
    bytes =
        fuser.reshape(bytes, {batch, channels, y.stride, x.stride, y.positions, x.positions}, node);
    NodeDraft draft = {"", "Transpose", name, node.core->source_index, {bytes}, {name + "d"}};
    draft.lists = {{"perm", {0, 1, 4, 2, 5, 3}}};
    Vector<int> dims = {batch, channels};
    for (int i = 2 - conv.axis_num; i < 2; ++i)
        dims.push_back(conv.axes[i].positions * conv.axes[i].stride);
    return fuser.reshape(fuser.rewriter().add_device_tensor(draft), dims, node);
}

// Cuts off the positions beyond the result.
tensor* cut(Fuser& fuser, const node& node, const SubpixelConv& conv, tensor* bytes)
{
    Vector<int64_t> starts, ends, axes;
    for (int i = 0; i < conv.axis_num; ++i) {
        const SubpixelAxis& axis = conv.axes[2 - conv.axis_num + i];
        if (!axis.is_cut()) continue;
        starts.push_back(axis.crop);
        ends.push_back(int64_t{axis.crop} + axis.output);
        axes.push_back(2 + i);
    }
    if (starts.empty() || !bytes) return bytes;
    const String name = String(node.name) + "_cut";
    return fuser.rewriter().add_device_tensor(
        {"",
         "Slice",
         name,
         node.core->source_index,
         {bytes, fuser.rewriter().add_list(name + "_starts", starts),
          fuser.rewriter().add_list(name + "_ends", ends),
          fuser.rewriter().add_list(name + "_axes", axes)},
         {name + "_quantized"}});
}

// y = factor x + offset for each channel, as weights and biases of a Conv.
bool read_norm(Fuser& fuser, const node& norm, int rank, tensor** out_factors, tensor** out_offsets)
{
    if (!has_constant_statistics(norm)) return false;
    Vector<float> factors, offsets;
    for (const auto& [factor, offset] : read_batch_norm(norm)) {
        factors.push_back(static_cast<float>(factor));
        offsets.push_back(static_cast<float>(offset));
    }
    const int channels = static_cast<int>(factors.size());
    Vector<int> dims(static_cast<size_t>(rank), 1);
    dims[0] = channels;
    const String name = norm.name;
    Rewriter& rewriter = fuser.rewriter();
    *out_factors = rewriter.add_constant(name + "_factors", TENGINE_DT_FP32, dims, factors.data());
    *out_offsets =
        rewriter.add_constant(name + "_offsets", TENGINE_DT_FP32, {channels}, offsets.data());
    return *out_factors && *out_offsets;
}

}  // namespace

bool fuse_conv(Fuser& fuser, node& node)
{
    Product product;
    return prepare(fuser, node, node, find_weight_axis(node), get_ir_node_input(&node, 2),
                   &product) &&
           add_conv(fuser, node, product, 0);
}

// A Conv with more channels, whose elements are then moved: exact, and on every device that has a
// Conv.
bool fuse_conv_transpose(Fuser& fuser, node& node)
{
    Product product;
    SubpixelConv conv = {};
    tensor* bias = get_ir_node_input(&node, 2);
    if (!describe_subpixels(node, &conv) || !fuser.find_result(node, 0, &product.y) ||
        !fuser.make_operand(get_ir_node_input(&node, 0), product.y, &product.x) ||
        !make_weight(fuser, get_ir_node_input(&node, 1), find_weight_axis(node), product.y, bias,
                     product.x.by.scale, &product.weight) ||
        product.weight.bytes->tensor_type != TENSOR_TYPE_CONST ||
        !complete(fuser, conv.groups * conv.output_channels, bias, &product))
        return false;
    tensor* bytes = add_subpixel_conv(fuser, node, conv, product);
    return fuser.finish(node, product.y,
                        cut(fuser, node, conv, interleave(fuser, node, conv, bytes)));
}

bool fuse_gemm(Fuser& fuser, node& node)
{
    Product product;
    return is_plain_gemm(node) &&
           prepare(fuser, node, node, find_weight_axis(node), get_ir_node_input(&node, 2),
                   &product) &&
           fuser.finish(node, product.y, add_gemm(fuser, node, product));
}

bool fuse_matmul(Fuser& fuser, node& node)
{
    Product product;
    const tensor* weight = get_ir_node_input(&node, 1);
    if (!prepare(fuser, node, node, find_weight_axis(node), nullptr, &product)) return false;
    if (add_product_matrix(fuser, node, product)) return true;
    return is_matrix(weight) && is_matrix(get_ir_node_input(&node, 0)) &&
           fuser.finish(node, product.y, add_gemm(fuser, node, product));
}

bool fuse_biased_matmul(Fuser& fuser, node& node)
{
    Product product;
    struct node* matmul = find_matmul(fuser, node);
    if (!matmul) return false;
    tensor* bias = find_addend(node, get_ir_node_output(matmul, 0));
    return bias && prepare(fuser, *matmul, node, find_weight_axis(*matmul), bias, &product) &&
           fuser.finish(node, product.y, add_gemm_of_rows(fuser, *matmul, product));
}

// A depthwise Conv of one tap.
bool fuse_batch_norm(Fuser& fuser, node& node)
{
    Product product;
    tensor *factors, *offsets;
    if (get_ir_node_int(&node, "training_mode", 0) != 0 ||
        !fuser.find_result(node, 0, &product.y) ||
        !fuser.make_operand(get_ir_node_input(&node, 0), product.y, &product.x) ||
        product.x.bytes->dim_num < 3 ||
        !read_norm(fuser, node, product.x.bytes->dim_num, &factors, &offsets) ||
        !quantize_weight(fuser, *factors, 0, offsets, product.x.by.scale, &product.weight))
        return false;
    const int channels = factors->dims[0];
    return complete(fuser, channels, offsets, &product) && add_conv(fuser, node, product, channels);
}

}  // namespace tengine
