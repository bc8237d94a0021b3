// SPDX-License-Identifier: Apache-2.0
// Softmax of floats along the last axis in three passes over a row that stays in L1: the largest
// value, the exponentials and their sum, the division. Workers share the rows. fp16 and bf16 are
// computed in fp32 and rounded once. Limits: the exponential, a polynomial. Accuracy: within (n /
// (32 * lanes) + 32 + 8 + lanes) * eps of the exact value, relative, for rows of n; a lane begins a
// new sum after each 32 elements, so that small exponentials are not lost beside a large one.
#include <algorithm>
#include <cstdint>
#include <limits>

#include "device/cpu/kernel/vector/float_rows.h"
#include "device/cpu/kernel_table.h"
#include "device/cpu/parallel.h"
#include "device/cpu/shared/grain.h"
#include "operator/onnx/softmax_param.h"

// clang-format off
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "device/cpu/kernel/norm/softmax.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include "device/cpu/kernel/vector/function-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tengine::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Elements from `at` on; beyond the row, the neutral element of every function here.
template <class D>
HWY_INLINE hn::Vec<D> load_row(D d, const float* row, int64_t at, int64_t n)
{
    if (at + static_cast<int64_t>(hn::Lanes(d)) <= n) return hn::LoadU(d, row + at);
    HWY_ALIGN float rest[HWY_MAX_BYTES / sizeof(float)];
    hn::Store(hn::Set(d, -std::numeric_limits<float>::infinity()), d, rest);
    std::copy(row + at, row + n, rest);
    return hn::Load(d, rest);
}

template <class D>
HWY_INLINE void store_row(D d, hn::Vec<D> values, float* row, int64_t at, int64_t n)
{
    if (at + static_cast<int64_t>(hn::Lanes(d)) <= n) return hn::StoreU(values, d, row + at);
    HWY_ALIGN float rest[HWY_MAX_BYTES / sizeof(float)];
    hn::Store(values, d, rest);
    std::copy_n(rest, n - at, row + at);
}

constexpr int64_t kVectorsOfSum = 32;

void normalize_row(const float* input, int64_t n, float* output)
{
    const hn::ScalableTag<float> d;
    const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
    auto largest = hn::Set(d, -std::numeric_limits<float>::infinity());
    auto not_a_number = hn::Zero(d);  // NaN once a NaN was read
    for (int64_t i = 0; i < n; i += lanes) {
        const auto x = load_row(d, input, i, n);
        largest = hn::Max(largest, x);
        not_a_number = hn::IfThenElse(hn::IsNaN(x), x, not_a_number);
    }
    largest = hn::MaxOfLanes(d, largest);
    auto sum = hn::Zero(d);
    for (int64_t begin = 0; begin < n; begin += kVectorsOfSum * lanes) {
        auto partial = hn::Zero(d);
        const int64_t end = std::min(n, begin + kVectorsOfSum * lanes);
        for (int64_t i = begin; i < end; i += lanes) {
            const auto power = exp_of_negative(hn::Sub(load_row(d, input, i, n), largest));
            partial = hn::Add(partial, power);
            store_row(d, power, output, i, n);
        }
        sum = hn::Add(sum, partial);
    }
    // Infinities and NaN give NaN, as in the formula.
    const float whole = hn::GetLane(hn::SumOfLanes(d, sum)) +
                        hn::GetLane(hn::SumOfLanes(d, not_a_number)) +
                        (hn::GetLane(largest) - hn::GetLane(largest));
    const auto factor = hn::Set(d, 1.0f / whole);
    for (int64_t i = 0; i < n; i += lanes)
        store_row(d, hn::Mul(load_row(d, output, i, n), factor), output, i, n);
}

}  // namespace tengine::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tengine::cpu {
namespace {

HWY_EXPORT(normalize_row);

int64_t row_length(const KernelContext& context)
{
    const tensor& input = *context.input(0);
    return input.dims[input.dim_num - 1];
}

// The scratch of a worker has rows of fp32 values.
int prepare(KernelContext& context)
{
    if (has_float16(*context.input(0)))
        context.scratch_size = row_scratch(context, row_length(context));
    return TENGINE_OK;
}

void run_float16(KernelContext& context, int64_t n)
{
    const uint16_t* from = context.input(0)->f16;
    uint16_t* to = context.output(0)->f16;
    const FloatRows rows = find_float_rows(context.input(0)->data_type);
    const auto normalize = HWY_DYNAMIC_DISPATCH(normalize_row);
    parallel_for(context.pool, context.input(0)->elem_num / n, grain_for(16 * n),
                 [=, &context](int64_t begin, int64_t end, int worker) {
                     compute_rows(rows, from, n, begin, end, rows_of_worker(context, n, worker), to,
                                  [=](float* row) { normalize(row, n, row); });
                 });
}

int run(KernelContext& context)
{
    const int64_t n = row_length(context);
    if (has_float16(*context.input(0))) {
        run_float16(context, n);
        return TENGINE_OK;
    }
    const float* from = context.input(0)->f32;
    float* to = context.output(0)->f32;
    const auto normalize = HWY_DYNAMIC_DISPATCH(normalize_row);
    parallel_for(context.pool, context.input(0)->elem_num / n, grain_for(16 * n),
                 [=](int64_t begin, int64_t end, int) {
                     for (int64_t row = begin; row < end; ++row)
                         normalize(from + row * n, n, to + row * n);
                 });
    return TENGINE_OK;
}

bool accepts(const node& node)
{
    const tensor& input = *get_ir_node_input(&node, 0);
    const int axis = static_cast<const softmax_param*>(node.op.param_mem)->axis;
    return is_fast_float(input.data_type) && input.dim_num > 0 && input.elem_num > 0 &&
           (axis == -1 || axis == input.dim_num - 1);
}

constexpr Kernel softmax_rows[] = {
    {.op = "Softmax",
     .name = "softmax.fp.vector",
     .accepts = accepts,
     .run = run,
     .prepare = prepare,
     .in_place_input = 0},
};

}  // namespace

extern const KernelTable softmax_kernels;
const KernelTable softmax_kernels = make_table<softmax_rows>();

}  // namespace tengine::cpu
#endif  // HWY_ONCE
