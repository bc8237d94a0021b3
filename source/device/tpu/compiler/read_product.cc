// SPDX-License-Identifier: Apache-2.0
// Convolutions, and the common part of all products; matrix products are in read_matrix.cc.
#include "device/tpu/compiler/read_product.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/half.h"
#include "operator/onnx/conv_param.h"
#include "tengine/fixed_point.h"

namespace tengine::tpu {
namespace {

constexpr int64_t kMostProducts = int64_t{1} << 18;

int zero_of(const tensor* zero, int64_t index)
{
    if (!zero) return 0;
    if (zero->elem_num == 1) index = 0;
    return zero->data_type == TENGINE_DT_INT8 ? zero->i8[index] : zero->u8[index];
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
                             "a bias of %lld values for %d columns, expected one for each",
                             static_cast<long long>(bias->elem_num), channels);
    for (size_t i = 0; i < layer->parameters.size(); ++i) {
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
    for (size_t o = 0; o < layer.parameters.size(); ++o) {
        const int64_t bias = std::abs(int64_t{layer.parameters[o].bias});
        if (products * 255 * 255 + bias <= most) continue;
        int64_t weights = 0;
        for (int ky = 0; ky < layer.y.kernel; ++ky)
            for (int kx = 0; kx < layer.x.kernel; ++kx)
                for (int c = 0; c < channels; ++c)
                    weights += std::abs(layer.weights.at(static_cast<int>(o), ky, kx, c));
        const int64_t largest_sum = weights * largest_input + bias;
        if (largest_sum > most)
            return reader.refuse(
                IR_REASON_SHAPE, "weight", "",
                "sums of %lld products of channel %zu may reach %lld, expected less than 2^31",
                static_cast<long long>(products), o, static_cast<long long>(largest_sum));
    }
    return true;
}

bool read_multipliers(const NodeReader& reader, const ProductInputs& at, double x_scale,
                      double y_scale, ProductLayer* layer)
{
    const tensor* scales = reader.input(at.w + 1);
    for (size_t o = 0; o < layer->parameters.size(); ++o) {
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

// A lower bound of the number of products, with full tiles and all of the accumulators: an array
// that is too small for the layer would need more instructions than fit into memory.
bool check_cost(const NodeReader& reader, const ProductLayer& layer)
{
    const Config& config = reader.network.config();
    const int64_t channels = layer.inputs[0].shape.c / layer.group;
    const int64_t weights = channels * layer.output.shape.c * layer.y.kernel * layer.x.kernel;
    const int64_t vectors = layer.output.shape.elements() / layer.output.shape.c;
    const int64_t tiles = std::max<int64_t>(1, weights / (int64_t{config.rows} * config.columns));
    const int64_t turns = std::max<int64_t>(1, vectors / config.accumulator_rows);
    if (tiles <= kMostProducts / turns) return true;
    return reader.refuse(IR_REASON_COST, "", "",
                         "it takes %lld tiles %lld times, expected at most %lld products",
                         static_cast<long long>(tiles), static_cast<long long>(turns),
                         static_cast<long long>(kMostProducts));
}

bool add_product(const NodeReader& reader, Product layer)
{
    if (!check_cost(reader, *layer)) return false;
    layer->set_up();
    reader.network.add(std::move(layer));
    return true;
}

}  // namespace

std::vector<int> zeros_of(const tensor* zero)
{
    std::vector<int> zeros;
    for (int64_t i = 0; i < (zero ? zero->elem_num : 1); ++i)
        zeros.push_back(zero_of(zero, i));
    return zeros;
}

bool finish_bytes(const NodeReader& reader, const ProductInputs& at, Product layer)
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

bool check_weights(const NodeReader& reader, int index, int channels)
{
    if (!reader.constant(index, "the weight") || !reader.constant(index + 1, "a scale") ||
        !reader.constant(index + 2, "a zero point"))
        return false;
    for (int i = 1; i <= 2; ++i) {
        const tensor* values = reader.input(index + i);
        if (values && values->elem_num != 1 && values->elem_num != channels)
            return reader.refuse(
                IR_REASON_SHAPE, values->name, "",
                "%lld values for %d output channels, expected one for each or one in all",
                static_cast<long long>(values->elem_num), channels);
    }
    return true;
}

namespace {

bool read_window(const NodeReader& reader, int weight_index, ProductLayer* layer)
{
    const tensor* weight = reader.input(weight_index);
    if (weight->dim_num != 4)
        return reader.refuse(IR_REASON_SHAPE, weight->name, "", "%d spatial axes, expected 2",
                             weight->dim_num - 2);
    window shape;
    if (resolve_conv_window(&reader.of, weight_index, &shape) != TENGINE_OK)
        return reader.refuse(IR_REASON_ATTRIBUTE, "", "", "%s", tengine_error_message());
    layer->y = shape.axes[0];
    layer->x = shape.axes[1];
    layer->group = static_cast<int>(get_ir_node_int(&reader.of, "group", 1));
    layer->weights.data = weight->data;
    layer->weights.data_type = weight->data_type;
    layer->weights.stays = weight->free_host_mem == 0;
    layer->weights.stride_x = 1;
    layer->weights.stride_y = weight->dims[3];
    layer->weights.stride_c = int64_t{weight->dims[2]} * weight->dims[3];
    layer->weights.stride_output = layer->weights.stride_c * weight->dims[1];
    layer->inputs = {reader.network.ref(*reader.input(0))};
    layer->output = reader.network.ref(*reader.output());
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

}  // namespace tengine::tpu
