// SPDX-License-Identifier: Apache-2.0
// The common part of the kernels that normalise rows, except for their vectors (normalize-inl.h).
#pragma once

#include <cstdint>

#include "device/cpu/kernel/vector/float_rows.h"
#include "device/cpu/kernel_context.h"
#include "device/cpu/parallel.h"
#include "device/cpu/shared/grain.h"
#include "operator/onnx/norm_param.h"

namespace tengine::cpu {

struct RowStatistics
{
    float mean;
    float inverse;  // 1 / sqrt(variance or mean of the squares + epsilon)
};

// For nodes with layer_norm_param: whether input 0 has a type that fast kernels compute in, and
// inputs 1 and 2, if present, have the same type and as many elements as the normalised axes, the
// last ones.
inline bool has_whole_rows(const node& node)
{
    const tensor& x = *get_ir_node_input(&node, 0);
    const int given = static_cast<const layer_norm_param*>(node.op.param_mem)->axis;
    const int axis = given < 0 ? given + x.dim_num : given;
    if (!is_fast_float(x.data_type) || x.elem_num == 0 || axis < 0 || axis >= x.dim_num)
        return false;
    const int64_t n = multiply_dims(&x, axis, x.dim_num);
    for (int i = 1; i <= 2; ++i) {
        const tensor* values = get_ir_node_input(&node, i);
        if (values && (values->data_type != x.data_type || values->elem_num != n ||
                       values->dim_num > x.dim_num - axis))
            return false;
    }
    return true;
}

// The scratch of normalize_float16_rows(): rows for each worker, then scale and bias, in fp32.
inline uint64_t half_row_scratch(const KernelContext& context)
{
    const int64_t n = context.input(1)->elem_num;
    return has_float16(*context.input(0))
               ? row_scratch(context, n) + 2 * static_cast<uint64_t>(n) * sizeof(float)
               : 0;
}

// normalize(row, n, scale, bias) in place, in fp32, for the rows of input 0, in fp16 or bf16; scale
// and bias, which may be null, are inputs 1 and 2.
template <class Normalize>
void normalize_float16_rows(const KernelContext& context, const Normalize& normalize)
{
    const int64_t n = context.input(1)->elem_num;
    const uint16_t* x = context.input(0)->f16;
    const FloatRows rows = find_float_rows(context.input(0)->data_type);
    float* scale = rows_of_worker(context, n, get_thread_pool_size(context.pool));
    float* bias = context.input(2) ? scale + n : nullptr;
    rows.widen(context.input(1)->f16, n, scale);
    if (bias) rows.widen(context.input(2)->f16, n, bias);
    uint16_t* y = context.output(0)->f16;
    parallel_for(context.pool, context.input(0)->elem_num / n, grain_for(n),
                 [=, &context, &normalize](int64_t begin, int64_t end, int worker) {
                     const auto normalize_row = [&](float* row) { normalize(row, n, scale, bias); };
                     compute_rows(rows, x, n, begin, end, rows_of_worker(context, n, worker), y,
                                  normalize_row);
                 });
}

}  // namespace tengine::cpu
