// SPDX-License-Identifier: Apache-2.0
// Pools over windows and over whole channels.
#include <algorithm>
#include <cstring>
#include <memory>

#include "device/tpu/compiler/move_layer.h"
#include "device/tpu/compiler/pool_layer.h"
#include "device/tpu/compiler/read.h"
#include "operator/onnx/pool_param.h"
#include "tengine/fixed_point.h"

namespace tengine::tpu {
namespace {

using Pool = std::unique_ptr<PoolLayer>;

constexpr int64_t kMostAveraged = int64_t{1} << 23;  // so that sums of 8-bit values stay below 2^31

bool check_rank(const NodeReader& reader)
{
    const tensor* input = reader.input(0);
    if (input->dim_num == 4) return true;
    return reader.refuse(IR_REASON_SHAPE, input->name, "", "%d spatial axes, expected 2",
                         input->dim_num - 2);
}

// An output position that sees nothing but padding has no window.
bool check_axis(const NodeReader& reader, const window_axis& axis)
{
    for (int position = 0; position < axis.output; ++position) {
        int first, last;
        clip_window_taps(&axis, position, &first, &last);
        if (first == last)
            return reader.refuse(IR_REASON_ATTRIBUTE, "pads", "",
                                 "position %d of an axis covers only padding", position);
    }
    return true;
}

bool read_shape(const NodeReader& reader, PoolLayer* layer)
{
    const auto* param = static_cast<const pool_param*>(reader.of.op.param_mem);
    window shape;
    if (!check_rank(reader)) return false;
    if (resolve_pool_window(&reader.of, &shape) != TENGINE_OK)
        return reader.refuse(IR_REASON_ATTRIBUTE, "", "", "%s", tengine_error_message());
    layer->y = shape.axes[0];
    layer->x = shape.axes[1];
    layer->counts_padding = param->count_include_pad != 0;
    return check_axis(reader, layer->y) && check_axis(reader, layer->x);
}

// The channels that a pool takes at once: all, unless the rows that one row of the result needs do
// not fit into the buffer; then as many as fit twice.
int channels_at_once(const PoolLayer& layer, const Config& config)
{
    constexpr int64_t kAlignments = 128;
    constexpr int64_t kMostPieces = 64;  // more make no sense, and planning them takes long
    const int64_t rows =
        std::min<int64_t>(layer.y.input, int64_t{layer.y.kernel - 1} * layer.y.dilation + 1);
    // The bytes of a channel.
    const int64_t bytes = (rows * layer.x.input + layer.output.shape.w) * layer.element_bytes;
    const int64_t channels = layer.output.shape.c;
    const int64_t some = config.unified_buffer_bytes / 2 / bytes;
    const bool fits = bytes * channels + kAlignments <= config.unified_buffer_bytes;
    return static_cast<int>(fits || some * kMostPieces < channels ? channels : some);
}

// Channels do not depend on each other: some are copied out, pooled, and joined at the end.
void add_by_channels(NetworkBuilder& network, const PoolLayer& whole, int channels)
{
    const Shape& from = whole.inputs[0].shape;
    const Shape& to = whole.output.shape;
    auto join = make_move(whole.output, whole.element_bytes);
    for (int first = 0; first < to.c; first += channels) {
        const int number = std::min(channels, to.c - first);
        auto cut =
            make_move(network.temporary({from.n, from.h, from.w, number}, whole.element_bytes),
                      whole.element_bytes);
        Piece taken;
        taken.end = {from.n, from.h, from.w, number};
        taken.from[3] = first;
        cut->inputs = {whole.inputs[0]};
        cut->pieces = {taken};

        auto pool = std::make_unique<PoolLayer>();
        static_cast<PoolSettings&>(*pool) = whole;
        pool->element_bytes = whole.element_bytes;
        pool->inputs = {cut->output};
        pool->output = network.temporary({to.n, to.h, to.w, number}, whole.element_bytes);

        Piece placed;
        placed.input = static_cast<int>(join->inputs.size());
        placed.begin[3] = first;
        placed.end = {to.n, to.h, to.w, first + number};
        join->inputs.push_back(pool->output);
        join->pieces.push_back(placed);
        network.add(std::move(cut));
        network.add(std::move(pool));
    }
    network.add(std::move(join));
}

bool finish(const NodeReader& reader, Pool layer)
{
    layer->inputs = {reader.network.ref(*reader.input(0))};
    layer->output = reader.network.ref(*reader.output());
    layer->is_float = reader.is_float();
    layer->element_bytes = layer->is_float ? 2 : 1;
    layer->signed_input = reader.input(0)->data_type == TENGINE_DT_INT8;
    layer->signed_output = reader.output()->data_type == TENGINE_DT_INT8;
    if (layer->y.kernel > UINT16_MAX || layer->x.kernel > UINT16_MAX ||
        int64_t{layer->y.kernel} * layer->x.kernel > kMostAveraged)
        return reader.refuse(IR_REASON_ATTRIBUTE, "kernel_shape", "",
                             "a window of %d x %d is not supported", layer->y.kernel,
                             layer->x.kernel);
    const int channels = channels_at_once(*layer, reader.network.config());
    if (channels < layer->output.shape.c)
        add_by_channels(reader.network, *layer, channels);
    else
        reader.network.add(std::move(layer));
    return true;
}

// x, x_scale, x_zero_point, y_scale, y_zero_point.
bool read_scales(const NodeReader& reader, PoolLayer* layer)
{
    double x_scale, y_scale;
    if (!require_bytes(reader, {0}) || !reader.quantization(1, &x_scale, &layer->input_zero) ||
        !reader.quantization(3, &y_scale, &layer->output_zero))
        return false;
    layer->scale = x_scale;
    layer->result_scale = y_scale;
    const double real = x_scale / y_scale;
    ir_multiplier_t multiplier = {};
    if (make_ir_multipliers(&real, 1, &multiplier) != TENGINE_OK)
        return reader.refuse(IR_REASON_ATTRIBUTE, "scale", "", "%s", tengine_error_message());
    return true;
}

}  // namespace

bool read_max_pool(const NodeReader& reader)
{
    auto layer = std::make_unique<PoolLayer>();
    if (reader.output(1))
        return reader.refuse(IR_REASON_ATTRIBUTE, "Indices", "",
                             "the indices output is not supported");
    if (!reader.is_float() && !require_bytes(reader, {0})) return false;
    return read_shape(reader, layer.get()) && finish(reader, std::move(layer));
}

bool read_average_pool(const NodeReader& reader)
{
    auto layer = std::make_unique<PoolLayer>();
    layer->is_mean = true;
    return require_bf16(reader) && read_shape(reader, layer.get()) &&
           finish(reader, std::move(layer));
}

bool read_qlinear_average_pool(const NodeReader& reader)
{
    auto layer = std::make_unique<PoolLayer>();
    layer->is_mean = true;
    return read_scales(reader, layer.get()) && read_shape(reader, layer.get()) &&
           finish(reader, std::move(layer));
}

// GlobalAveragePool (bf16), QLinearGlobalAveragePool, GlobalMaxPool.
bool read_global_pool(const NodeReader& reader)
{
    auto layer = std::make_unique<PoolLayer>();
    const char* op = get_ir_node_op(&reader.of);
    layer->is_mean = std::strcmp(op, "GlobalMaxPool") != 0;
    if (!std::strcmp(op, "QLinearGlobalAveragePool")) {
        if (!read_scales(reader, layer.get())) return false;
    } else if (layer->is_mean ? !require_bf16(reader)
                              : !reader.is_float() && !require_bytes(reader, {0})) {
        return false;
    }
    if (!check_rank(reader)) return false;
    const Shape shape = shape_of(*reader.input(0));
    layer->y = {shape.h, 1, shape.h, 1, 1, 0, 0};
    layer->x = {shape.w, 1, shape.w, 1, 1, 0, 0};
    return finish(reader, std::move(layer));
}

}  // namespace tengine::tpu
