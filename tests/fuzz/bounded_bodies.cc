// SPDX-License-Identifier: Apache-2.0
#include "fuzz/bounded_bodies.h"

#include <atomic>

#include "fuzz/model_run.h"
#include "graph/body.h"
#include "graph/graph.h"
#include "scheduler/scheduler.h"
#include "scheduler/shape_cache.h"
#include "support/run_cost.h"

namespace tengine::test {
namespace {

constexpr int kMostRuns = 100;

std::atomic<int> runs;

ir_body_entries_t bounded_entries;  // the scheduler's, except for run_body()

void bound(struct graph* source);

// Does the work of scheduler/body.c, and counts.
int run_body(struct graph* body, const ir_run_options_t* options)
{
    if (++runs > kMostRuns)
        return tengine_error_set(TENGINE_ELIMIT, "more than %d runs of bodies", kMostRuns);
    if (!is_ir_execution_current(body)) {
        const int64_t cost = measure_run(body);
        if (cost < 0) return tengine_error_code();
        if (cost > kLargestRun)
            return tengine_error_set(TENGINE_ELIMIT, "the body is too large to be run");
        TENGINE_RETURN_IF_ERROR(prerun_ir_graph(body, options));
    }
    bound(body);
    return run_ir_graph(body, 1);
}

void bound(struct graph* source)
{
    const struct graph& execution = *source->core->execution;
    for (int i = 0; i < execution.node_num; ++i) {
        ir_bodies_t* bodies = execution.node_list[i]->core->bodies;
        for (int k = 0; bodies && k < bodies->num; ++k) {
            ir_body_t& body = bodies->list[k];
            if (!body.entries || body.entries == &bounded_entries) continue;
            bounded_entries = *body.entries;
            bounded_entries.run = run_body;
            body.entries = &bounded_entries;
        }
    }
}

}  // namespace

void bound_bodies(struct graph* source)
{
    runs = 0;
    bound(source);
}

}  // namespace tengine::test
