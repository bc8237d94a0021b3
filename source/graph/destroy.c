// SPDX-License-Identifier: Apache-2.0
// The end of graphs: with a graph go its nodes, with a node its bodies, which are graphs.
#include "base/alloc.h"
#include "base/minimal.h"
#include "graph/body.h"
#include "graph/context.h"
#include "graph/entry.h"
#include "graph/graph.h"
#include "graph/graph_pool.h"
#include "graph/metadata.h"
#include "graph/model_part.h"
#include "graph/name_index.h"
#include "graph/shared_model.h"
#include "graph/string_pool.h"
#include "graph/subgraph.h"
#include "graph/use.h"

void release_ir_bodies(ir_bodies_t* bodies)
{
    if (!bodies || --bodies->holder_num > 0) return;
    for (int i = 0; i < bodies->num; ++i) {
        destroy_ir_graph(bodies->list[i].graph);
        free_memory(bodies->list[i].inputs);
    }
    free_memory(bodies);
}

void destroy_ir_node(struct graph* graph, struct node* node)
{
    if (!node) return;
    disconnect_ir_node(node);
    if (node->op.release) node->op.release(&node->op);
    free_memory(node->input_tensors);
    free_memory(node->output_tensors);
    free_memory(node->core->refusal_list);
    release_ir_bodies(node->core->bodies);
    free_memory(node->name);
    forget_ir_names(graph);
    graph->node_list[node->index] = NULL;
    free_memory(node);
}

void destroy_ir_graph(struct graph* graph)
{
    if (!graph) return;
    if (graph->core->execution) destroy_ir_graph(graph->core->execution);
    // Other entries of the model see the states until here, on other threads, too.
    release_vector(graph->core->states);
    graph->core->states = NULL;
    if (!IS_MINIMAL) leave_ir_entries(graph);
    if (graph->subgraph_list) {
        release_ir_subgraph_list(graph);
        release_vector(graph->subgraph_list);
    }
    // Nodes need not leave the lists of consumers of tensors that are destroyed as well.
    for (int i = 0; i < graph->tensor_num; ++i)
        if (graph->tensor_list[i]) graph->tensor_list[i]->consumer_num = 0;
    for (int i = 0; i < graph->node_num; ++i)
        destroy_ir_node(graph, graph->node_list[i]);
    for (int i = 0; i < graph->tensor_num; ++i)
        destroy_ir_tensor(graph, graph->tensor_list[i]);
    if (graph->attribute && graph->attribute->private_context)
        destroy_ir_context(graph->attribute->context);
    free_memory(graph->attribute);
    free_memory(graph->node_list);
    free_memory(graph->tensor_list);
    free_memory(graph->input_nodes);
    free_memory(graph->output_nodes);
    free_memory(graph->input_tensors);
    free_memory(graph->output_tensors);
    forget_ir_names(graph);
    release_vector(graph->core->surveys);
    release_vector(graph->core->announced);
    release_ir_model_parts(graph->core->model_parts);
    release_ir_metadata(graph->core->metadata);
    free_memory(graph->core->plan);
    release_vector(graph->core->settled_shapes);
    release_vector(graph->core->planned_places);
    release_vector(graph->core->planned_blocks);
    release_vector(graph->core->affinity);
    release_graph_pool(graph->core->pool);
    release_ir_strings(graph->core->strings);
    release_ir_shared_model(graph->core->shared, graph->core->shared_entry);
    // Devices may be unregistered from here on.
    if (graph->core->candidates) graph->core->release_candidates(graph->core->candidates);
    if (graph->device) end_ir_use(graph->device, IR_USER_GRAPH);
    pthread_mutex_destroy(&graph->core->runs.mutex);
    free_memory(graph->name);
    free_memory(graph);
}
