// SPDX-License-Identifier: Apache-2.0
// The common part of the kernels that normalise rows, except for their vectors (normalize-inl.h).
#pragma once

#include <cstdint>

#include "device/cpu/kernel/vector/float_rows.h"
#include "device/cpu/kernel_context.h"
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

}  // namespace tengine::cpu
