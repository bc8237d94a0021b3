// SPDX-License-Identifier: Apache-2.0
// Shapes that values decide (operator.h, value_shape): whether a preparation has those that the
// values of a run ask for.
#pragma once

#include <stdbool.h>

#include "tengine/ir.h"

#ifdef __cplusplus
extern "C" {
#endif

// Whether the values that the inputs of `source` have now would give the shapes that its
// `execution` has.
bool has_ir_value_shapes(const struct graph* execution, const struct graph* source);

#ifdef __cplusplus
}
#endif
