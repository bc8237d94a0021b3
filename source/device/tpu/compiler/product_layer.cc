// SPDX-License-Identifier: Apache-2.0
// Shapes, blocks and tiles; product_emit.cc emits their instructions.
#include "device/tpu/compiler/product_layer.h"

#include <algorithm>
#include <cstring>

#include "device/tpu/compiler/cost.h"
#include "device/tpu/compiler/emitter.h"

namespace tengine::tpu {
namespace {

int ceil_divide(int a, int b)
{
    return (a + b - 1) / b;
}

// The number of elements beyond the input that the last window covers.
int reach_behind(const window_axis& axis)
{
    const int end =
        (axis.output - 1) * axis.stride - axis.pad_begin + (axis.kernel - 1) * axis.dilation + 1;
    return std::max(0, end - axis.input);
}

}  // namespace

int WeightSource::at(int output, int y, int x, int c) const
{
    const int64_t index = output * stride_output + y * stride_y + x * stride_x + c * stride_c;
    if (data_type == TENGINE_DT_BF16) return static_cast<const uint16_t*>(data)[index];
    const int value = data_type == TENGINE_DT_INT8 ? static_cast<const int8_t*>(data)[index]
                                                   : static_cast<const uint8_t*>(data)[index];
    return value - zero_points[zero_points.size() > 1 ? static_cast<size_t>(output) : 0];
}

// A block is inside one group or has whole groups.
void ProductLayer::set_up()
{
    find_width();
    const int group_outputs = output.shape.c / group;
    const int group_inputs = inputs[0].shape.c / group;
    blocks_.clear();
    if (group_outputs >= config_.columns || group == 1) {
        for (int g = 0; g < group; ++g)
            for (int first = 0; first < group_outputs; first += config_.columns)
                make_block(g * group_outputs + first,
                           std::min(config_.columns, group_outputs - first));
        return;
    }
    const int groups =
        std::clamp(config_.rows / std::max(1, group_inputs), 1, config_.columns / group_outputs);
    for (int g = 0; g < group; g += groups)
        make_block(g * group_outputs, std::min(groups, group - g) * group_outputs);
}

void ProductLayer::make_block(int first, int number)
{
    const int group_outputs = output.shape.c / group;
    const int group_inputs = inputs[0].shape.c / group;
    const int channel = first / group_outputs * group_inputs;
    const int channels = ceil_divide(number, group_outputs) * group_inputs;
    const bool merges_columns = channels == inputs[0].shape.c && (x.dilation == 1 || x.kernel == 1);
    const int run = merges_columns ? channels * x.kernel : channels;
    Block block{first, number, {}};
    for (int ky = 0; ky < y.kernel; ++ky)
        for (int kx = 0; kx < (merges_columns ? 1 : x.kernel); ++kx)
            for (int k = 0; k < run; k += config_.rows)
                block.pieces.push_back({ky, kx, channel + k, std::min(config_.rows, run - k)});
    blocks_.push_back(std::move(block));
}

// Chooses weights of two bytes when one does not fit into int8 after its zero point is subtracted.
void ProductLayer::find_width()
{
    is_wide_ = is_float;
    if (is_float) return;
    const bool is_signed = weights.data_type == TENGINE_DT_INT8;
    for (int zero : weights.zero_points) {
        const int lowest = (is_signed ? INT8_MIN : 0) - zero;
        const int highest = (is_signed ? INT8_MAX : UINT8_MAX) - zero;
        if (lowest >= INT8_MIN && highest <= INT8_MAX) continue;
        for (int o = 0; o < output.shape.c && !is_wide_; ++o)
            for (int ky = 0; ky < y.kernel && !is_wide_; ++ky)
                for (int kx = 0; kx < x.kernel && !is_wide_; ++kx)
                    for (int c = 0; c < inputs[0].shape.c / group && !is_wide_; ++c) {
                        const int value = weights.at(o, ky, kx, c);
                        is_wide_ = value < INT8_MIN || value > INT8_MAX;
                    }
        return;
    }
}

Box ProductLayer::needs(int, const Box& box) const
{
    Box needed = box;
    needed.y0 = box.y0 * y.stride - y.pad_begin;
    needed.y1 = (box.y1 - 1) * y.stride - y.pad_begin + (y.kernel - 1) * y.dilation + 1;
    return needed;
}

Frame ProductLayer::frame(int) const
{
    return {y.pad_begin, x.pad_begin, reach_behind(y), reach_behind(x)};
}

Step ProductLayer::step(int) const
{
    if (y.kernel > 1 || x.kernel > 1 || !frame(0).empty()) return {};
    return {y.stride, x.stride};
}

bool ProductLayer::can_flatten() const
{
    const bool is_pointwise = y.kernel == 1 && x.kernel == 1 && y.stride == 1 && x.stride == 1;
    return is_pointwise && frame(0).empty();
}

std::vector<size_t> ProductLayer::blobs() const
{
    const size_t number =
        streams_parameters_ ? 2 * static_cast<size_t>(config_.columns) : parameters.size();
    return {number * kParameterBytes, epilogue.table.size()};
}

int64_t ProductLayer::tile_number() const
{
    int64_t number = 0;
    for (const Block& block : blocks_)
        number += static_cast<int64_t>(block.pieces.size());
    return number;
}

// The limit of accumulators: half of them, so that the other half is activated meanwhile; or all,
// which needs fewer fetches of weights but waits for each activation.
int ProductLayer::sums_limit() const
{
    const int64_t half = std::max(1, config_.accumulator_rows / 2);
    const int64_t vectors = output.shape.elements() / output.shape.c;
    if (vectors <= half || config_.accumulator_rows < 2) return static_cast<int>(half);
    const int width = is_wide_ ? 2 : 1;
    const auto cost = [&](int64_t limit) {
        const int64_t patches = tiles_stay() ? 1 : (vectors + limit - 1) / limit;
        const double fetch =
            static_cast<double>(patches * tile_number()) * width * tile_cycles(config_);
        const double multiply = static_cast<double>(tile_number() * vectors) * width;
        return std::max(fetch, multiply);
    };
    const double waiting = static_cast<double>(vectors) * static_cast<double>(blocks_.size());
    const bool all = cost(config_.accumulator_rows) + waiting < cost(half);
    return all ? config_.accumulator_rows : static_cast<int>(half);
}

int ProductLayer::rows_at_once() const
{
    return std::max(1, sums_limit() / output.shape.w);
}

void ProductLayer::describe_tiles(sha256_t* hash) const
{
    const auto address = reinterpret_cast<uintptr_t>(weights.data);
    for (const int64_t number :
         {static_cast<int64_t>(address), int64_t{weights.data_type}, weights.stride_output,
          weights.stride_y, weights.stride_x, weights.stride_c, int64_t{inputs[0].shape.c},
          int64_t{output.shape.c}, int64_t{group}, int64_t{y.kernel}, int64_t{x.kernel},
          int64_t{x.dilation}, int64_t{is_wide_}, static_cast<int64_t>(sum_number()),
          static_cast<int64_t>(weights.zero_points.size())})
        update_sha256_number(hash, number);
    for (const int zero : weights.zero_points)
        update_sha256_number(hash, zero);
}

void ProductLayer::place_tiles(uint64_t* end)
{
    const uint64_t bytes = uint64_t{is_wide_ ? 2u : 1u} * static_cast<uint64_t>(config_.rows) *
                           static_cast<uint64_t>(config_.columns);
    for (Block& block : blocks_)
        for (Piece& piece : block.pieces) {
            piece.tile = *end;
            *end += bytes;
        }
}

void ProductLayer::write_tiles(uint8_t* weight_memory) const
{
    for (const Block& block : blocks_)
        for (const Piece& piece : block.pieces)
            write_tile(block, piece, weight_memory + piece.tile);
}

// `tile` is zero at first.
void ProductLayer::write_tile(const Block& block, const Piece& piece, uint8_t* tile) const
{
    const int group_outputs = output.shape.c / group;
    const int group_inputs = inputs[0].shape.c / group;
    const int bytes = is_wide_ ? 2 : 1;
    for (int k = 0; k < piece.length; ++k) {
        const int kx = piece.x + (piece.channel + k) / inputs[0].shape.c;
        const int channel = (piece.channel + k) % inputs[0].shape.c;
        uint8_t* row = tile + int64_t{k} * config_.columns * bytes;
        for (int c = 0; c < block.number; ++c) {
            const int output_channel = block.first + c;
            if (output_channel / group_outputs != channel / group_inputs) continue;
            const int value = weights.at(output_channel, piece.y, kx, channel % group_inputs);
            row[c * bytes] = static_cast<uint8_t>(value);
            if (bytes == 2) row[c * 2 + 1] = static_cast<uint8_t>(value >> 8);
        }
    }
}

size_t ProductLayer::sum_number() const
{
    return is_float || input_zero == 0 ? 0 : static_cast<size_t>(output.shape.c);
}

void ProductLayer::write_sums(int32_t* sums) const
{
    for (int o = 0; o < static_cast<int>(sum_number()); ++o) {
        uint32_t sum = 0;
        for (int ky = 0; ky < y.kernel; ++ky)
            for (int kx = 0; kx < x.kernel; ++kx)
                for (int c = 0; c < inputs[0].shape.c / group; ++c)
                    sum += static_cast<uint32_t>(weights.at(o, ky, kx, c));
        sums[o] = static_cast<int32_t>(sum);
    }
}

void ProductLayer::apply_sums(const int32_t* sums)
{
    const int zero = signed_input ? static_cast<int8_t>(input_zero) : input_zero;
    for (size_t o = 0; o < sum_number(); ++o) {
        int32_t& bias = parameters[o].bias;
        bias = static_cast<int32_t>(static_cast<uint32_t>(bias) -
                                    static_cast<uint32_t>(zero) * static_cast<uint32_t>(sums[o]));
    }
}

std::vector<uint64_t> ProductLayer::pack(Emitter& emitter)
{
    parameter_host_ =
        emitter.add_constant(parameters.data(), parameters.size() * sizeof(Parameter));
    const uint64_t table = emitter.add_constant(epilogue.table.data(), epilogue.table.size());
    return {streams_parameters_ ? kLoadedLater : parameter_host_, table};
}

}  // namespace tengine::tpu
