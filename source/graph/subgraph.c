// SPDX-License-Identifier: Apache-2.0
// Parts of an execution graph and their boundary tensors.
#include "graph/subgraph.h"

#include <string.h>

#include "base/alloc.h"
#include "base/sort.h"
#include "graph/graph.h"
#include "graph/index_list.h"
#include "tengine/device.h"

void init_ir_subgraph(struct graph* graph, struct subgraph* subgraph, int index)
{
    memset(subgraph, 0, sizeof(*subgraph));
    subgraph->graph = graph;
    subgraph->index = index;
}

// One block of memory has the public part and the core's own.
struct subgraph_piece
{
    struct subgraph subgraph;
    ir_subgraph_core_t core;
};

struct subgraph* create_ir_subgraph(struct graph* graph, struct device* device)
{
    struct subgraph_piece* piece = alloc_memory(sizeof(*piece));
    if (!piece) return NULL;
    struct subgraph* subgraph = &piece->subgraph;
    init_ir_subgraph(graph, subgraph, get_vector_num(graph->subgraph_list));
    subgraph->core = &piece->core;
    subgraph->device = device;
    if (push_vector_data(graph->subgraph_list, &subgraph) < 0) {
        free_memory(subgraph);
        return NULL;
    }
    return subgraph;
}

int set_ir_subgraph_nodes(struct subgraph* subgraph, const int32_t nodes[], int number)
{
    const size_t bytes = sizeof(int32_t) * (size_t)number;
    int32_t* copy = alloc_memory(bytes);
    if (!copy)
        return tengine_error_set(TENGINE_ENOMEM, "out of memory for the %d nodes of a part",
                                 number);
    if (number > 0) memcpy(copy, nodes, bytes);
    free_memory(subgraph->node_list);
    subgraph->node_list = copy;
    subgraph->node_num = number;
    return TENGINE_OK;
}

void release_ir_subgraph(struct graph* graph, struct subgraph* subgraph)
{
    (void)graph;
    if (!subgraph) return;
    struct device* device = subgraph->device;
    if (subgraph->device_graph && device && device->interface->release_graph)
        device->interface->release_graph(device, subgraph->device_graph);
    leave_ir_scratch(subgraph);
    free_memory(subgraph->node_list);
    free_memory(subgraph->input_tensor_list);
    free_memory(subgraph->output_tensor_list);
    free_memory(subgraph);
}

void release_ir_subgraph_list(struct graph* graph)
{
    while (get_vector_num(graph->subgraph_list) > 0) {
        const int last = get_vector_num(graph->subgraph_list) - 1;
        release_ir_subgraph(graph, get_ir_graph_subgraph(graph, last));
        remove_vector_via_index(graph->subgraph_list, last);
    }
}

static int append_index(int32_t** list, int32_t* number, int32_t value)
{
    if (!push_ir_index(list, *number, value))
        return tengine_error_set(TENGINE_ENOMEM, "out of memory for a part's tensor list");
    ++*number;
    return TENGINE_OK;
}

static int producer_part(const struct graph* graph, const struct tensor* tensor)
{
    return tensor->producer < 0 ? -1 : graph->node_list[tensor->producer]->subgraph_idx;
}

static int64_t sum_bytes(const struct graph* graph, const int32_t* tensors, int number)
{
    int64_t bytes = 0;
    for (int i = 0; i < number; ++i)
        bytes += (int64_t)get_ir_tensor_bytes(graph->tensor_list[tensors[i]]);
    return bytes;
}

static void sum_boundary_bytes(struct subgraph* part)
{
    part->core->bytes_in = sum_bytes(part->graph, part->input_tensor_list, part->input_num);
    part->core->bytes_out = sum_bytes(part->graph, part->output_tensor_list, part->output_num);
}

static bool is_needed_outside(const struct subgraph* part, const struct tensor* tensor)
{
    const struct graph* graph = part->graph;
    for (int i = 0; i < tensor->consumer_num; ++i)
        if (graph->node_list[tensor->consumer[i]]->subgraph_idx != part->index) return true;
    return is_ir_graph_output(graph, tensor->index);
}

static int list_outputs(struct subgraph* part, const struct node* node)
{
    for (int i = 0; i < node->output_num; ++i) {
        const struct tensor* tensor = get_ir_node_output(node, i);
        if (tensor && is_needed_outside(part, tensor))
            TENGINE_RETURN_IF_ERROR(
                append_index(&part->output_tensor_list, &part->output_num, tensor->index));
    }
    return TENGINE_OK;
}

// One entry per use; drop_repeated_inputs() follows.
static int list_inputs(struct subgraph* part, const struct node* node)
{
    for (int i = 0; i < node->input_num; ++i) {
        const struct tensor* tensor = get_ir_node_input(node, i);
        if (!tensor || tensor->tensor_type == TENSOR_TYPE_CONST ||
            producer_part(part->graph, tensor) == part->index)
            continue;
        TENGINE_RETURN_IF_ERROR(
            append_index(&part->input_tensor_list, &part->input_num, tensor->index));
    }
    return TENGINE_OK;
}

// A use of a tensor, and its place in the list of all.
struct use
{
    int32_t tensor;
    int32_t place;
};

static int compare_uses(const void* left, const void* right)
{
    const struct use* a = left;
    const struct use* b = right;
    if (a->tensor != b->tensor) return a->tensor < b->tensor ? -1 : 1;
    return (a->place > b->place) - (a->place < b->place);
}

// Keeps the first use of each tensor.
static int drop_repeated_inputs(struct subgraph* part)
{
    const size_t number = (size_t)part->input_num;
    struct use* uses = alloc_memory(sizeof *uses * number);
    if (!uses) return tengine_error_set(TENGINE_ENOMEM, "out of memory for the inputs of a part");
    for (size_t i = 0; i < number; ++i)
        uses[i] = (struct use){part->input_tensor_list[i], (int32_t)i};
    sort_items(uses, number, sizeof *uses, compare_uses);
    for (size_t i = 1; i < number; ++i)
        if (uses[i].tensor == uses[i - 1].tensor) part->input_tensor_list[uses[i].place] = -1;
    free_memory(uses);
    part->input_num = 0;
    for (size_t i = 0; i < number; ++i)
        if (part->input_tensor_list[i] >= 0)
            part->input_tensor_list[part->input_num++] = part->input_tensor_list[i];
    return TENGINE_OK;
}

static int count_waits(const struct subgraph* part)
{
    int waits = 0;
    for (int i = 0; i < part->input_num; ++i)
        waits +=
            producer_part(part->graph, part->graph->tensor_list[part->input_tensor_list[i]]) >= 0;
    return waits;
}

int list_ir_boundary_tensors(struct subgraph* part)
{
    part->input_num = part->output_num = 0;
    for (int i = 0; i < part->node_num; ++i) {
        const struct node* node = part->graph->node_list[part->node_list[i]];
        TENGINE_RETURN_IF_ERROR(list_inputs(part, node));
        TENGINE_RETURN_IF_ERROR(list_outputs(part, node));
    }
    TENGINE_RETURN_IF_ERROR(drop_repeated_inputs(part));
    part->input_wait_count = count_waits(part);
    sum_boundary_bytes(part);
    return TENGINE_OK;
}

// Records in the tensors which parts read or write them.
static int note_part(struct graph* graph, int index, const int32_t* tensors, int number)
{
    for (int i = 0; i < number; ++i) {
        struct tensor* tensor = graph->tensor_list[tensors[i]];
        TENGINE_RETURN_IF_ERROR(append_index(&tensor->subgraph_list, &tensor->subgraph_num, index));
    }
    return TENGINE_OK;
}

int get_ir_subgraph_group(const struct subgraph* part)
{
    int group = 0;
    for (int i = 0; i < part->node_num && group == 0; ++i)
        group = part->graph->node_list[part->node_list[i]]->core->group;
    return group;
}

int connect_ir_subgraphs(struct graph* graph)
{
    for (int i = 0; i < graph->tensor_num; ++i)
        graph->tensor_list[i]->subgraph_num = 0;
    for (int p = 0; p < get_vector_num(graph->subgraph_list); ++p) {
        struct subgraph* part = get_ir_graph_subgraph(graph, p);
        TENGINE_RETURN_IF_ERROR(list_ir_boundary_tensors(part));
        TENGINE_RETURN_IF_ERROR(note_part(graph, p, part->input_tensor_list, part->input_num));
        TENGINE_RETURN_IF_ERROR(note_part(graph, p, part->output_tensor_list, part->output_num));
    }
    return TENGINE_OK;
}
