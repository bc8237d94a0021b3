// SPDX-License-Identifier: Apache-2.0
// Shapes that depend on values (operator.h, value_shape): whether a preparation has the shapes that
// the values of a run require.
#pragma once

#include <stdbool.h>

#include "tengine/ir.h"

TENGINE_EXTERN_C_BEGIN

// Whether the values that the inputs of `source` have now would give the shapes that its
// `execution` has.
bool has_ir_value_shapes(const struct graph* execution, const struct graph* source);

// Whether the preparation has assumed shapes that depend on values of a run, for nodes without an
// output in a buffer of the program's, so that these may be the reason why the run failed with
// `status`.
bool has_ir_assumed_shapes(const struct graph* source, int status);

TENGINE_EXTERN_C_END
