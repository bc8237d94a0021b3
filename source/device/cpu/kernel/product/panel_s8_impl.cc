// SPDX-License-Identifier: Apache-2.0
// Which format the operands of pixels_s8.h have, and their packing.
#include <algorithm>
#include <cstdint>
#include <cstring>

#include "base/cpu.h"
#include "device/cpu/kernel/product/packed_problem.h"
#include "device/cpu/kernel/product/panel_s8.h"

namespace tengine::cpu {
namespace {

bool is_signed(int data_type)
{
    return data_type == TENGINE_DT_INT8;
}

// Whether int8 weights, or uint8 weights that are made signed, have no zero point but 0.
bool has_symmetric_weights(const Int8Operands& operands)
{
    const tensor* zero_points = operands.weight_zero_points;
    const int middle = is_signed(operands.weights->data_type) ? 0 : 128;
    if (!zero_points) return middle == 0;
    for (int64_t i = 0; i < zero_points->elem_num; ++i)
        if (read_zero_point(zero_points, i) != middle) return false;
    return true;
}

// Whether accumulators of centred products fit an int32 with the bias.
bool has_narrow_sums(const Int8Operands& operands, int64_t depth)
{
    int64_t largest = 0;
    for (int64_t i = 0; operands.bias && i < operands.bias->elem_num; ++i)
        largest = std::max(largest, std::abs(int64_t{operands.bias->i32[i]}));
    return depth <= (INT32_MAX - largest) / (255 * 255);
}

bool has_one_scale(const Int8Operands& operands)
{
    return !operands.weight_scales || operands.weight_scales->elem_num == 1;
}

double find_real_multiplier(const Int8Operands& operands, int64_t channel)
{
    const tensor* scales = operands.weight_scales;
    const float scale = scales ? scales->f32[slice_index(scales, channel)] : 1.0f;
    return double{operands.alpha} *
           find_ir_factor(operands.rounding, operands.input_scale, scale, operands.output_scale);
}

bool has_multipliers(const Int8Operands& operands)
{
    const tensor* scales = operands.weight_scales;
    for (int64_t i = 0; i < (scales ? scales->elem_num : 1); ++i) {
        const double real = find_real_multiplier(operands, i);
        if (!(real >= 0 && real < 2147483647.0)) return false;
    }
    return true;
}

// Packs weights in the order of the accumulators.
class Packer
{
  public:
    Packer(const Int8Pixels& conv, const Int8Operands& operands, const WeightSteps& steps,
           const uint8_t* values)
        : conv_(conv), operands_(operands), steps_(steps), values_(values)
    {
        if (has_one_scale(operands)) common_ = find_byte_multiplier(operands, 0);
    }

    void pack(char* packed) const
    {
        pack_panels(conv_, packed, [&](const PixelPanel& panel) {
            if (conv_.format.element_size == 1)
                pack_panel<int8_t>(panel);
            else
                pack_panel<int16_t>(panel);
        });
    }

  private:
    static constexpr int64_t kMostColumns = 64;

    template <class T>
    void pack_panel(const PixelPanel& panel) const
    {
        const Int8Panel packed = {panel.data, panel.width};
        int32_t zeros[kMostColumns] = {};
        uint32_t totals[kMostColumns] = {};
        for (int64_t i = 0; i < panel.count; ++i)
            zeros[i] = find_weight_zero(panel.channel + i);
        // By value: for the compiler, packed bytes may be anything else.
        pack_elements(
            conv_, panel, steps_, values_, true, reinterpret_cast<T*>(packed.weights()),
            [count = panel.count, step = steps_.output_channel, group = int64_t{conv_.format.group},
             has_sign = is_signed(operands_.weights->data_type), zero = zeros,
             total = totals](const uint8_t* from, T* to) {
                for (int64_t i = 0; i < count; ++i, from += step) {
                    const int value = (has_sign ? static_cast<int8_t>(*from) : *from) - zero[i];
                    total[i] += static_cast<uint32_t>(value);
                    to[i * group] = static_cast<T>(value);
                }
            });
        for (int64_t i = 0; i < panel.width; ++i)
            finish(packed, i, i < panel.count ? panel.channel + i : -1, totals[i]);
        if (conv_.crosses) take_off_crossed(packed);
    }

    // Subtracts the compensation of crossed products for each column, with pairs of int16.
    void take_off_crossed(const Int8Panel& panel) const
    {
        const auto* weights = reinterpret_cast<const int16_t*>(panel.weights());
        const int64_t step = 2 * panel.width, twos = conv_.whole_groups() / 2;
        for (int64_t segment = 0; segment < conv_.segment_num; ++segment) {
            const int16_t* at = weights + segment * conv_.segment_groups() * step;
            for (int64_t i = 0; i < twos; ++i, at += 2 * step)
                for (int64_t j = 0; j < step; ++j)
                    panel.start()[j / 2] =
                        static_cast<int32_t>(static_cast<uint32_t>(panel.start()[j / 2]) -
                                             static_cast<uint32_t>(at[j] * at[j + step]));
        }
    }

    int32_t find_weight_zero(int64_t channel) const
    {
        const tensor* zero_points = operands_.weight_zero_points;
        const bool is_one = !zero_points || zero_points->elem_num == 1;
        return read_zero_point(zero_points, is_one ? 0 : channel);
    }

    // The column `i` of a panel, which is this output channel; -1: there is none.
    void finish(const Int8Panel& panel, int64_t i, int64_t channel, uint32_t total) const
    {
        const tensor* bias = operands_.bias;
        const uint32_t start =
            bias && channel >= 0 ? static_cast<uint32_t>(bias->i32[slice_index(bias, channel)]) : 0;
        panel.start()[i] = static_cast<int32_t>(start - find_packed_zero(conv_) * total);
        ir_multiplier_t multiplier = {};
        if (channel >= 0)
            multiplier =
                has_one_scale(operands_) ? common_ : find_byte_multiplier(operands_, channel);
        panel.multipliers()[i] = multiplier;
        panel.scales()[i] = round_multiplier(multiplier);
    }

    const Int8Pixels& conv_;
    const Int8Operands& operands_;
    const WeightSteps& steps_;
    const uint8_t* values_;
    ir_multiplier_t common_ = {};  // of all channels where they have one scale
};

}  // namespace

ir_multiplier_t find_byte_multiplier(const Int8Operands& operands, int64_t channel)
{
    const double real = find_real_multiplier(operands, channel);
    ir_multiplier_t multiplier;
    return make_ir_multipliers(&real, 1, &multiplier) == TENGINE_OK ? multiplier
                                                                    : ir_multiplier_t{};
}

Int8Operands find_byte_operands(const node& node, int output_scale, int bias)
{
    const auto input = [&](int index) { return get_ir_node_input(&node, index); };
    Int8Operands operands = {};
    operands.weights = input(3);
    operands.weight_scales = input(4);
    operands.weight_zero_points = input(5);
    operands.bias = bias < 0 ? nullptr : input(bias);
    operands.input_scale = input(1)->f32[0];
    operands.output_scale = input(output_scale)->f32[0];
    operands.alpha = 1;
    operands.input_zero_point = read_zero_point(input(2), 0);
    operands.output_zero_point = read_zero_point(input(output_scale + 1), 0);
    operands.input_type = input(0)->data_type;
    operands.output_type = get_ir_node_output(&node, 0)->data_type;
    operands.rounding = rounding_of(node);
    return operands;
}

bool has_byte_constants(const node& node, int output_scale)
{
    for (int i = 1; i < node.input_num; ++i) {
        const tensor* input = get_ir_node_input(&node, i);
        if (i != 3 && input && input->tensor_type != TENSOR_TYPE_CONST) return false;
    }
    return get_ir_node_input(&node, 1)->elem_num == 1 &&
           get_ir_node_input(&node, output_scale)->elem_num == 1;
}

bool find_byte_format(const Int8Operands& operands, int64_t depth, int64_t segment_length,
                      TileFormat* out_format)
{
    if (!has_narrow_sums(operands, depth) || !has_multipliers(operands)) return false;
    const bool is_symmetric = has_symmetric_weights(operands);
    const TileFormat& i8mm = is_signed(operands.input_type) ? i8mm_format : i8mm_unsigned_format;
    for (const TileFormat& format :
         {avx512_vnni_format, avx_vnni_format, i8mm, dotprod_format, find_pair_format()}) {
        const bool fits = format.element_size > 1 || is_symmetric;
        if (!format.multiply || !fits || segment_length < format.group ||
            (get_cpu_features() & format.features) != format.features)
            continue;
        *out_format = format;
        return true;
    }
    return false;
}

void pack_byte_weights(const Int8Pixels& conv, const Int8Operands& operands,
                       const WeightSteps& steps, const uint8_t* values, char* packed)
{
    Packer(conv, operands, steps, values).pack(packed);
}

int keep_byte_pixels(KernelContext& context, const Int8Pixels& conv, const Int8Operands& operands,
                     const WeightSteps& steps)
{
    const auto workers = static_cast<uint64_t>(get_thread_pool_size(context.pool));
    context.scratch_size = conv.worker_bytes() * workers;
    static const char kind = 0;
    const int64_t sizes[] = {join_bits(static_cast<float>(conv.groups), operands.alpha),
                             conv.segment_num << 32 | conv.segment_length,
                             join_bits(operands.input_scale, operands.output_scale),
                             int64_t{operands.rounding} << 60 | steps.output_channel << 16 |
                                 (operands.input_zero_point & 0xff) << 8 | conv.format.group << 4 |
                                 int64_t{conv.crosses} << 3 | int64_t{conv.has_words} << 2 |
                                 int64_t{conv.flips} << 1 | is_signed(operands.input_type)};
    return keep_packed_problem(context, conv, &kind, operands.weights,
                               {operands.weight_zero_points, operands.weight_scales, operands.bias},
                               sizes, conv.packed_bytes(), [&](void* memory, const void* values) {
                                   pack_byte_weights(conv, operands, steps,
                                                     static_cast<const uint8_t*>(values),
                                                     static_cast<char*>(memory));
                               });
}

}  // namespace tengine::cpu
