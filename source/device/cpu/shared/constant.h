// SPDX-License-Identifier: Apache-2.0
// Inputs whose values kernels may pack before the run.
#pragma once

#include "tengine/ir.h"

namespace tengine::cpu {

// A constant, or absent.
inline bool is_constant(const tensor* tensor)
{
    return !tensor || tensor->tensor_type == TENSOR_TYPE_CONST;
}

}  // namespace tengine::cpu
