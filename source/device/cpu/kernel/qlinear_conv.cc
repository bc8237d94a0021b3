// SPDX-License-Identifier: Apache-2.0
// QLinearConv as a product of 16-bit integers (quantized_conv.h), written once for all instruction
// sets with Highway.
//
// Weights and input are taken less their zero points, as int16, and two rows of the matrix at a
// time make a pair, so that one multiply-add of pairs (x86: pmaddwd) does two products a lane. A
// vector of positions lies side by side. Eight channels by one vector are summed in registers.
// Limits: nine loads for eight multiply-adds.
#include <algorithm>
#include <cstdint>

#include "device/cpu/kernel/quantized_conv.h"
#include "device/cpu/kernel_table.h"

#ifdef TENGINE_HAVE_HIGHWAY
// clang-format off
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "device/cpu/kernel/qlinear_conv.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace tengine::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_SCALAR

// Its vectors of 16 and 32 bits have one lane each, which makes no pairs.
int64_t count_pair_lanes()
{
    return 1;
}

void multiply_eight(const int32_t* weights, const int16_t* input, int64_t pairs, int64_t vectors,
                    int64_t stride, int32_t* sums)
{
    for (int64_t v = 0; v < vectors; ++v, input += 2 * pairs)
        for (int64_t row = 0; row < 8; ++row) {
            int32_t sum = 0;
            for (int64_t k = 0; k < pairs; ++k) {
                const int32_t pair = weights[8 * k + row];
                sum += static_cast<int16_t>(pair) * input[2 * k] + (pair >> 16) * input[2 * k + 1];
            }
            sums[row * stride + v] = sum;
        }
}

#else

using Sums = hn::ScalableTag<int32_t>;
using Pairs = hn::Repartition<int16_t, Sums>;

int64_t count_pair_lanes()
{
    return static_cast<int64_t>(hn::Lanes(Sums()));
}

using Vector = hn::Vec<Sums>;

// Adds a pair of inputs at every position times a pair of weights to the sums of one channel. Which
// of the two sums gets which product depends on the instruction set.
HWY_INLINE void add_pair(hn::Vec<Pairs> x, int32_t weights, Vector& even, Vector& odd)
{
    const auto w = hn::BitCast(Pairs(), hn::Set(Sums(), weights));
    even = hn::ReorderWidenMulAccumulate(Sums(), x, w, even, odd);
}

HWY_INLINE void store_sums(Vector even, Vector odd, int32_t* sums)
{
    hn::StoreU(hn::RearrangeToOddPlusEven(even, odd), Sums(), sums);
}

// Eight channels at `vectors` vectors of positions; sums of a channel are `stride` apart.
void multiply_eight(const int32_t* weights, const int16_t* input, int64_t pairs, int64_t vectors,
                    int64_t stride, int32_t* sums)
{
    const int64_t lanes = count_pair_lanes();
    for (int64_t v = 0; v < vectors; ++v, sums += lanes) {
        Vector e0 = hn::Zero(Sums()), e1 = e0, e2 = e0, e3 = e0, e4 = e0, e5 = e0, e6 = e0, e7 = e0;
        Vector o0 = e0, o1 = e0, o2 = e0, o3 = e0, o4 = e0, o5 = e0, o6 = e0, o7 = e0;
        const int32_t* w = weights;
        for (int64_t k = 0; k < pairs; ++k, w += 8, input += 2 * lanes) {
            const auto x = hn::LoadU(Pairs(), input);
            add_pair(x, w[0], e0, o0);
            add_pair(x, w[1], e1, o1);
            add_pair(x, w[2], e2, o2);
            add_pair(x, w[3], e3, o3);
            add_pair(x, w[4], e4, o4);
            add_pair(x, w[5], e5, o5);
            add_pair(x, w[6], e6, o6);
            add_pair(x, w[7], e7, o7);
        }
        store_sums(e0, o0, sums);
        store_sums(e1, o1, sums + stride);
        store_sums(e2, o2, sums + 2 * stride);
        store_sums(e3, o3, sums + 3 * stride);
        store_sums(e4, o4, sums + 4 * stride);
        store_sums(e5, o5, sums + 5 * stride);
        store_sums(e6, o6, sums + 6 * stride);
        store_sums(e7, o7, sums + 7 * stride);
    }
}

#endif  // HWY_TARGET == HWY_SCALAR

}  // namespace tengine::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif  // TENGINE_HAVE_HIGHWAY

#if !defined(TENGINE_HAVE_HIGHWAY)
namespace tengine::cpu {
extern const KernelTable qlinear_conv_kernels;
const KernelTable qlinear_conv_kernels = {nullptr, 0};
}  // namespace tengine::cpu
#elif HWY_ONCE
namespace tengine::cpu {
namespace {

HWY_EXPORT(count_pair_lanes);
HWY_EXPORT(multiply_eight);

// Pairs of int16, less their zero points.
struct Pairs
{
    static constexpr int64_t kGroup = 2;
    static constexpr int64_t kGroupBytes = kGroup * sizeof(int16_t);
    static constexpr int64_t kHeaderBytes = 0;

    static int64_t count_lanes() { return HWY_DYNAMIC_DISPATCH(count_pair_lanes)(); }

    static int32_t make_pair(int first, int second)
    {
        const uint32_t low = static_cast<uint16_t>(first);
        return static_cast<int32_t>(low | static_cast<uint32_t>(second) << 16);
    }

    template <class W>
    static void pack_channel(const W* w, int64_t depth, int64_t steps, int zero, int row,
                             void* panel)
    {
        int32_t* packed = static_cast<int32_t*>(panel) + row;
        for (int64_t k = 0; k < 2 * steps; k += 2, packed += QuantizedConv::kRows)
            *packed = w ? make_pair(w[k] - zero, k + 1 < depth ? w[k + 1] - zero : 0) : 0;
    }

    template <class X>
    static void pack_group(const X* const* rows, int zero, int64_t columns, int64_t step, void* out)
    {
        const X *first = rows[0], *second = rows[1];
        const int64_t lanes = count_lanes();
        auto* packed = static_cast<int16_t*>(out);
        for (int64_t begin = 0; begin < columns;
             begin += lanes, packed += step / int64_t{sizeof(int16_t)}) {
            const int64_t count = std::min(lanes, columns - begin);
            for (int64_t i = 0; i < count; ++i) {
                packed[2 * i] = static_cast<int16_t>(first[begin + i] - zero);
                packed[2 * i + 1] = static_cast<int16_t>(second ? second[begin + i] - zero : 0);
            }
            std::fill(packed + 2 * count, packed + 2 * lanes, int16_t{0});
        }
    }

    static void multiply(const void* panel, const void* packed, int64_t steps, int64_t vectors,
                         int64_t stride, int32_t* sums)
    {
        HWY_DYNAMIC_DISPATCH(multiply_eight)
        (static_cast<const int32_t*>(panel), static_cast<const int16_t*>(packed), steps, vectors,
         stride, sums);
    }
};

using PairKernel = QuantizedConvKernel<Pairs>;

constexpr Kernel rows[] = {{"QLinearConv", "conv.im2col_pairs", PairKernel::accepts,
                            PairKernel::run, PairKernel::prepare}};

}  // namespace

extern const KernelTable qlinear_conv_kernels;
const KernelTable qlinear_conv_kernels = make_table<rows>();

}  // namespace tengine::cpu
#endif  // HWY_ONCE
