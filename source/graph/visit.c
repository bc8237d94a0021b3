// SPDX-License-Identifier: Apache-2.0
#include "graph/body.h"

bool visit_ir_graphs(const struct graph* graph, ir_graph_visit_t visit, void* data)
{
    if (!visit(graph, data)) return false;
    for (int i = 0; i < graph->node_num; ++i) {
        const ir_bodies_t* bodies = graph->node_list[i]->core->bodies;
        for (int k = 0; bodies && k < bodies->num; ++k)
            if (!visit_ir_graphs(bodies->list[k].graph, visit, data)) return false;
    }
    return true;
}
