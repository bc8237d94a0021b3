// SPDX-License-Identifier: Apache-2.0
#include "scheduler/prepare.h"

#include "graph/graph.h"
#include "graph/preparation.h"
#include "optimizer/optimizer.h"
#include "scheduler/body.h"
#include "scheduler/failure.h"
#include "scheduler/lane.h"
#include "scheduler/part_memory.h"
#include "scheduler/runner.h"
#include "scheduler/session.h"

// Splits or moves a part that its device failed to compile; the failure has been recorded. A device
// that hangs is not asked again, since each half would take as long.
static int repair(struct graph* execution, int index, ir_blame_t blame)
{
    const struct subgraph* part = get_ir_graph_subgraph(execution, index);
    ir_failure_t failure;
    keep_ir_failure(&failure);
    if (part->node_num > 1 && blame != IR_BLAME_HANG) {
        TLOG_INFO("%s; trying again with halves of the part", failure.message);
        return halve_ir_subgraph(execution, index);
    }
    TLOG_INFO("%s; its nodes go to %s", failure.message, find_default_device()->name);
    return redirect_ir_subgraph(execution, index, IR_REASON_COMPILE, failure.message);
}

// Compiles the parts of all devices except the default device, which takes the parts that they fail
// to compile.
static int compile_for_devices(struct graph* execution)
{
    for (int i = 0; i < get_vector_num(execution->subgraph_list);) {
        TENGINE_RETURN_IF_ERROR(check_ir_cancelled(execution));
        struct subgraph* part = get_ir_graph_subgraph(execution, i);
        ir_blame_t blame = IR_BLAME_CORE;
        const bool is_default = part->device == find_default_device();
        const int status = is_default ? TENGINE_OK : open_ir_runner(part, &blame);
        if (status == TENGINE_OK)
            ++i;
        else if (blame != IR_BLAME_CORE)
            TENGINE_RETURN_IF_ERROR(repair(execution, i, blame));
        else
            return status;
    }
    return join_ir_default_subgraphs(execution);
}

static int claim_part(struct graph* execution, const struct subgraph* part)
{
    int64_t bytes = 0;
    // without a limit no device is asked
    if (execution->core->memory_limit == 0) return TENGINE_OK;
    TENGINE_RETURN_IF_ERROR(count_ir_part_memory(part, &bytes));
    return claim_ir_memory(execution, bytes, part->device->name);
}

void forget_ir_times(struct graph* execution)
{
    for (int i = 0; i < get_vector_num(execution->subgraph_list); ++i)
        get_ir_graph_subgraph(execution, i)->core->measured_ns = -1;
    for (int i = 0; i < execution->node_num; ++i)
        execution->node_list[i]->core->measured_ns = -1;
}

int prepare_ir_parts(struct graph* execution)
{
    TENGINE_RETURN_IF_ERROR(compile_for_devices(execution));
    for (int i = 0; i < get_vector_num(execution->subgraph_list); ++i) {
        TENGINE_RETURN_IF_ERROR(check_ir_cancelled(execution));
        struct subgraph* part = get_ir_graph_subgraph(execution, i);
        ir_blame_t blame;
        if (!part->core->runner) TENGINE_RETURN_IF_ERROR(open_ir_runner(part, &blame));
        TENGINE_RETURN_IF_ERROR(claim_part(execution, part));
    }
    forget_ir_times(execution);
    return put_ir_parts_into_lane(execution);
}

int publish_ir_parts(struct graph* execution)
{
    ir_session_t* session = get_ir_session(execution);
    int status = TENGINE_OK;
    pthread_mutex_lock(&session->mutex);
    for (int i = 0; i < get_vector_num(execution->subgraph_list) && status == TENGINE_OK; ++i)
        status = publish_ir_runner(get_ir_graph_subgraph(execution, i));
    pthread_mutex_unlock(&session->mutex);
    return status;
}

void forget_ir_runs(struct graph* execution)
{
    for (int i = 0; i < get_vector_num(execution->subgraph_list); ++i)
        forget_ir_runner_runs(get_ir_graph_subgraph(execution, i));
    forget_ir_times(execution);
    rewind_ir_session(execution);
}

typedef int (*end_runner_t)(struct subgraph* part);

static int end_parts(struct graph* execution, end_runner_t end)
{
    ir_failure_t first_failure = {0};
    for (int i = 0; i < get_vector_num(execution->subgraph_list); ++i)
        if (end(get_ir_graph_subgraph(execution, i)) < 0 && first_failure.code == 0)
            keep_ir_failure(&first_failure);
    return first_failure.code == 0 ? TENGINE_OK : raise_ir_failure(&first_failure);
}

static int end_execution(struct graph* execution, end_runner_t end)
{
    const ir_session_t* session = get_ir_session(execution);
    int status = TENGINE_OK;
    if (session && session->scheduler_ready && session->scheduler->postrun)
        status = session->scheduler->postrun(session->scheduler, execution);
    const int ended = end_parts(execution, end);
    const int closed = close_ir_bodies(execution);
    close_ir_session(execution);
    release_ir_scratch_needs(execution->core->plan_needs, execution->core->plan_need_num);
    execution->core->plan_needs = NULL;
    execution->core->plan_need_num = 0;
    if (status >= 0) status = ended;
    return status < 0 ? status : closed;
}

int close_ir_execution(struct graph* execution)
{
    const int status = end_execution(execution, close_ir_runner);
    destroy_ir_graph(execution);
    return status;
}

int retire_ir_execution(struct graph* execution, struct graph** out_spare)
{
    const int status = end_execution(execution, retire_ir_runner);
    if (status < 0) destroy_ir_graph(execution);
    *out_spare = status < 0 ? NULL : execution;
    return status;
}
