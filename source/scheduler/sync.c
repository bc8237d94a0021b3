// SPDX-License-Identifier: Apache-2.0
// The synchronous scheduler: runs the parts of an execution graph one after the other on the
// calling thread, in the order of the part list, which is an order of execution.
#include "graph/graph.h"
#include "scheduler/scheduler.h"

static int run(struct scheduler* scheduler, struct graph* graph, int block)
{
    (void)scheduler;
    (void)block;  // runs never continue in the background
    for (int i = 0; i < get_vector_num(graph->subgraph_list); ++i)
        TENGINE_RETURN_IF_ERROR(run_ir_subgraph(get_ir_graph_subgraph(graph, i)));
    return TENGINE_OK;
}

static int wait(struct scheduler* scheduler, struct graph* graph)
{
    (void)scheduler;
    (void)graph;
    return 1;  // run() has returned, so nothing is in flight
}

static struct scheduler sync_scheduler = {
    .name = "sync",
    .run = run,
    .wait = wait,
};

struct scheduler* get_sync_scheduler(void)
{
    return &sync_scheduler;
}
