// SPDX-License-Identifier: Apache-2.0
#include "scheduler/body.h"

#include "graph/graph.h"
#include "operator/operator.h"
#include "operator/row.h"
#include "scheduler/failure.h"

static bool are_inputs_known(const struct graph* graph)
{
    for (int i = 0; i < graph->input_tensor_num; ++i)
        if (!is_ir_tensor_shape_known(graph->tensor_list[graph->input_tensors[i]])) return false;
    return true;
}

static int prepare_body(ir_body_t* body, const ir_run_options_t* options,
                        const ir_body_entries_t* entries)
{
    body->entries = entries;
    return are_inputs_known(body->graph) ? entries->prepare(body->graph, options) : TENGINE_OK;
}

// A run may take only one of two branches, so a branch whose preparation fails here is prepared
// again by the run that takes it, which fails if that fails too.
static int prepare_bodies(ir_bodies_t* bodies, const ir_run_options_t* options,
                          const ir_body_entries_t* entries)
{
    int misfit_num = 0;
    for (int i = 0; i < bodies->num; ++i) {
        const int status = prepare_body(&bodies->list[i], options, entries);
        if (status >= 0) continue;
        if (bodies->num == 1 || !is_ir_misfit(status) || ++misfit_num == bodies->num) return status;
        tengine_error_clear();
    }
    return TENGINE_OK;
}

int prepare_ir_bodies(struct graph* execution, const ir_run_options_t* options,
                      const ir_body_entries_t* entries)
{
    for (int i = 0; i < execution->node_num; ++i)
        if (execution->node_list[i]->core->bodies)
            TENGINE_RETURN_IF_ERROR(
                prepare_bodies(execution->node_list[i]->core->bodies, options, entries));
    return TENGINE_OK;
}

int close_ir_bodies(struct graph* execution)
{
    ir_failure_t first_failure = {0};
    for (int i = 0; OP_HAS_BODIES && i < execution->node_num; ++i) {
        const ir_bodies_t* bodies = execution->node_list[i]->core->bodies;
        for (int k = 0; bodies && k < bodies->num; ++k) {
            const ir_body_t* body = &bodies->list[k];
            if (body->entries && body->entries->close(body->graph) < 0 && first_failure.code == 0)
                keep_ir_failure(&first_failure);
        }
    }
    return first_failure.code == 0 ? TENGINE_OK : raise_ir_failure(&first_failure);
}
