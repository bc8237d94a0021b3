// SPDX-License-Identifier: Apache-2.0
// Runs a plan: its steps in order.
#include <algorithm>

#include "base/clock.h"
#include "device/cpu/parallel.h"
#include "device/cpu/plan/plan.h"
#include "graph/core.h"

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

int Plan::run()
{
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
    if (!times_.empty()) return run_profiled(begin, end);
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

int Plan::run_profiled(size_t begin, size_t end)
{
    uint64_t start = get_time_ns();
    for (size_t i = begin; i < end; ++i) {
        TENGINE_RETURN_IF_ERROR(run_step(steps_[i]));
        const uint64_t now = get_time_ns();
        times_[static_cast<size_t>(steps_[i].position)] += static_cast<int64_t>(now - start);
        start = now;
    }
    return TENGINE_OK;
}

}  // namespace tengine::cpu
