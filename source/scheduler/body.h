// SPDX-License-Identifier: Apache-2.0
// Bodies of nodes (graph/body.h) are graphs that are prepared and run inside another.
#pragma once

#include "tengine/ir.h"

TENGINE_EXTERN_C_BEGIN

// The bodies of an execution graph can be run from here on. Those whose inputs have shapes are
// prepared, with `place` only placed; the others are prepared when they are run.
int prepare_ir_bodies(struct graph* execution, const ir_run_options_t* options, bool place);

// Ends the preparations of the bodies.
int close_ir_bodies(struct graph* execution);

TENGINE_EXTERN_C_END
