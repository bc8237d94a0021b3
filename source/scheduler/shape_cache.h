// SPDX-License-Identifier: Apache-2.0
// The preparations that a source graph keeps beside the present one, for input shapes that occur
// again (option run.shape_cache). All have the same terms and differ only in these shapes.
#pragma once

#include <sys/types.h>

#include "tengine/device.h"

TENGINE_EXTERN_C_BEGIN

// The things that a preparation depends on beside the shapes of the inputs.
typedef struct terms
{
    ir_run_options_t options;
    struct scheduler* scheduler;
    const struct context* context;
    uint64_t context_revision;
    uint64_t graph_revision;
    uint64_t custom_op_revision;
    uint64_t constants;  // a hash of those that the program may write to without a call
    pid_t process;       // whose threads it runs on
} ir_terms_t;

// The terms of a preparation that begins now. Fails as choose_ir_scheduler().
int read_ir_terms(const struct graph* source, const ir_run_options_t* options,
                  ir_terms_t* out_terms);

// Before a preparation on these terms: the present one is kept, or ends if it cannot be used again.
// Those with other terms end. Fails as their devices do; then nothing is kept.
int leave_ir_execution(struct graph* source, const ir_terms_t* terms);

// Whether the graph is prepared for the shapes that its inputs have now.
bool is_ir_execution_current(const struct graph* source);

// Makes the kept preparation for the present shapes of the inputs the present one, as if it had not
// run yet. False when there is none.
bool resume_ir_execution(struct graph* source);

// Before a new preparation: drops kept ones down to the number that the context allows, the least
// recently used first.
int limit_ir_executions(struct graph* source);

// During a new preparation: the execution graph that has ended, whose objects devices may use again
// (spare_part.h), or NULL. It is destroyed when the new one is complete.
struct graph* get_ir_spare(const struct graph* source);
void drop_ir_spare(struct graph* source);

// The present preparation and all that are kept end; no run is in flight. Reports the first failure
// of a device.
int close_ir_executions(struct graph* source);
// The same, except for the present one. *out_num: how many there were.
int drop_ir_kept_executions(struct graph* source, int* out_num);

// The execution graphs of a source graph: 0 is the present one; NULL after the last. While none is
// present, none is kept.
struct graph* get_ir_execution(const struct graph* source, int index);

TENGINE_EXTERN_C_END
