// SPDX-License-Identifier: Apache-2.0
// Runs a plan: its steps in order.
#include <algorithm>

#include "base/clock.h"
#include "device/cpu/parallel.h"
#include "device/cpu/plan/plan.h"
#include "graph/core.h"
#include "tengine/trace.h"

namespace tengine::cpu {
namespace {

// A copy is necessary if its result has elements; the result of the node that it serves may not be
// known before that node runs.
bool has_results(const Step& step)
{
    return has_elements(*step.context.node) ||
           std::any_of(step.outputs.begin(), step.outputs.end(),
                       [](const tensor* output) { return output && output->elem_num > 0; });
}

}  // namespace

int run_kernel(Step& step)
{
    step.refresh_views();  // boundary tensors may have new addresses
    return has_results(step) ? step.kernel->run(step.context) : TENGINE_OK;
}

int Plan::run(const subgraph& part)
{
    use_arenas(part);
    const ParallelRun awake(pool_.get());
    // Nodes that others compute take no time.
    std::fill(times_.begin(), times_.end(), int64_t{0});
    size_t next = 0;
    for (const MicroBatches& batches : batches_) {
        TENGINE_RETURN_IF_ERROR(run_steps(next, batches.begin));
        MicroBatch batch(batches);
        for (int i = 0; i < batches.count; ++i) {
            batch.move_to(i);
            TENGINE_RETURN_IF_ERROR(run_steps(batches.begin, batches.end));
        }
        next = batches.end;
    }
    return run_steps(next, steps_.size());
}

int Plan::run_steps(size_t begin, size_t end)
{
    trace_track_t* track = get_trace_track();
    if (!times_.empty() || track) return run_timed(track, begin, end);
    for (size_t i = begin; i < end; ++i)
        TENGINE_RETURN_IF_ERROR(run_step(steps_[i]));
    return TENGINE_OK;
}

// A cancelled run may end between two steps.
int Plan::run_step(Step& step)
{
    TENGINE_RETURN_IF_ERROR(check_ir_run(step.context.node->graph->core->run));
    return step.dynamic ? run_dynamic(step) : run_kernel(step);
}

// With a profile, a trace, or both.
int Plan::run_timed(trace_track_t* track, size_t begin, size_t end)
{
    auto start = static_cast<int64_t>(get_time_ns());
    for (size_t i = begin; i < end; ++i) {
        Step& step = steps_[i];
        if (track) track->place.node = step.context.node->core->source_index;
        const int status = run_step(step);
        const auto now = static_cast<int64_t>(get_time_ns());
        add_trace_event(track, TENGINE_TRACE_STEP, step.kernel ? step.kernel->name : nullptr, start,
                        now, 0, status);
        TENGINE_RETURN_IF_ERROR(status);
        if (!times_.empty()) times_[static_cast<size_t>(step.position)] += now - start;
        start = now;
    }
    return TENGINE_OK;
}

}  // namespace tengine::cpu
