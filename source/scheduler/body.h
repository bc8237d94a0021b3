// SPDX-License-Identifier: Apache-2.0
// Bodies of nodes (graph/body.h) are graphs that are prepared and run inside another.
#pragma once

#include "graph/body.h"

TENGINE_EXTERN_C_BEGIN

// The bodies of an execution graph have these entries from here on, which stay the caller's. Those
// whose inputs have shapes are prepared; the others are prepared when they are run.
int prepare_ir_bodies(struct graph* execution, const ir_run_options_t* options,
                      const ir_body_entries_t* entries);

// Ends the preparations of the bodies.
int close_ir_bodies(struct graph* execution);

TENGINE_EXTERN_C_END
