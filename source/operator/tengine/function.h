// SPDX-License-Identifier: Apache-2.0
// The common part of Tengine's operators of one operand.
#pragma once

#include "operator/tengine/emit.h"

TENGINE_EXTERN_C_BEGIN

// Lowering: appends an ONNX operator by its name, or "Square" or "Rsqrt", which ONNX does not have.
struct tensor* emit_tm_function(emitter_t* emit, const char* function, struct tensor* input);

// Raising: Tengine's Unary of a type.
#define TM_UNARY_NEG 1
#define TM_UNARY_SQRT 5
struct tensor* emit_tm_unary(emitter_t* emit, int type, struct tensor* input);

TENGINE_EXTERN_C_END
