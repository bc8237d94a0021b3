// SPDX-License-Identifier: Apache-2.0
// QLinearSoftmax along the last axis with constant scales. Passes: the largest element of a row;
// the exponentials of the distances to it, whose three bytes come from three tables
// (table_s8-inl.h) and are summed separately; then the quotient of an exponential and the sum,
// which is a table, too, since a row has at most 256 different ones. Workers share the rows. Sums
// are exact, so the results equal those of the reference bit by bit. Limits: four tables for a
// vector of elements, 36 operations each without AVX-512 VBMI; for short rows the table of results.
#include <algorithm>
#include <cmath>
#include <cstdint>

#include "device/cpu/kernel/product/kept_problem.h"
#include "device/cpu/kernel_table.h"
#include "device/cpu/parallel.h"
#include "device/cpu/shared/grain.h"
#include "device/cpu/shared/zero_point.h"
#include "operator/onnx/qlinear_param.h"

#ifndef TENGINE_CPU_SOFTMAX_BYTES
#define TENGINE_CPU_SOFTMAX_BYTES
namespace tengine::cpu {

struct Int8Softmax
{
    uint32_t powers[256];   // exp of the distances to the largest element, in units of 2^-23
    uint8_t parts[3][256];  // bytes of the exponentials, the lowest first
    float reals[256];       // the exponentials
    int64_t n;
    uint8_t flip;  // makes input elements unsigned
    // The quantisation of the result.
    double output_scale;
    int output_zero, highest;
};

// The factor of a row's exponentials, and their place among the bytes of the result.
struct RowScale
{
    float factor;
    int zero_point, highest;
};

// Shorter rows have no table of results.
constexpr int64_t kLeastRow = 32;

// Not inline, since code for other instruction sets calls it. The sum is not 0.
float find_row_factor(double output_scale, uint64_t sum);

}  // namespace tengine::cpu
#endif

// clang-format off
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "device/cpu/kernel/norm/softmax_s8.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include "device/cpu/kernel/product/table_s8-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tengine::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

constexpr int64_t kMostLanes = HWY_MAX_BYTES / sizeof(float);

// Stores the quotients of the exponentials, some vectors of them, as bytes.
HWY_INLINE void share_powers(const RowScale& scale, const float* powers, int64_t count, uint8_t* to)
{
    const hn::ScalableTag<float> d;
    const hn::RebindToSigned<decltype(d)> integers;
    const hn::Rebind<uint8_t, decltype(d)> bytes;
    const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
    const auto factor = hn::Set(d, scale.factor);
    const auto zero_point = hn::Set(integers, scale.zero_point);
    const auto highest = hn::Set(integers, scale.highest);
    for (int64_t i = 0; i < count; i += lanes) {
        const auto real = hn::Min(hn::Mul(hn::LoadU(d, powers + i), factor), hn::Set(d, 256.0f));
        const auto byte = hn::Min(hn::Add(hn::NearestInt(real), zero_point), highest);
        hn::StoreU(hn::TruncateTo(bytes, hn::BitCast(hn::RebindToUnsigned<decltype(d)>(), byte)),
                   bytes, to + i);
    }
}

uint8_t find_largest(const Int8Softmax& softmax, const uint8_t* x)
{
    int64_t i = 0;
    uint8_t largest = 0;
#if HWY_TARGET != HWY_SCALAR
    const hn::ScalableTag<uint8_t> d;
    const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
    const auto flip = hn::Set(d, softmax.flip);
    auto most = hn::Zero(d);
    for (; i + lanes <= softmax.n; i += lanes)
        most = hn::Max(most, hn::Xor(hn::LoadU(d, x + i), flip));
    HWY_ALIGN uint8_t all[HWY_MAX_BYTES];
    hn::Store(most, d, all);
    for (int64_t k = 0; k < lanes; ++k)
        largest = std::max(largest, all[k]);
#endif
    for (; i < softmax.n; ++i)
        largest = std::max(largest, static_cast<uint8_t>(x[i] ^ softmax.flip));
    return largest;
}

// The sum of a row's exponentials; the distances are those of its elements to `top`.
uint64_t sum_powers(const Int8Softmax& softmax, const uint8_t* x, uint8_t top)
{
    int64_t i = 0;
    uint64_t sum = 0;
#if HWY_TARGET != HWY_SCALAR
    const hn::ScalableTag<uint8_t> d;
    const hn::Repartition<uint64_t, decltype(d)> words;
    const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
    const Int8Table low(softmax.parts[0]), middle(softmax.parts[1]), high(softmax.parts[2]);
    auto lows = hn::Zero(words), middles = lows, highs = lows;
    for (; i + lanes <= softmax.n; i += lanes) {
        const auto distance = hn::Sub(hn::Set(d, top), hn::LoadU(d, x + i));
        lows = hn::Add(lows, hn::SumsOf8(low(d, distance)));
        middles = hn::Add(middles, hn::SumsOf8(middle(d, distance)));
        highs = hn::Add(highs, hn::SumsOf8(high(d, distance)));
    }
    const auto all = hn::Add(hn::Add(lows, hn::ShiftLeft<8>(middles)), hn::ShiftLeft<16>(highs));
    HWY_ALIGN uint64_t parts[HWY_MAX_BYTES / sizeof(uint64_t)];
    hn::Store(all, words, parts);
    for (size_t k = 0; k < hn::Lanes(words); ++k)
        sum += parts[k];
#endif
    for (; i < softmax.n; ++i)
        sum += softmax.powers[static_cast<uint8_t>(top - x[i])];
    return sum;
}

void share_short_row(const Int8Softmax& softmax, const RowScale& scale, const uint8_t* x,
                     uint8_t top, uint8_t* y)
{
    HWY_ALIGN float powers[kLeastRow + kMostLanes] = {};
    HWY_ALIGN uint8_t all[kLeastRow + kMostLanes];
    for (int64_t i = 0; i < softmax.n; ++i)
        powers[i] = softmax.reals[static_cast<uint8_t>(top - x[i])];
    share_powers(scale, powers, softmax.n, all);
    std::copy_n(all, softmax.n, y);
}

void share_row(const Int8Softmax& softmax, const uint8_t* x, uint8_t* y)
{
    const auto top = static_cast<uint8_t>(find_largest(softmax, x) ^ softmax.flip);
    const RowScale scale = {find_row_factor(softmax.output_scale, sum_powers(softmax, x, top)),
                            softmax.output_zero, softmax.highest};
    if (softmax.n < kLeastRow) return share_short_row(softmax, scale, x, top, y);
    HWY_ALIGN uint8_t table[256];
    share_powers(scale, softmax.reals, 256, table);
    int64_t i = 0;
#if HWY_TARGET != HWY_SCALAR
    const hn::ScalableTag<uint8_t> d;
    const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
    const Int8Table shares(table);
    for (; i + lanes <= softmax.n; i += lanes)
        hn::StoreU(shares(d, hn::Sub(hn::Set(d, top), hn::LoadU(d, x + i))), d, y + i);
#endif
    for (; i < softmax.n; ++i)
        y[i] = table[static_cast<uint8_t>(top - x[i])];
}

}  // namespace tengine::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tengine::cpu {
namespace {

HWY_EXPORT(share_row);

int prepare(KernelContext& context)
{
    const tensor& x = *context.input(0);
    Int8Softmax softmax = {};
    softmax.n = x.dims[x.dim_num - 1];
    softmax.flip = x.data_type == TENGINE_DT_INT8 ? 0x80 : 0;
    softmax.output_scale = context.input(3)->f32[0];
    softmax.output_zero = read_zero_point(context.input(4), 0);
    softmax.highest = context.output(0)->data_type == TENGINE_DT_INT8 ? INT8_MAX : UINT8_MAX;
    const double scale = context.input(1)->f32[0];
    for (int i = 0; i < 256; ++i) {
        softmax.powers[i] = static_cast<uint32_t>(std::lrint(std::ldexp(std::exp(-scale * i), 23)));
        softmax.reals[i] = static_cast<float>(softmax.powers[i]);
        for (int part = 0; part < 3; ++part)
            softmax.parts[part][i] = static_cast<uint8_t>(softmax.powers[i] >> (8 * part));
    }
    return keep_problem(context, softmax);
}

int run(KernelContext& context)
{
    const auto& softmax = kept_problem<Int8Softmax>(context);
    const uint8_t* x = context.input(0)->u8;
    uint8_t* y = context.output(0)->u8;
    const auto compute = HWY_DYNAMIC_DISPATCH(share_row);
    const int64_t n = softmax.n;
    parallel_for(context.pool, context.input(0)->elem_num / n, grain_for(n),
                 [=, &softmax](int64_t begin, int64_t end, int) {
                     for (int64_t row = begin; row < end; ++row)
                         compute(softmax, x + row * n, y + row * n);
                 });
    return TENGINE_OK;
}

bool accepts(const node& node)
{
    const tensor& x = *get_ir_node_input(&node, 0);
    const auto is_known = [&](int index) {
        const tensor* number = get_ir_node_input(&node, index);
        return !number || (number->tensor_type == TENSOR_TYPE_CONST && number->data);
    };
    const int axis = static_cast<const qlinear_softmax_param*>(node.op.param_mem)->axis;
    return x.dim_num > 0 && x.elem_num > 0 && (axis == -1 || axis == x.dim_num - 1) &&
           is_known(1) && is_known(3) && is_known(4);
}

constexpr Kernel softmax_s8_rows[] = {
    {.op = "com.microsoft.QLinearSoftmax",
     .name = "softmax.s8.table",
     .accepts = accepts,
     .run = run,
     .prepare = prepare,
     .in_place_input = 0},
};

}  // namespace

// An exponential that is not 0 times the largest factor exceeds the range of the type, too.
float find_row_factor(double output_scale, uint64_t sum)
{
    constexpr double kLargest = 0x1p100;
    const double factor = 1 / (static_cast<double>(sum) * output_scale);
    return static_cast<float>(factor < kLargest ? factor : kLargest);
}

extern const KernelTable softmax_s8_kernels;
const KernelTable softmax_s8_kernels = make_table<softmax_s8_rows>();

}  // namespace tengine::cpu
#endif  // HWY_ONCE
