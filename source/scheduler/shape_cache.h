// SPDX-License-Identifier: Apache-2.0
// The preparations that a source graph keeps beside the present one, for input shapes that occur
// again (option run.shape_cache). All have the same terms and differ only in these shapes.
#pragma once

#include <sys/types.h>

#include "base/minimal.h"
#include "scheduler/lane.h"
#include "tengine/device.h"

TENGINE_EXTERN_C_BEGIN

// The conditions that a preparation depends on beside the shapes of the inputs.
typedef struct terms
{
    ir_run_options_t options;
    struct scheduler* scheduler;
    const struct context* context;
    uint64_t context_revision;
    uint64_t graph_revision;
    uint64_t custom_op_revision;
    uint64_t constants;  // a hash of the constants that the program may write to without a call
    pid_t process;       // the process whose threads it runs on
} ir_terms_t;

// Reads the terms of a preparation that begins now. Fails as choose_ir_scheduler() does.
int read_ir_terms(const struct graph* source, const ir_run_options_t* options,
                  ir_terms_t* out_terms);

// Before a preparation under these terms: keeps the present one, or ends it if it cannot be used
// again. Ends those with other terms. Fails as their devices do; then none is kept.
int leave_ir_execution(struct graph* source, const ir_terms_t* terms);

// Prepares the source graph for another instance, which finds the packs of these preparations.
// ENOMEM.
TENGINE_MUST_USE int share_ir_executions(struct graph* source);

// The buckets of a graph that is prepared, see scheduler/bucket.h; NULL: there are none.
struct ir_buckets* find_ir_buckets(const struct graph* source);
static inline struct ir_buckets* get_ir_buckets(const struct graph* source)
{
    return IS_MINIMAL ? NULL : find_ir_buckets(source);
}

// The kept preparation for the present input shapes, which stays kept, or NULL.
struct graph* find_ir_kept_execution(const struct graph* source);

// Whether the graph is prepared for the shapes that its inputs have now.
bool is_ir_execution_current(const struct graph* source);

// Makes the kept preparation for the present input shapes the present one, in its state before the
// first run. False if there is none.
bool resume_ir_execution(struct graph* source);

// Before a new preparation: drops kept ones down to the number that the context allows, the least
// recently used first.
int limit_ir_executions(struct graph* source);

// During a new preparation: returns the execution graph that has ended, whose objects devices may
// use again (spare_part.h), or NULL. It is destroyed when the new one is complete.
struct graph* get_ir_spare(const struct graph* source);
void drop_ir_spare(struct graph* source);

// Ends the present preparation and all that are kept; no run is in flight. Reports the first
// failure of a device.
int close_ir_executions(struct graph* source);
// Ends all kept preparations except the present one. *out_num: how many there were.
int drop_ir_kept_executions(struct graph* source, int* out_num);

// Returns the lanes of a source graph's preparations, between the begin of the first one and
// close_ir_executions(); else NULL.
ir_lanes_t* get_ir_lanes(const struct graph* source);

// Returns an execution graph of a source graph: 0 is the present one; NULL after the last. If none
// is present, none is kept.
struct graph* get_ir_execution(const struct graph* source, int index);

TENGINE_EXTERN_C_END
