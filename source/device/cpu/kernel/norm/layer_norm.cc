// SPDX-License-Identifier: Apache-2.0
// LayerNormalization of floats in three passes over a row that stays in L1: the mean, the mean of
// the squared deviations, the result. Workers share the rows. fp16 and bf16 are computed in fp32
// and rounded once. Limits: additions; memory bandwidth for rows beyond L1. Accuracy: see
// normalize-inl.h.
#include <cstdint>

#include "device/cpu/kernel/norm/row_norm.h"
#include "device/cpu/kernel/vector/fixed_vectors.h"
#include "device/cpu/kernel/vector/float_rows.h"
#include "device/cpu/kernel_table.h"
#include "device/cpu/parallel.h"
#include "device/cpu/shared/grain.h"
#include "operator/onnx/norm_param.h"

// clang-format off
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "device/cpu/kernel/norm/layer_norm.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include "device/cpu/kernel/norm/normalize-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tengine::cpu::HWY_NAMESPACE {

void normalize_layer(const float* x, int64_t n, float epsilon, const float* scale,
                     const float* bias, float* y)
{
    normalize_by_variance(x, n, epsilon, scale, bias, y);
}

}  // namespace tengine::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tengine::cpu {
namespace {

HWY_EXPORT(normalize_layer);

int prepare(KernelContext& context)
{
    context.scratch_size = half_row_scratch(context);
    return TENGINE_OK;
}

int run(KernelContext& context)
{
    const int64_t n = context.input(1)->elem_num;
    const float epsilon = context.param<layer_norm_param>().epsilon;
    const auto normalize = HWY_DYNAMIC_DISPATCH(normalize_layer);
    if (has_float16(*context.input(0))) {
        normalize_float16_rows(
            context, [=](float* row, int64_t count, const float* scale, const float* bias) {
                normalize(row, count, epsilon, scale, bias, row);
            });
        return TENGINE_OK;
    }
    const float* x = context.input(0)->f32;
    const float* scale = context.input(1)->f32;
    const float* bias = context.input(2) ? context.input(2)->f32 : nullptr;
    float* y = context.output(0)->f32;
    parallel_for(context.pool, context.input(0)->elem_num / n, grain_for(n),
                 [=](int64_t begin, int64_t end, int) {
                     for (int64_t row = begin; row < end; ++row)
                         normalize(x + row * n, n, epsilon, scale, bias, y + row * n);
                 });
    return TENGINE_OK;
}

bool accepts(const node& node)
{
    return has_whole_rows(node) && !get_ir_node_output(&node, 1) && !get_ir_node_output(&node, 2);
}

constexpr Kernel layer_norm_rows[] = {
    {.op = "LayerNormalization",
     .name = "layer_norm.fp.vector",
     .accepts = accepts,
     .run = run,
     .prepare = prepare,
     .in_place_input = 0},
};

}  // namespace

extern const KernelTable layer_norm_kernels;
const KernelTable layer_norm_kernels = make_table<layer_norm_rows>();

}  // namespace tengine::cpu
#endif  // HWY_ONCE
