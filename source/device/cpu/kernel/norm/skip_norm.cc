// SPDX-License-Identifier: Apache-2.0
// SkipLayerNormalization and SkipSimplifiedLayerNormalization in fp32: the sums of a row are stored
// in the fourth output, or in the result's memory; then they are normalised as in layer_norm.cc and
// rms_norm.cc. A row stays in L1 for all passes. Workers share the rows. Limits: memory bandwidth.
// Accuracy: the sums equal the reference's bit by bit; for the rest see layer_norm.cc, rms_norm.cc.
#include <cstdint>

#include "device/cpu/kernel/norm/row_norm.h"
#include "device/cpu/kernel/vector/fixed_vectors.h"
#include "device/cpu/kernel_table.h"
#include "device/cpu/parallel.h"
#include "device/cpu/shared/grain.h"
#include "operator/onnx/skip_norm_param.h"

// clang-format off
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "device/cpu/kernel/norm/skip_norm.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include "device/cpu/kernel/norm/normalize-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tengine::cpu::HWY_NAMESPACE {

// input + skip + bias. `bias` may be null, and `sum` may be the input.
void add_rows(const float* input, const float* skip, const float* bias, int64_t n, float* sum)
{
    const int64_t lanes = static_cast<int64_t>(hn::Lanes(Floats()));
    for (int64_t i = 0; i < n; i += lanes) {
        const Vector pair = hn::Add(load_lanes(input + i, n - i), load_lanes(skip + i, n - i));
        store_lanes(bias ? hn::Add(pair, load_lanes(bias + i, n - i)) : pair, sum + i, n - i);
    }
}

RowStatistics normalize_sum(const float* x, int64_t n, float epsilon, const float* scale,
                            const float* bias, float* y)
{
    return normalize_by_variance(x, n, epsilon, scale, bias, y);
}

RowStatistics normalize_sum_squares(const float* x, int64_t n, float epsilon, const float* scale,
                                    const float* bias, float* y)
{
    return normalize_by_squares(x, n, epsilon, scale, bias, y);
}

}  // namespace tengine::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tengine::cpu {
namespace {

HWY_EXPORT(add_rows);
HWY_EXPORT(normalize_sum);
HWY_EXPORT(normalize_sum_squares);

const float* floats_of(const tensor* values)
{
    return values ? values->f32 : nullptr;
}

float* floats_to(const tensor* values)
{
    return values ? values->f32 : nullptr;
}

template <bool kSimplified>
int run(KernelContext& context)
{
    const tensor* input = context.input(SKIP_NORM_INPUT);
    const int64_t n = input->dims[input->dim_num - 1];
    const int64_t skip_num = context.input(SKIP_NORM_SKIP)->elem_num;
    const float epsilon = context.param<skip_norm_param>().epsilon;
    const float* x = input->f32;
    const float* skip = context.input(SKIP_NORM_SKIP)->f32;
    const float* gamma = context.input(SKIP_NORM_GAMMA)->f32;
    const float* beta = kSimplified ? nullptr : floats_of(context.input(SKIP_NORM_BETA));
    const float* bias =
        floats_of(context.input(kSimplified ? SKIP_NORM_SIMPLIFIED_BIAS : SKIP_NORM_BIAS));
    float* y = context.output(SKIP_NORM_RESULT)->f32;
    float* means = floats_to(context.output(SKIP_NORM_MEAN));
    float* inverses = floats_to(context.output(SKIP_NORM_INVERSE));
    float* sums = floats_to(context.output(SKIP_NORM_SUM));
    const auto add = HWY_DYNAMIC_DISPATCH(add_rows);
    const auto normalize = kSimplified ? HWY_DYNAMIC_DISPATCH(normalize_sum_squares)
                                       : HWY_DYNAMIC_DISPATCH(normalize_sum);
    const auto normalize_rows = [=](int64_t begin, int64_t end, int) {
        for (int64_t row = begin; row < end; ++row) {
            const int64_t first = row * n;
            float* sum = (sums ? sums : y) + first;
            add(x + first, skip + first % skip_num, bias, n, sum);
            const RowStatistics statistics = normalize(sum, n, epsilon, gamma, beta, y + first);
            if (means) means[row] = statistics.mean;
            if (inverses) inverses[row] = statistics.inverse;
        }
    };
    parallel_for(context.pool, input->elem_num / n, grain_for(n), normalize_rows);
    return TENGINE_OK;
}

bool accepts(const node& node)
{
    const tensor& input = *get_ir_node_input(&node, SKIP_NORM_INPUT);
    return input.data_type == TENGINE_DT_FP32 && input.elem_num > 0;
}

constexpr Kernel skip_norm_rows[] = {
    {.op = "com.microsoft.SkipLayerNormalization",
     .name = "skip_norm.f32.vector",
     .accepts = accepts,
     .run = run<false>,
     .in_place_input = 0},
    {.op = "com.microsoft.SkipSimplifiedLayerNormalization",
     .name = "skip_norm.f32.vector",
     .accepts = accepts,
     .run = run<true>,
     .in_place_input = 0},
};

}  // namespace

extern const KernelTable skip_norm_kernels;
const KernelTable skip_norm_kernels = make_table<skip_norm_rows>();

}  // namespace tengine::cpu
#endif  // HWY_ONCE
