// SPDX-License-Identifier: Apache-2.0
// Operators of other domains than Tengine's that become ONNX's only when shapes are known.
#pragma once

#include <stdbool.h>

#include "operator/operator.h"

TENGINE_EXTERN_C_BEGIN

// A trait beside those of op_trait_t: the row's lower() is called when the shapes of all inputs are
// known, and uses the functions of tengine/emit.h, as those of Tengine's rows do.
#define OP_SHAPED (1 << 16)
// Another: the operator computes with the real values of quantised tensors, as Tengine's do.
#define OP_READS_QUANTIZED (1 << 17)

// A third: lower() does not read the shapes of inputs, which may depend on data.
#define OP_ANY_SHAPE (1 << 18)

static inline bool is_lowered_by_shapes(const ir_method_t* method)
{
    return method->lower && (method->tengine || (method->traits & OP_SHAPED));
}

TENGINE_EXTERN_C_END
