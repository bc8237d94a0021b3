// SPDX-License-Identifier: Apache-2.0
// Ends the runs of a graph at their deadline (option run.deadline_ms): a thread that sleeps until
// the next one. graph/run_state.h has the runs.
#pragma once

#include "tengine/ir.h"

TENGINE_EXTERN_C_BEGIN

typedef struct deadline ir_deadline_t;

// Starts the thread for the runs of `source`. TENGINE_ENOMEM: it could not be started.
int create_ir_deadline(struct graph* source, ir_deadline_t** out_deadline);

// Ends the thread. NULL is allowed.
void destroy_ir_deadline(ir_deadline_t* deadline);

// A run that has a deadline has begun. NULL is allowed.
void note_ir_deadline(ir_deadline_t* deadline);

TENGINE_EXTERN_C_END
