// SPDX-License-Identifier: Apache-2.0
// Checks that the integer operators share: QLinearConv, QLinearMatMul (ONNX) and those of
// com.microsoft. Their inputs come in groups of three: a tensor of int8 or uint8, its scale, its
// zero point. tengine/fixed_point.h has their accumulators and requantisation.
#pragma once

#include <stdbool.h>

#include "operator/operator.h"

TENGINE_EXTERN_C_BEGIN

// Checks that inputs index, index + 1 and index + 2 are int8 or uint8, float32, and of the type of
// the first; the last may be absent, which means 0. Does not check shapes.
TENGINE_MUST_USE int require_quantized(const struct node* node, int index);

// Checks that scale `index` and the zero point after it, which may be absent, have one value or a
// list of `slices`; known values of the scale are finite and not negative.
TENGINE_MUST_USE int check_quantization(const struct node* node, int index, int slices);

// Checks that scale `index` and the zero point after it, which may be absent, are those of a
// result: one float32 value, positive if known, and one int8 or uint8.
TENGINE_MUST_USE int check_result_quantization(const struct node* node, int index);

// Checks that every known value of scale `index` (float32) is finite and not negative; nor 0 if it
// is a divisor.
TENGINE_MUST_USE int check_scale_values(const struct node* node, int index, bool divides);

// Lowers QLinearAdd and QLinearMul to `op` between DequantizeLinear and QuantizeLinear, for scales
// that integer kernels do not support (qlinear_float_ops.c).
TENGINE_MUST_USE int lower_binary_to_floats(struct graph* graph, struct node* node, const char* op);

// Returns the type of the result: that of the zero point at `index`, else of the tensor at input 0.
int result_type(const struct node* node, int index);

TENGINE_EXTERN_C_END
