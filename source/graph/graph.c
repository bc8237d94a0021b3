// SPDX-License-Identifier: Apache-2.0
// Graphs: creation, inputs and outputs, renumbering. Ordering is in order.c, the end in destroy.c.
#include "graph/graph.h"

#include <string.h>

#include "base/alloc.h"
#include "graph/graph_pool.h"
#include "graph/name_index.h"
#include "graph/state.h"
#include "graph/use.h"
#include "tengine/device.h"

// One block of memory has the public part and the core's own.
struct graph_piece
{
    struct graph graph;
    ir_graph_core_t core;
};

// Allocates the blocks of a graph; stops at the first failure, which the error names.
static bool allocate_pieces(struct graph* graph)
{
    graph->name = duplicate_string("");
    if (!graph->name) return false;
    graph->attribute = alloc_memory(sizeof(*graph->attribute));
    if (!graph->attribute) return false;
    graph->subgraph_list = create_vector(sizeof(struct subgraph*), NULL);
    if (!graph->subgraph_list) return false;
    if (pthread_mutex_init(&graph->core->runs.mutex, NULL) != 0) return false;
    graph->core->pool = create_graph_pool();
    return graph->core->pool;
}

struct graph* create_ir_graph(struct context* context)
{
    struct graph_piece* piece = alloc_memory(sizeof(*piece));
    struct graph* graph = piece ? &piece->graph : NULL;
    if (piece) {
        graph->core = &piece->core;
        graph->run_options = &piece->core.run_options;
    }
    if (!piece || !allocate_pieces(graph)) {
        destroy_ir_graph(graph);
        tengine_error_set(TENGINE_ENOMEM, "out of memory for a graph");
        return NULL;
    }
    graph->attribute->context = context;
    return graph;
}

int set_ir_graph_name(struct graph* graph, const char* name)
{
    char* copy = duplicate_string(name);
    if (!copy) return tengine_error_set(TENGINE_ENOMEM, "out of memory for the name of a graph");
    free_memory(graph->name);
    graph->name = copy;
    return TENGINE_OK;
}

int set_ir_graph_device(struct graph* graph, struct device* device)
{
    if (device) TENGINE_RETURN_IF_ERROR(begin_ir_use(device, device->name, IR_USER_GRAPH));
    if (graph->device) end_ir_use(graph->device, IR_USER_GRAPH);
    graph->device = device;
    return TENGINE_OK;
}

static int copy_index_list(const char* what, const int32_t* from, int number, int limit,
                           int32_t** out_copy)
{
    if (number < 0 || (number > 0 && !from))
        return tengine_error_set(TENGINE_EINVAL, "invalid list of %d %s", number, what);
    for (int i = 0; i < number; ++i)
        if (from[i] < 0 || from[i] >= limit)
            return tengine_error_set(TENGINE_ERANGE,
                                     "%s: index %d is out of range: expected 0 to %d", what,
                                     from[i], limit - 1);
    int32_t* copy = alloc_memory(sizeof(*copy) * (size_t)number);
    if (!copy) return tengine_error_set(TENGINE_ENOMEM, "out of memory for %d %s", number, what);
    if (number) memcpy(copy, from, sizeof(*copy) * (size_t)number);
    *out_copy = copy;
    return TENGINE_OK;
}

static int replace_index_list(const char* what, const int32_t* from, int number, int limit,
                              int32_t** list, int32_t* out_num)
{
    int32_t* copy;
    TENGINE_RETURN_IF_ERROR(copy_index_list(what, from, number, limit, &copy));
    free_memory(*list);
    *list = copy;
    *out_num = number;
    return TENGINE_OK;
}

int set_ir_graph_input_tensor(struct graph* graph, const int32_t tensors[], int number)
{
    return replace_index_list("input tensors", tensors, number, graph->tensor_num,
                              &graph->input_tensors, &graph->input_tensor_num);
}

static void count_outputs(struct graph* graph, int change)
{
    for (int i = 0; i < graph->output_tensor_num; ++i)
        graph->tensor_list[graph->output_tensors[i]]->core->graph_output_num += change;
}

int set_ir_graph_output_tensor(struct graph* graph, const int32_t tensors[], int number)
{
    count_outputs(graph, -1);
    const int status = replace_index_list("output tensors", tensors, number, graph->tensor_num,
                                          &graph->output_tensors, &graph->output_tensor_num);
    count_outputs(graph, 1);
    return status;
}

// The tensors that `nodes` write, in order, and then the states of the graph.
static int collect_output_tensors(const struct graph* graph, const int32_t* nodes, int node_num,
                                  bool of_inputs, int32_t** out_tensors, int* out_num)
{
    const int state_num = count_ir_states(graph);
    int total = state_num;
    for (int i = 0; i < node_num; ++i)
        total += graph->node_list[nodes[i]]->output_num;
    int32_t* tensors = alloc_memory(sizeof(*tensors) * (size_t)total);
    if (!tensors) return tengine_error_set(TENGINE_ENOMEM, "out of memory for %d tensors", total);
    int number = 0;
    for (int i = 0; i < node_num; ++i) {
        const struct node* node = graph->node_list[nodes[i]];
        for (int k = 0; k < node->output_num; ++k) {
            const struct tensor* tensor = get_ir_node_output(node, k);
            if (tensor && !is_ir_state(graph, tensor)) tensors[number++] = tensor->index;
        }
    }
    for (int i = 0; i < state_num; ++i)
        tensors[number++] =
            (of_inputs ? get_ir_state_input(graph, i) : get_ir_state_output(graph, i))->index;
    *out_tensors = tensors;
    *out_num = number;
    return TENGINE_OK;
}

static int set_boundary_nodes(struct graph* graph, uint8_t node_type, const int32_t nodes[],
                              int number, int32_t** list, int32_t* list_num)
{
    if (number <= 0)
        return tengine_error_set(TENGINE_EINVAL, "a list of %d nodes is empty", number);
    int32_t* copy;
    TENGINE_RETURN_IF_ERROR(copy_index_list("nodes", nodes, number, graph->node_num, &copy));
    // A node may be an input and an output, and a removed one has left the index -1.
    for (int i = 0; i < *list_num; ++i)
        if ((*list)[i] >= 0 && graph->node_list[(*list)[i]]->node_type == node_type)
            graph->node_list[(*list)[i]]->node_type = TE_NODE_TYPE_INTERMEDIATE;
    for (int i = 0; i < number; ++i)
        graph->node_list[copy[i]]->node_type = node_type;
    free_memory(*list);
    *list = copy;
    *list_num = number;
    return TENGINE_OK;
}

int set_ir_graph_input_node(struct graph* graph, const int32_t input_nodes[], int input_number)
{
    TENGINE_RETURN_IF_ERROR(set_boundary_nodes(graph, TE_NODE_TYPE_INPUT, input_nodes, input_number,
                                               &graph->input_nodes, &graph->input_num));
    int32_t* tensors;
    int number;
    TENGINE_RETURN_IF_ERROR(
        collect_output_tensors(graph, input_nodes, input_number, true, &tensors, &number));
    const int status = set_ir_graph_input_tensor(graph, tensors, number);
    free_memory(tensors);
    return status;
}

int set_ir_graph_output_node(struct graph* graph, const int32_t output_nodes[], int output_number)
{
    TENGINE_RETURN_IF_ERROR(set_boundary_nodes(graph, TE_NODE_TYPE_OUTPUT, output_nodes,
                                               output_number, &graph->output_nodes,
                                               &graph->output_num));
    int32_t* tensors;
    int number;
    TENGINE_RETURN_IF_ERROR(
        collect_output_tensors(graph, output_nodes, output_number, false, &tensors, &number));
    const int status = set_ir_graph_output_tensor(graph, tensors, number);
    free_memory(tensors);
    return status;
}

static bool is_computing(const struct node* node)
{
    const struct tensor* output = get_ir_node_output(node, 0);
    return node->input_num > 0 || !output || output->tensor_type == TENSOR_TYPE_VAR;
}

int count_ir_computing_nodes(const struct graph* graph)
{
    int number = 0;
    for (int i = 0; i < graph->node_num; ++i)
        if (is_computing(graph->node_list[i])) ++number;
    return number;
}

int replace_ir_tensor_uses(struct graph* graph, struct tensor* from, struct tensor* to)
{
    while (from->consumer_num > 0) {
        const int last = from->consumer_num - 1;
        struct node* node = graph->node_list[from->consumer[last]];
        TENGINE_RETURN_IF_ERROR(
            set_ir_node_input_tensor(node, from->core->consumer_input[last], to));
    }
    for (int i = 0; i < graph->output_tensor_num && from->core->graph_output_num > 0; ++i)
        if (graph->output_tensors[i] == from->index) replace_ir_graph_output(graph, i, to);
    return TENGINE_OK;
}

void replace_ir_graph_output(struct graph* graph, int place, struct tensor* tensor)
{
    graph->tensor_list[graph->output_tensors[place]]->core->graph_output_num--;
    graph->output_tensors[place] = tensor->index;
    ++tensor->core->graph_output_num;
}

static void renumber(int32_t* list, int number, const int32_t* new_index)
{
    for (int i = 0; i < number; ++i)
        if (list[i] >= 0) list[i] = new_index[list[i]];
}

// new_index[old] = index after closing gaps, -1 for a removed one.
static int32_t close_gaps(void** list, int32_t number, int32_t* new_index)
{
    int32_t kept = 0;
    for (int i = 0; i < number; ++i) {
        new_index[i] = list[i] ? kept : -1;
        if (list[i]) list[kept++] = list[i];
    }
    return kept;
}

int compact_ir_graph(struct graph* graph)
{
    int32_t* tensor_index = alloc_memory(sizeof(int32_t) * (size_t)graph->tensor_num);
    int32_t* node_index = alloc_memory(sizeof(int32_t) * (size_t)graph->node_num);
    if (!tensor_index || !node_index) {
        free_memory(tensor_index);
        free_memory(node_index);
        return tengine_error_set(TENGINE_ENOMEM, "out of memory while renumbering %d nodes",
                                 graph->node_num);
    }
    forget_ir_names(graph);
    graph->tensor_num = close_gaps((void**)graph->tensor_list, graph->tensor_num, tensor_index);
    graph->node_num = close_gaps((void**)graph->node_list, graph->node_num, node_index);
    for (int i = 0; i < graph->node_num; ++i) {
        struct node* node = graph->node_list[i];
        node->index = i;
        renumber(node->input_tensors, node->input_num, tensor_index);
        renumber(node->output_tensors, node->output_num, tensor_index);
    }
    for (int i = 0; i < graph->tensor_num; ++i) {
        struct tensor* tensor = graph->tensor_list[i];
        tensor->index = i;
        renumber(&tensor->producer, 1, node_index);
        renumber(tensor->consumer, tensor->consumer_num, node_index);
    }
    renumber(graph->input_tensors, graph->input_tensor_num, tensor_index);
    renumber(graph->output_tensors, graph->output_tensor_num, tensor_index);
    renumber(graph->input_nodes, graph->input_num, node_index);
    renumber(graph->output_nodes, graph->output_num, node_index);
    free_memory(tensor_index);
    free_memory(node_index);
    return TENGINE_OK;
}
