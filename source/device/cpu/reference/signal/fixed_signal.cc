// SPDX-License-Identifier: Apache-2.0
// Kernels of the other operators in operator/onnx/fixed_signal_ops.c, in the integers of
// tflite-micro (tensorflow/tflite-micro, signal/src), bit for bit.
#include <algorithm>
#include <cmath>
#include <cstdint>

#include "device/cpu/kernel_table.h"
#include "operator/onnx/fixed_signal_param.h"

namespace tengine::cpu {
namespace {

// The place of the highest bit that is set, from 1 on; 0: none is.
int count_bits(uint64_t value)
{
    int bits = 0;
    for (; value > 0; value >>= 1)
        ++bits;
    return bits;
}

template <class T>
const T* data_of(const KernelContext& context, int index)
{
    return static_cast<const T*>(context.input(index)->data);
}

template <class T>
T* result_of(const KernelContext& context, int index = 0)
{
    return static_cast<T*>(context.output(index)->data);
}

// ---- SignalFftAutoScale ----

// The largest magnitude in int16, where that of -32768 is -32768, and any sample is above it.
int16_t find_peak(const int16_t* samples, int64_t number)
{
    int peak = 0;
    for (int64_t i = 0; i < number; ++i)
        if (samples[i] > peak)
            peak = samples[i];
        else if (-samples[i] > peak)
            peak = static_cast<int16_t>(-samples[i]);
    return static_cast<int16_t>(peak);
}

int run_auto_scale(KernelContext& context)
{
    constexpr int kBits = 15;
    const int64_t number = context.input(0)->elem_num;
    const auto* samples = data_of<int16_t>(context, 0);
    const auto peak = static_cast<uint32_t>(int32_t{find_peak(samples, number)});
    const int bits = std::max(kBits - count_bits(peak), 0);
    auto* out = result_of<int16_t>(context);
    for (int64_t i = 0; i < number; ++i)
        out[i] = static_cast<int16_t>(samples[i] * (1 << bits));
    if (context.output(1)) *result_of<int32_t>(context, 1) = bits;
    return TENGINE_OK;
}

// ---- SignalFilterBank ----

struct FilterBank
{
    const uint32_t* energies;
    const int16_t* weights;
    const int16_t* unweights;
    int energy_num;
    int weight_num;  // the smaller number of both lists
};

// The part of a channel, and what the next one begins with.
int add_channel(const KernelContext& context, const FilterBank& bank, int channel, uint64_t* sum,
                uint64_t* rest)
{
    const int energy = data_of<int16_t>(context, 3)[channel];
    const int weight = data_of<int16_t>(context, 4)[channel];
    const int width = data_of<int16_t>(context, 5)[channel];
    if (width < 1) return TENGINE_OK;
    if (energy < 0 || width > bank.energy_num - energy || weight < 0 ||
        width > bank.weight_num - weight)
        return fail_node(context.node, TENGINE_ERANGE,
                         "channel %d has %d energies from %d and weights from %d, there are %d "
                         "energies and %d weights",
                         channel, width, energy, weight, bank.energy_num, bank.weight_num);
    for (int i = 0; i < width; ++i) {
        const uint64_t value = bank.energies[energy + i];
        *sum += static_cast<uint64_t>(int64_t{bank.weights[weight + i]}) * value;
        *rest += static_cast<uint64_t>(int64_t{bank.unweights[weight + i]}) * value;
    }
    return TENGINE_OK;
}

// The channel before the first one gives that its beginning alone.
int run_filter_bank(KernelContext& context)
{
    const FilterBank bank = {data_of<uint32_t>(context, 0), data_of<int16_t>(context, 1),
                             data_of<int16_t>(context, 2), context.input(0)->dims[0],
                             std::min(context.input(1)->dims[0], context.input(2)->dims[0])};
    const int channels = context.param<filter_bank_param>().num_channels;
    auto* out = result_of<uint64_t>(context);
    uint64_t sum = 0, rest = 0;
    for (int i = 0; i <= channels; ++i) {
        sum = rest;
        rest = 0;
        TENGINE_RETURN_IF_ERROR(add_channel(context, bank, i, &sum, &rest));
        if (i > 0) out[i - 1] = sum;
    }
    return TENGINE_OK;
}

// ---- SignalFilterBankSquareRoot ----

// Rounded to nearest; the largest results are 65535 and 2^32 - 1, for 32 bits and for more.
uint32_t find_root(uint64_t value)
{
    const uint64_t most = value >> 32 == 0 ? 0xffff : 0xffffffff;
    uint64_t root = 0;
    for (uint64_t bit = uint64_t{1} << 31; bit > 0; bit >>= 1)
        if ((root | bit) <= value / (root | bit)) root |= bit;
    const bool is_above = value - root * root > root;
    return static_cast<uint32_t>(is_above && root != most ? root + 1 : root);
}

int run_square_root(KernelContext& context)
{
    constexpr int kMostShift = 31;
    const int shift = *data_of<int32_t>(context, 1);
    if (shift < 0 || shift > kMostShift)
        return fail_node(context.node, TENGINE_ERANGE, "its shift is %d, expected 0 to %d", shift,
                         kMostShift);
    const auto* values = data_of<uint64_t>(context, 0);
    auto* out = result_of<uint32_t>(context);
    for (int64_t i = 0; i < context.input(0)->elem_num; ++i)
        out[i] = find_root(values[i]) >> shift;
    return TENGINE_OK;
}

// ---- SignalPCAN ----

// A parabola for each power of 2: its value, slope and curvature.
int16_t find_gain(uint32_t noise, const int16_t* table)
{
    constexpr int kFractionBits = 10;
    if (noise <= 2) return table[noise];
    const int bits = count_bits(noise), shift = bits - 1 - kFractionBits;
    const int16_t* numbers = table + 4 * bits - 6;
    const uint32_t shifted = shift < 0 ? noise << -shift : noise >> shift;
    const auto fraction = static_cast<int32_t>(shifted & 0x3ff);
    // The product may be beyond int32 for tables that are not of gains.
    const int64_t slope = ((numbers[2] * fraction) >> 5) + int64_t{numbers[1]} * 32;
    const auto product = static_cast<int32_t>(slope * fraction);
    return static_cast<int16_t>(((int64_t{product} + (1 << 14)) >> 15) + numbers[0]);
}

// x^2 / 4 below 2, x - 1 from there on; 12 bits of fraction become 6.
uint32_t shrink(uint32_t ratio)
{
    constexpr int kBits = 12, kResultBits = 6;
    if (ratio < 2U << kBits) return (ratio * ratio) >> (2 + 2 * kBits - kResultBits);
    return (ratio >> (kBits - kResultBits)) - (1U << kResultBits);
}

int run_pcan(KernelContext& context)
{
    const int shift = context.param<gain_control_param>().snr_shift;
    const auto* signal = data_of<uint32_t>(context, 0);
    const auto* noise = data_of<uint32_t>(context, 1);
    auto* out = result_of<uint32_t>(context);
    for (int64_t i = 0; i < context.input(0)->elem_num; ++i) {
        const auto gain =
            static_cast<uint32_t>(int32_t{find_gain(noise[i], data_of<int16_t>(context, 2))});
        out[i] = shrink(static_cast<uint32_t>((uint64_t{signal[i]} * gain) >> shift));
    }
    return TENGINE_OK;
}

// ---- SignalFilterBankLog ----

constexpr int kLogBits = 16;
constexpr uint32_t kLogHalf = 1U << (kLogBits - 1);

// log2(1 + segment / 128) - segment / 128, of 16 bits.
int find_correction(int segment)
{
    const double place = segment / 128.0;
    return static_cast<int>(std::lround((1 << kLogBits) * (std::log2(1 + place) - place)));
}

// Lines between 129 points of the curve.
uint32_t find_log(uint32_t value, uint32_t scale)
{
    constexpr int kSegmentBits = kLogBits - 7;
    const int whole = count_bits(value) - 1;
    const uint32_t above = value - (1U << whole);
    const auto fraction = static_cast<int>(whole < kLogBits ? above << (kLogBits - whole)
                                                            : above >> (whole - kLogBits));
    const int segment = fraction >> kSegmentBits;
    const int low = find_correction(segment), high = find_correction(segment + 1);
    const int between = ((high - low) * (fraction - (segment << kSegmentBits))) >> kLogBits;
    const uint32_t log2 = (static_cast<uint32_t>(whole) << kLogBits) +
                          static_cast<uint32_t>(fraction + low + between);
    constexpr uint64_t kLog2 = 45426;  // ln(2), of 16 bits
    const auto log = static_cast<uint32_t>((kLog2 * log2 + kLogHalf) >> kLogBits);
    return (scale * log + kLogHalf) >> kLogBits;
}

int run_log(KernelContext& context)
{
    const auto& param = context.param<filter_bank_log_param>();
    const auto* values = data_of<uint32_t>(context, 0);
    auto* out = result_of<int16_t>(context);
    for (int64_t i = 0; i < context.input(0)->elem_num; ++i) {
        const uint32_t value = values[i] << param.input_correction_bits;
        const uint32_t log =
            value > 1 ? find_log(value, static_cast<uint32_t>(param.output_scale)) : 0;
        out[i] = static_cast<int16_t>(std::min<uint32_t>(log, INT16_MAX));
    }
    return TENGINE_OK;
}

constexpr Kernel fixed_signal_rows[] = {
    {.op = "tengine.SignalFftAutoScale", .name = "reference", .run = run_auto_scale},
    {.op = "tengine.SignalFilterBank", .name = "reference", .run = run_filter_bank},
    {.op = "tengine.SignalFilterBankLog", .name = "reference", .run = run_log},
    {.op = "tengine.SignalFilterBankSquareRoot", .name = "reference", .run = run_square_root},
    {.op = "tengine.SignalPCAN", .name = "reference", .run = run_pcan},
};

}  // namespace

extern const KernelTable fixed_signal_reference;
const KernelTable fixed_signal_reference = make_table<fixed_signal_rows>();

}  // namespace tengine::cpu
