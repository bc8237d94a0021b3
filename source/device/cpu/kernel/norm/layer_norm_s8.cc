// SPDX-License-Identifier: Apache-2.0
// tengine.QLinearLayerNormalization with constant scales: the sums of a row in integers, then two
// products and two roundings for each element. Scale and bias are in the units of the result.
// Workers share the rows. All operations are exact or rounded as in the reference, so the results
// are identical. Limits: some twenty operations for a vector of int32; rows shorter than a vector.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "device/cpu/kernel/product/kept_problem.h"
#include "device/cpu/kernel/vector/fixed_vectors.h"
#include "device/cpu/kernel_table.h"
#include "device/cpu/parallel.h"
#include "device/cpu/shared/grain.h"
#include "device/cpu/shared/zero_point.h"
#include "operator/onnx/norm_param.h"

#ifndef TENGINE_CPU_LAYER_NORM_BYTES
#define TENGINE_CPU_LAYER_NORM_BYTES
namespace tengine::cpu {

// Results in units of 2^-8, within 2^21 of 0 before the bias is added.
constexpr float kRowUnit = 256;
constexpr float kRowLimit = 2097152;

// The parameters of a node, without scale and bias.
struct NormForm
{
    double x_scale, epsilon;
    int64_t n;
    int x_zero, y_zero;
    int lowest;  // of the result's type
};

// For one element after the other. Not inline, since code for other instruction sets calls them.
struct GroupSums
{
    int64_t sum, squares;
};
GroupSums sum_int8_exactly(const uint8_t* x, int64_t count, uint8_t flip);
float find_norm_factor(const NormForm& form, int64_t sum, int64_t squares);

// A float to which this is added has integers below 2^22 in its lowest bits.
constexpr float kNormRound = 3 << 22;
constexpr int32_t kNormRoundBits = 0x4b400000;

// The parameters of a row, padded to whole vectors.
struct Int8NormRow
{
    const float* scale;
    const int32_t* bias;
    uint8_t flip;         // makes input elements unsigned
    uint8_t result_flip;  // makes the result's type of unsigned elements
    int zero;             // of the input, made unsigned
};

}  // namespace tengine::cpu
#endif

// clang-format off
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "device/cpu/kernel/norm/layer_norm_s8.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace tengine::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Words = hn::ScalableTag<int32_t>;
using WordVector = hn::Vec<Words>;
using Reals = hn::Repartition<float, Words>;
using WordBytes = hn::Rebind<uint8_t, Words>;

constexpr int64_t kMostLanes = HWY_MAX_BYTES / sizeof(int32_t);
// The sums of unsigned elements. Squares of the longest row fit four lanes.
#if HWY_TARGET == HWY_SCALAR
HWY_INLINE GroupSums sum_bytes(const uint8_t* x, int64_t count, uint8_t flip)
{
    return sum_int8_exactly(x, count, flip);
}
#else
HWY_INLINE GroupSums sum_bytes(const uint8_t* x, int64_t count, uint8_t flip)
{
    const hn::Repartition<int16_t, Words> pairs;
    const hn::Rebind<uint8_t, decltype(pairs)> d;
    const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
    WordVector sum = hn::Zero(Words()), squares = sum, more_sum = sum, more_squares = sum;
    int64_t i = 0;
    for (; i + lanes <= count; i += lanes) {
        const auto each = hn::PromoteTo(pairs, hn::Xor(hn::LoadU(d, x + i), hn::Set(d, flip)));
        sum = hn::ReorderWidenMulAccumulate(Words(), each, hn::Set(pairs, 1), sum, more_sum);
        squares = hn::ReorderWidenMulAccumulate(Words(), each, each, squares, more_squares);
    }
    HWY_ALIGN int32_t parts[2][kMostLanes];
    hn::Store(hn::Add(sum, more_sum), Words(), parts[0]);
    hn::Store(hn::Add(squares, more_squares), Words(), parts[1]);
    GroupSums sums = sum_int8_exactly(x + i, count - i, flip);
    for (size_t k = 0; k < hn::Lanes(Words()); ++k) {
        sums.sum += parts[0][k];
        sums.squares += parts[1][k];
    }
    return sums;
}
#endif

// n c - sum c is below 2^24, so a float represents it. Adding a float whose lowest bit is 1 rounds
// values below 2^22; a bound before it keeps compilers from fusing a product and this sum.
struct NormStep
{
    hn::Vec<Reals> number, sum, factor, limit, round;
    WordVector zero_point;

    HWY_INLINE NormStep(const NormForm& form, int64_t row_sum, float row_factor)
        : number(hn::Set(Reals(), static_cast<float>(form.n))),
          sum(hn::Set(Reals(), static_cast<float>(row_sum))),
          factor(hn::Set(Reals(), row_factor)),
          limit(hn::Set(Reals(), kRowLimit)),
          round(hn::Set(Reals(), kNormRound)),
          zero_point(hn::Set(Words(), form.y_zero - form.lowest - kNormRoundBits))
    {
    }

    // An unsigned element. The bits of the float are subtracted from the bias.
    HWY_INLINE hn::Vec<WordBytes> operator()(WordVector byte, hn::Vec<Reals> scale,
                                             WordVector bias) const
    {
        const Reals d;
        const auto distance = hn::Sub(hn::Mul(hn::ConvertTo(d, byte), number), sum);
        const auto real = hn::Mul(hn::Mul(distance, factor), scale);
        const auto bound = hn::Min(hn::Max(real, hn::Neg(limit)), limit);
        const WordVector value = hn::Add(hn::BitCast(Words(), hn::Add(bound, round)), bias);
        // The product is exact.
        const auto steps = hn::MulAdd(hn::ConvertTo(d, value), hn::Set(d, 1 / kRowUnit), round);
        return hn::DemoteTo(WordBytes(), hn::Add(hn::BitCast(Words(), steps), zero_point));
    }
};

// Elements are made unsigned; the sum of centred ones is that of these less n zero points: the zero
// point cancels in n c - sum c.
void normalize_row(const NormForm& form, const Int8NormRow& row, const uint8_t* x, uint8_t* y)
{
    const WordBytes d;
    const int64_t lanes = static_cast<int64_t>(hn::Lanes(d)), n = form.n;
    const GroupSums sums = sum_bytes(x, n, row.flip);
    const int64_t zero = row.zero, centred = sums.sum - n * zero;
    const int64_t squares = sums.squares - 2 * zero * sums.sum + n * zero * zero;
    const NormStep step(form, sums.sum, find_norm_factor(form, centred, squares));
    const float* scales = row.scale;
    const int32_t* biases = row.bias;
    const auto in = hn::Set(d, row.flip), out = hn::Set(d, row.result_flip);
    const auto compute = [&](const uint8_t* from, int64_t i) HWY_ATTR {
        const WordVector bytes = hn::PromoteTo(Words(), hn::Xor(hn::LoadU(d, from), in));
        return hn::Xor(step(bytes, hn::LoadU(Reals(), scales + i), hn::LoadU(Words(), biases + i)),
                       out);
    };
    int64_t i = 0;
    for (; i + lanes <= n; i += lanes)
        hn::StoreU(compute(x + i, i), d, y + i);
    const size_t left = static_cast<size_t>(n) % hn::Lanes(d);
    if (left == 0) return;
    HWY_ALIGN uint8_t rest[kMostLanes] = {};
    std::memcpy(rest, x + i, left);
    hn::Store(compute(rest, i), d, rest);
    std::memcpy(y + i, rest, left);
}

}  // namespace tengine::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tengine::cpu {

GroupSums sum_int8_exactly(const uint8_t* x, int64_t count, uint8_t flip)
{
    GroupSums sums = {0, 0};
    for (int64_t i = 0; i < count; ++i) {
        const int64_t byte = x[i] ^ flip;
        sums.sum += byte;
        sums.squares += byte * byte;
    }
    return sums;
}

// The scale of x by n times the deviation, which is 0 in a row of one value without an epsilon.
float find_norm_factor(const NormForm& form, int64_t sum, int64_t squares)
{
    const auto n = static_cast<double>(form.n);
    const auto deviation = static_cast<double>(form.n * squares - sum * sum);
    const double variance = deviation * form.x_scale * form.x_scale / (n * n) + form.epsilon;
    if (!(variance > 0)) return 0;
    return static_cast<float>(form.x_scale / (n * std::sqrt(variance)));
}

namespace {

NormForm describe_norm(const KernelContext& context)
{
    const auto& param = context.param<layer_norm_param>();
    const tensor& x = *context.input(0);
    NormForm form;
    form.x_scale = context.input(1)->f32[0];
    form.epsilon = param.epsilon;
    form.n = multiply_dims(&x, param.axis < 0 ? param.axis + x.dim_num : param.axis, x.dim_num);
    form.x_zero = read_zero_point(context.input(2), 0);
    form.y_zero = read_zero_point(context.input(5), 0);
    form.lowest = context.output(0)->data_type == TENGINE_DT_INT8 ? INT8_MIN : 0;
    return form;
}

// A scale or bias in the result's units, limited so that all products with it are finite.
float scale_number(float number, float y_scale)
{
    constexpr float kMost = 0x1p100f;
    const float scaled = number * kRowUnit / y_scale;
    if (scaled != scaled) return 0;
    return std::min(std::max(scaled, -kMost), kMost);
}

int32_t round_number(float number)
{
    return static_cast<int32_t>(std::lrintf(std::min(std::max(number, -kRowLimit), kRowLimit)));
}

HWY_EXPORT(normalize_row);

// A vector has at most 64 elements of 32 bits.
constexpr int64_t kPadding = 64;

// After the problem, which is the length of a row: scales and biases.
struct KeptNorm
{
    int64_t padded;
};

Int8NormRow find_row(const KernelContext& context, const NormForm& form)
{
    const bool is_signed = context.input(0)->data_type == TENGINE_DT_INT8;
    const char* kept = packed_weights<KeptNorm>(context);
    const int64_t padded = kept_problem<KeptNorm>(context).padded;
    return {reinterpret_cast<const float*>(kept), reinterpret_cast<const int32_t*>(kept) + padded,
            static_cast<uint8_t>(is_signed ? 0x80 : 0), static_cast<uint8_t>(form.lowest),
            form.x_zero + (is_signed ? 128 : 0)};
}

int prepare(KernelContext& context)
{
    const int64_t n = describe_norm(context).n, padded = (n + kPadding - 1) / kPadding * kPadding;
    const float y_scale = context.input(4)->f32[0];
    const tensor* bias = context.input(6);
    TENGINE_RETURN_IF_ERROR(keep_problem(context, KeptNorm{padded},
                                         static_cast<uint64_t>(padded) * 2 * sizeof(int32_t)));
    auto* scales = reinterpret_cast<float*>(packed_weights<KeptNorm>(context));
    auto* biases = reinterpret_cast<int32_t*>(scales + padded);
    for (int64_t i = 0; i < padded; ++i) {
        scales[i] = i < n ? scale_number(context.input(3)->f32[i], y_scale) : 0;
        biases[i] = (i < n && bias ? round_number(scale_number(bias->f32[i], y_scale)) : 0) -
                    kNormRoundBits;
    }
    return TENGINE_OK;
}

int run(KernelContext& context)
{
    const NormForm form = describe_norm(context);
    const Int8NormRow row = find_row(context, form);
    const uint8_t* x = context.input(0)->u8;
    uint8_t* y = context.output(0)->u8;
    const auto compute = HWY_DYNAMIC_DISPATCH(normalize_row);
    parallel_for(context.pool, context.input(0)->elem_num / form.n, grain_for(2 * form.n),
                 [&](int64_t begin, int64_t end, int) {
                     for (int64_t i = begin; i < end; ++i)
                         compute(form, row, x + i * form.n, y + i * form.n);
                 });
    return TENGINE_OK;
}

bool accepts(const node& node)
{
    for (int i = 1; i < node.input_num; ++i) {
        const tensor* input = get_ir_node_input(&node, i);
        if (input && (input->tensor_type != TENSOR_TYPE_CONST || !input->data)) return false;
    }
    return get_ir_node_input(&node, 0)->elem_num > 0;
}

constexpr Kernel layer_norm_s8_rows[] = {
    {.op = "tengine.QLinearLayerNormalization",
     .name = "layer_norm.s8.vector",
     .accepts = accepts,
     .run = run,
     .prepare = prepare,
     .in_place_input = 0},
};

}  // namespace

extern const KernelTable layer_norm_s8_kernels;
const KernelTable layer_norm_s8_kernels = make_table<layer_norm_s8_rows>();

}  // namespace tengine::cpu
#endif  // HWY_ONCE
