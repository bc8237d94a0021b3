// SPDX-License-Identifier: Apache-2.0
// Topological order: Kahn (1962), "Topological sorting of large networks", with a heap of ready
// nodes, so that the order depends only on the graph and the present numbering.
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "graph/graph.h"
#include "graph/name_index.h"

// A binary min-heap of node indices.
typedef struct ready_heap
{
    int32_t* items;
    int32_t number;
} ready_heap_t;

static void push_ready(ready_heap_t* heap, int32_t item)
{
    int32_t child = heap->number++;
    while (child > 0 && heap->items[(child - 1) / 2] > item) {
        heap->items[child] = heap->items[(child - 1) / 2];
        child = (child - 1) / 2;
    }
    heap->items[child] = item;
}

static int32_t pop_ready(ready_heap_t* heap)
{
    const int32_t top = heap->items[0];
    const int32_t item = heap->items[--heap->number];
    int32_t parent = 0;
    for (;;) {
        int32_t child = 2 * parent + 1;
        if (child >= heap->number) break;
        if (child + 1 < heap->number && heap->items[child + 1] < heap->items[child]) ++child;
        if (heap->items[child] >= item) break;
        heap->items[parent] = heap->items[child];
        parent = child;
    }
    heap->items[parent] = item;
    return top;
}

// Counts the inputs of a node that other nodes have yet to write.
static int32_t count_waits(const struct graph* graph, const struct node* node)
{
    int32_t waits = 0;
    for (int i = 0; i < node->input_num; ++i) {
        const struct tensor* tensor = get_ir_graph_tensor(graph, node->input_tensors[i]);
        if (tensor && tensor->producer >= 0) ++waits;
    }
    return waits;
}

static void release_consumers(const struct node* node, int32_t* waits, ready_heap_t* ready)
{
    for (int i = 0; i < node->output_num; ++i) {
        const struct tensor* tensor = get_ir_node_output(node, i);
        for (int k = 0; tensor && k < tensor->consumer_num; ++k)
            if (--waits[tensor->consumer[k]] == 0) push_ready(ready, tensor->consumer[k]);
    }
}

static int fail_cycle(const struct graph* graph, const int32_t* waits)
{
    text_t names = {0};
    int shown = 0;
    for (int i = 0; i < graph->node_num && shown < 8; ++i)
        if (waits[i] > 0)
            append_text(&names, "%s'%s'", shown++ ? ", " : "", graph->node_list[i]->name);
    const int status =
        tengine_error_set(TENGINE_EGRAPH, "the graph has a cycle; nodes on or after it: %s",
                          names.data ? names.data : "");
    free_text(&names);
    return status;
}

// order[new] = old. Returns how many nodes could be ordered.
static int32_t order_nodes(const struct graph* graph, int32_t* waits, int32_t* order,
                           ready_heap_t* ready)
{
    int32_t ordered = 0;
    for (int i = 0; i < graph->node_num; ++i) {
        waits[i] = count_waits(graph, graph->node_list[i]);
        if (waits[i] == 0) push_ready(ready, i);
    }
    while (ready->number > 0) {
        const int32_t index = pop_ready(ready);
        order[ordered++] = index;
        release_consumers(graph->node_list[index], waits, ready);
    }
    return ordered;
}

static void apply_order(struct graph* graph, const int32_t* order, int32_t* new_index,
                        struct node** nodes)
{
    forget_ir_names(graph);
    for (int i = 0; i < graph->node_num; ++i) {
        nodes[i] = graph->node_list[order[i]];
        nodes[i]->index = i;
        new_index[order[i]] = i;
    }
    memcpy(graph->node_list, nodes, sizeof(*nodes) * (size_t)graph->node_num);
    for (int i = 0; i < graph->tensor_num; ++i) {
        struct tensor* tensor = graph->tensor_list[i];
        if (tensor->producer >= 0) tensor->producer = new_index[tensor->producer];
        for (int k = 0; k < tensor->consumer_num; ++k)
            tensor->consumer[k] = new_index[tensor->consumer[k]];
    }
    for (int i = 0; i < graph->input_num; ++i)
        graph->input_nodes[i] = new_index[graph->input_nodes[i]];
    for (int i = 0; i < graph->output_num; ++i)
        graph->output_nodes[i] = new_index[graph->output_nodes[i]];
}

static bool is_sorted(const struct graph* graph)
{
    for (int i = 0; i < graph->node_num; ++i) {
        const struct node* node = graph->node_list[i];
        for (int k = 0; k < node->input_num; ++k) {
            const struct tensor* tensor = get_ir_node_input(node, k);
            if (tensor && tensor->producer >= i) return false;
        }
    }
    return true;
}

// The present order is usually right, and the heap then returns it.
int sort_ir_graph(struct graph* graph)
{
    const size_t number = (size_t)graph->node_num;
    if (is_sorted(graph)) return TENGINE_OK;
    int32_t* numbers = alloc_memory(sizeof(int32_t) * number * 3);
    struct node** nodes = alloc_memory(sizeof(*nodes) * number);
    int status = TENGINE_OK;
    if (!numbers || !nodes) {
        status = tengine_error_set(TENGINE_ENOMEM, "out of memory while sorting %zu nodes", number);
    } else {
        int32_t* waits = numbers;
        int32_t* order = numbers + number;
        ready_heap_t ready = {numbers + 2 * number, 0};
        if (order_nodes(graph, waits, order, &ready) == graph->node_num)
            apply_order(graph, order, ready.items, nodes);
        else
            status = fail_cycle(graph, waits);
    }
    free_memory(numbers);
    free_memory(nodes);
    return status;
}
