// SPDX-License-Identifier: Apache-2.0
// Bodies of nodes (graph/body.h) are graphs that are prepared and run inside another.
#pragma once

#include "graph/body.h"

TENGINE_EXTERN_C_BEGIN

// From now on the bodies of an execution graph use these entries, which stay the caller's. Bodies
// whose inputs have shapes are prepared; the others are prepared when they are run.
int prepare_ir_bodies(struct graph* execution, const ir_run_options_t* options,
                      const ir_body_entries_t* entries);

// Ends the preparation of the bodies.
int close_ir_bodies(struct graph* execution);

TENGINE_EXTERN_C_END
