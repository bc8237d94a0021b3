// SPDX-License-Identifier: Apache-2.0
// RMSNormalization of floats, also under its older name, in two passes over a row that stays in L1:
// the mean of the squares, then the result. Workers share the rows. fp16 and bf16 are computed in
// fp32 and rounded once. Limits: memory bandwidth.
// Accuracy: results are within 4 eps of themselves, plus half the error of the mean of the squares
// (normalize-inl.h), since the root halves it.
#include <cstdint>

#include "device/cpu/kernel/norm/row_norm.h"
#include "device/cpu/kernel/vector/fixed_vectors.h"
#include "device/cpu/kernel_table.h"
#include "device/cpu/parallel.h"
#include "device/cpu/shared/grain.h"

// clang-format off
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "device/cpu/kernel/norm/rms_norm.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include "device/cpu/kernel/norm/normalize-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tengine::cpu::HWY_NAMESPACE {

RowStatistics normalize_squares(const float* x, int64_t n, float epsilon, const float* scale,
                                float* y)
{
    return normalize_by_squares(x, n, epsilon, scale, nullptr, y);
}

}  // namespace tengine::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tengine::cpu {
namespace {

HWY_EXPORT(normalize_squares);

int prepare(KernelContext& context)
{
    context.scratch_size = half_row_scratch(context);
    return TENGINE_OK;
}

int run(KernelContext& context)
{
    const int64_t n = context.input(1)->elem_num;
    const float epsilon = context.param<layer_norm_param>().epsilon;
    const auto normalize = HWY_DYNAMIC_DISPATCH(normalize_squares);
    if (has_float16(*context.input(0))) {
        normalize_float16_rows(context,
                               [=](float* row, int64_t count, const float* scale, const float*) {
                                   normalize(row, count, epsilon, scale, row);
                               });
        return TENGINE_OK;
    }
    const float* x = context.input(0)->f32;
    const float* scale = context.input(1)->f32;
    float* y = context.output(0)->f32;
    float* inverses = context.output(1) ? context.output(1)->f32 : nullptr;
    parallel_for(context.pool, context.input(0)->elem_num / n, grain_for(n),
                 [=](int64_t begin, int64_t end, int) {
                     for (int64_t row = begin; row < end; ++row) {
                         const float inverse =
                             normalize(x + row * n, n, epsilon, scale, y + row * n).inverse;
                         if (inverses) inverses[row] = inverse;
                     }
                 });
    return TENGINE_OK;
}

bool accepts(const node& node)
{
    const tensor* inverses = get_ir_node_output(&node, 1);
    return has_whole_rows(node) &&
           (!inverses || (inverses->data_type == TENGINE_DT_FP32 &&
                          get_ir_node_input(&node, 0)->data_type == TENGINE_DT_FP32));
}

constexpr Kernel rms_norm_rows[] = {
    {.op = "RMSNormalization",
     .name = "rms_norm.fp.vector",
     .accepts = accepts,
     .run = run,
     .prepare = prepare,
     .in_place_input = 0},
    {.op = "SimplifiedLayerNormalization",
     .name = "rms_norm.fp.vector",
     .accepts = accepts,
     .run = run,
     .prepare = prepare,
     .in_place_input = 0},
};

}  // namespace

extern const KernelTable rms_norm_kernels;
const KernelTable rms_norm_kernels = make_table<rms_norm_rows>();

}  // namespace tengine::cpu
#endif  // HWY_ONCE
