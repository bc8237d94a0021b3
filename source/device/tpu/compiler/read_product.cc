// SPDX-License-Identifier: Apache-2.0
// Convolutions and matrix products. What they have in common is a ProductLayer whose shapes,
// window and weights are set; then come sums to bytes (finish_bytes) or to bf16 (finish_float).
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>

#include "base/half.h"
#include "device/tpu/compiler/product_layer.h"
#include "device/tpu/compiler/read.h"
#include "operator/conv_param.h"
#include "operator/gemm_param.h"
#include "operator/qlinear_param.h"
#include "tengine/fixed_point.h"

namespace tengine::tpu {
namespace {

using Product = std::unique_ptr<ProductLayer>;

// Where the numbers of an integer product are among the inputs, and what is beside the scales.
struct Inputs
{
    int x, w, y, bias;
    double alpha = 1;
};

int zero_of(const tensor* zero, int64_t index)
{
    if (!zero) return 0;
    if (zero->elem_num == 1) index = 0;
    return zero->data_type == TENGINE_DT_INT8 ? zero->i8[index] : zero->u8[index];
}

std::vector<int> zeros_of(const tensor* zero)
{
    std::vector<int> zeros;
    for (int64_t i = 0; i < (zero ? zero->elem_num : 1); i++)
        zeros.push_back(zero_of(zero, i));
    return zeros;
}

// Bias of each output channel; one that differs from row to row is refused.
bool read_bias(const NodeReader& reader, int index, int channels, ProductLayer* layer)
{
    const tensor* bias = reader.input(index);
    layer->parameters.assign(static_cast<size_t>(channels), Parameter{0, 0, 0});
    if (!bias) return true;
    if (!reader.constant(index, "the bias")) return false;
    if (bias->elem_num != 1 &&
        (bias->elem_num != channels || bias->dims[bias->dim_num - 1] != channels))
        return reader.refuse(IR_REASON_SHAPE, bias->name, "",
                             "a bias of %lld values for %d columns; one for each is possible",
                             static_cast<long long>(bias->elem_num), channels);
    for (size_t i = 0; i < layer->parameters.size(); i++) {
        const size_t from = bias->elem_num == 1 ? 0 : i;
        layer->parameters[i].bias =
            bias->data_type == TENGINE_DT_BF16
                ? static_cast<int32_t>(fp32_to_bits(bf16_to_fp32(bias->f16[from])))
                : bias->i32[from];
    }
    return true;
}

// Sums wrap around in the machine, so the largest possible one must not reach 2^31.
bool check_sums(const NodeReader& reader, const ProductLayer& layer, int largest_input)
{
    const int64_t channels = layer.inputs[0].shape.c / layer.group;
    const int64_t products = channels * layer.y.kernel * layer.x.kernel;
    const int64_t most = std::numeric_limits<int32_t>::max();
    for (size_t o = 0; o < layer.parameters.size(); o++) {
        const int64_t bias = std::abs(int64_t{layer.parameters[o].bias});
        if (products * 255 * 255 + bias <= most) continue;
        int64_t weights = 0;
        for (int ky = 0; ky < layer.y.kernel; ky++)
            for (int kx = 0; kx < layer.x.kernel; kx++)
                for (int c = 0; c < channels; c++)
                    weights += std::abs(layer.weights.at(static_cast<int>(o), ky, kx, c));
        if (weights * largest_input + bias > most)
            return reader.refuse(IR_REASON_SHAPE, "weight", "",
                                 "sums of %lld products of channel %zu may reach %lld, 2^31 is "
                                 "too much",
                                 static_cast<long long>(products), o,
                                 static_cast<long long>(weights * largest_input + bias));
    }
    return true;
}

bool read_multipliers(const NodeReader& reader, const Inputs& at, double x_scale, double y_scale,
                      ProductLayer* layer)
{
    const tensor* scales = reader.input(at.w + 1);
    for (size_t o = 0; o < layer->parameters.size(); o++) {
        const double w_scale = scales->f32[scales->elem_num > 1 ? o : 0];
        const double real = at.alpha * x_scale * w_scale / y_scale;
        ir_multiplier_t multiplier = {};
        if (make_ir_multipliers(&real, 1, &multiplier) != TENGINE_OK)
            return reader.refuse(IR_REASON_ATTRIBUTE, scales->name, "", "%s",
                                 tengine_error_message());
        layer->parameters[o].factor = multiplier.factor;
        layer->parameters[o].shift = multiplier.shift;
    }
    return true;
}

// A tile of 16-bit weights takes two places of the FIFO.
bool add_product(const NodeReader& reader, Product layer)
{
    layer->set_up();
    if (layer->is_wide() && reader.network.config().weight_fifo_tiles < 2)
        return reader.refuse(IR_REASON_CONSTANT, "weight", "",
                             "weights of 16 bits need a FIFO of two tiles");
    reader.network.add(std::move(layer));
    return true;
}

bool finish_bytes(const NodeReader& reader, const Inputs& at, Product layer)
{
    double x_scale, y_scale;
    if (!reader.quantization(at.x + 1, &x_scale, &layer->input_zero) ||
        !reader.quantization(at.y, &y_scale, &layer->epilogue.zero) ||
        !read_bias(reader, at.bias, layer->output.shape.c, layer.get()))
        return false;
    if (!read_multipliers(reader, at, x_scale, y_scale, layer.get())) return false;
    layer->signed_input = reader.input(at.x)->data_type == TENGINE_DT_INT8;
    layer->epilogue.is_signed = reader.output()->data_type == TENGINE_DT_INT8;
    layer->epilogue.lowest = layer->epilogue.is_signed ? 0x80 : 0;
    layer->epilogue.highest = layer->epilogue.is_signed ? 0x7f : 0xff;
    const int zero =
        layer->signed_input ? static_cast<int8_t>(layer->input_zero) : layer->input_zero;
    const int low = layer->signed_input ? -128 : 0;
    if (!check_sums(reader, *layer, std::max(zero - low, low + 255 - zero))) return false;
    return add_product(reader, std::move(layer));
}

bool finish_float(const NodeReader& reader, int bias, Product layer)
{
    if (!read_bias(reader, bias, layer->output.shape.c, layer.get())) return false;
    layer->is_float = true;
    layer->element_bytes = 2;
    layer->epilogue.low = -std::numeric_limits<float>::infinity();
    layer->epilogue.high = std::numeric_limits<float>::infinity();
    return add_product(reader, std::move(layer));
}

// Scales and zero points of the weights: constant, one or one for each output channel.
bool check_weights(const NodeReader& reader, int index, int channels)
{
    if (!reader.constant(index, "the weight") || !reader.constant(index + 1, "a scale") ||
        !reader.constant(index + 2, "a zero point"))
        return false;
    for (int i = 1; i <= 2; i++) {
        const tensor* values = reader.input(index + i);
        if (values && values->elem_num != 1 && values->elem_num != channels)
            return reader.refuse(IR_REASON_SHAPE, values->name, "",
                                 "%lld values for %d output channels",
                                 static_cast<long long>(values->elem_num), channels);
    }
    return true;
}

bool read_window(const NodeReader& reader, int weight_index, ProductLayer* layer)
{
    const tensor* weight = reader.input(weight_index);
    if (weight->dim_num != 4)
        return reader.refuse(IR_REASON_SHAPE, weight->name, "", "%d spatial axes; 2 are possible",
                             weight->dim_num - 2);
    window shape;
    if (resolve_conv_window(&reader.of, weight_index, &shape) != TENGINE_OK)
        return reader.refuse(IR_REASON_ATTRIBUTE, "", "", "%s", tengine_error_message());
    layer->y = shape.axes[0];
    layer->x = shape.axes[1];
    layer->group = static_cast<int>(get_ir_node_int(&reader.of, "group", 1));
    layer->weights.data = weight->data;
    layer->weights.data_type = weight->data_type;
    layer->weights.stride_x = 1;
    layer->weights.stride_y = weight->dims[3];
    layer->weights.stride_c = int64_t{weight->dims[2]} * weight->dims[3];
    layer->weights.stride_output = layer->weights.stride_c * weight->dims[1];
    layer->inputs = {reader.network.ref(*reader.input(0))};
    layer->output = reader.network.ref(*reader.output());
    return true;
}

// A matrix `weight`, k x n, or n x k when transposed. An input that is a flattened image is read as
// the image: the product is then a convolution whose window is all of it.
bool read_matrix(const NodeReader& reader, int weight_index, bool transposed, ProductLayer* layer)
{
    const tensor* weight = reader.input(weight_index);
    const tensor* input = reader.input(0);
    if (!reader.constant(weight_index, "the second matrix")) return false;
    const int rank = weight->dim_num;
    if (rank < 2 || weight->elem_num != int64_t{weight->dims[rank - 1]} * weight->dims[rank - 2])
        return reader.refuse(IR_REASON_SHAPE, weight->name, "",
                             "one constant matrix is possible, it has %lld elements and rank %d",
                             static_cast<long long>(weight->elem_num), rank);
    if (input->dim_num == 4 || input->dim_num < 1)
        return reader.refuse(IR_REASON_SHAPE, input->name, "", "rank %d is not possible",
                             input->dim_num);
    const int k = weight->dims[transposed ? rank - 1 : rank - 2];
    const int n = weight->dims[transposed ? rank - 2 : rank - 1];
    const int64_t stride_k = transposed ? 1 : n;
    layer->weights.data = weight->data;
    layer->weights.data_type = weight->data_type;
    layer->weights.stride_output = transposed ? k : 1;
    layer->weights.stride_c = stride_k;
    layer->output = reader.network.ref(*reader.output());
    layer->output.shape = layer->output.shape.flattened();
    const tensor* image = reader.network.unflattened(*input);
    if (image && get_ir_tensor_bytes(image) / static_cast<size_t>(image->dims[0]) * 2 <=
                     static_cast<size_t>(reader.network.config().unified_buffer_bytes)) {
        layer->inputs = {reader.network.ref(*image)};
        const Shape& shape = layer->inputs[0].shape;
        layer->y = {shape.h, 1, shape.h, 1, 1, 0, 0};
        layer->x = {shape.w, 1, shape.w, 1, 1, 0, 0};
        layer->weights.stride_x = stride_k;
        layer->weights.stride_y = stride_k * shape.w;
        layer->weights.stride_c = stride_k * shape.w * shape.h;
        layer->output.shape = {shape.n, 1, 1, n};
        return true;
    }
    layer->inputs = {reader.network.ref(*input)};
    layer->inputs[0].shape = layer->inputs[0].shape.flattened();
    layer->y = {layer->output.shape.h, layer->output.shape.h, 1, 1, 1, 0, 0};
    return true;
}

}  // namespace

bool read_qlinear_conv(const NodeReader& reader)
{
    auto layer = std::make_unique<ProductLayer>(reader.network.config());
    if (!check_weights(reader, 3, reader.input(3)->dims[0]) || !require_bytes(reader, {0, 3}) ||
        !read_window(reader, 3, layer.get()))
        return false;
    layer->weights.zero_points = zeros_of(reader.input(5));
    return finish_bytes(reader, {0, 3, 6, 8}, std::move(layer));
}

bool read_conv(const NodeReader& reader)
{
    auto layer = std::make_unique<ProductLayer>(reader.network.config());
    if (!require_bf16(reader) || !reader.constant(1, "the weight") ||
        !read_window(reader, 1, layer.get()))
        return false;
    return finish_float(reader, 2, std::move(layer));
}

bool read_qgemm(const NodeReader& reader)
{
    const auto* param = static_cast<const qgemm_param*>(reader.of.op.param_mem);
    auto layer = std::make_unique<ProductLayer>(reader.network.config());
    if (param->transA)
        return reader.refuse(IR_REASON_ATTRIBUTE, "transA", "1", "A must not be transposed");
    if (!check_weights(reader, 3, reader.output()->dims[1]) || !require_bytes(reader, {0, 3}) ||
        !read_matrix(reader, 3, param->transB != 0, layer.get()))
        return false;
    layer->weights.zero_points = zeros_of(reader.input(5));
    return finish_bytes(reader, {0, 3, 7, 6, static_cast<double>(param->alpha)}, std::move(layer));
}

bool read_qlinear_matmul(const NodeReader& reader)
{
    auto layer = std::make_unique<ProductLayer>(reader.network.config());
    const tensor* weight = reader.input(3);
    if (weight->dim_num < 2)
        return reader.refuse(IR_REASON_SHAPE, weight->name, "", "a vector is not possible");
    if (!check_weights(reader, 3, weight->dims[weight->dim_num - 1]) ||
        !require_bytes(reader, {0, 3}) || !read_matrix(reader, 3, false, layer.get()))
        return false;
    layer->weights.zero_points = zeros_of(reader.input(5));
    return finish_bytes(reader, {0, 3, 6, reader.of.input_num}, std::move(layer));
}

bool read_gemm(const NodeReader& reader)
{
    const auto* param = static_cast<const gemm_param*>(reader.of.op.param_mem);
    auto layer = std::make_unique<ProductLayer>(reader.network.config());
    if (!require_bf16(reader)) return false;
    if (param->transA || param->alpha != 1 || (param->beta != 1 && reader.input(2)))
        return reader.refuse(IR_REASON_ATTRIBUTE, param->transA ? "transA" : "alpha", "",
                             "transA 0, alpha 1 and beta 1 expected");
    if (!read_matrix(reader, 1, param->transB != 0, layer.get())) return false;
    return finish_float(reader, 2, std::move(layer));
}

bool read_matmul(const NodeReader& reader)
{
    auto layer = std::make_unique<ProductLayer>(reader.network.config());
    if (!require_bf16(reader) || !read_matrix(reader, 1, false, layer.get())) return false;
    return finish_float(reader, reader.of.input_num, std::move(layer));
}

}  // namespace tengine::tpu
