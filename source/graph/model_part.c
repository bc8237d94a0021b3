// SPDX-License-Identifier: Apache-2.0
#include "graph/model_part.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/sort.h"
#include "graph/core.h"
#include "tengine/error.h"
#include "tengine/vector.h"

static void release_part(void* item)
{
    ir_model_part_t* part = item;
    unmap_file(&part->owned);
    free_memory(part->nodes);
}

static ir_model_part_t* at(const struct graph* graph, int index)
{
    return get_vector_data(graph->core->model_parts, index);
}

int add_ir_model_part(struct graph* graph, const ir_model_part_t* part)
{
    struct vector** parts = &graph->core->model_parts;
    if (!*parts) *parts = create_vector(sizeof(ir_model_part_t), release_part);
    ir_model_part_t* old = (ir_model_part_t*)find_ir_model_part(graph, part->fingerprint);
    const int old_index = old ? (int)(old - at(graph, 0)) : -1;
    if (!*parts || push_vector_data(*parts, part) != 0) {
        ir_model_part_t lost = *part;
        release_part(&lost);
        return tengine_error_set(TENGINE_ENOMEM, "no memory for a compiled part of the model");
    }
    if (old_index >= 0) at(graph, old_index)->is_replaced = true;
    return TENGINE_OK;
}

static int compare_numbers(const void* a, const void* b)
{
    const int32_t left = *(const int32_t*)a, right = *(const int32_t*)b;
    return (left > right) - (left < right);
}

int set_ir_model_part_nodes(ir_model_part_t* part, const int32_t* nodes, int number)
{
    if (number == 0) return TENGINE_OK;
    part->nodes = alloc_memory(sizeof *nodes * (size_t)number);
    if (!part->nodes)
        return tengine_error_set(TENGINE_ENOMEM, "no memory for a compiled part of the model");
    memcpy(part->nodes, nodes, sizeof *nodes * (size_t)number);
    part->node_num = number;
    sort_items(part->nodes, (size_t)number, sizeof *nodes, compare_numbers);
    return TENGINE_OK;
}

static bool has_node(const ir_model_part_t* part, int32_t node)
{
    return part->node_num > 0 && bsearch(&node, part->nodes, (size_t)part->node_num, sizeof node,
                                         compare_numbers) != NULL;
}

int get_ir_node_compiled_part(const struct node* node, const struct device* device)
{
    const struct graph* source = node->graph->core->source;
    if (!source || node->core->source_index < 0) return 0;
    for (int i = 0; i < get_vector_num(source->core->model_parts); ++i) {
        const ir_model_part_t* part = at(source, i);
        if (strncmp(part->device, device->name, sizeof part->device - 1) == 0 &&
            has_node(part, node->core->source_index))
            return i + 1;
    }
    return 0;
}

int count_ir_model_parts(const struct graph* graph)
{
    int number = 0;
    for (int i = 0; i < get_vector_num(graph->core->model_parts); ++i)
        number += !at(graph, i)->is_replaced;
    return number;
}

const ir_model_part_t* get_ir_model_part(const struct graph* graph, int index)
{
    for (int i = 0; i < get_vector_num(graph->core->model_parts); ++i)
        if (!at(graph, i)->is_replaced && index-- == 0) return at(graph, i);
    return NULL;
}

const ir_model_part_t* find_ir_model_part(const struct graph* graph,
                                          const uint8_t fingerprint[SHA256_BYTES])
{
    for (int i = 0; i < get_vector_num(graph->core->model_parts); ++i) {
        const ir_model_part_t* part = at(graph, i);
        if (!part->is_replaced && memcmp(part->fingerprint, fingerprint, SHA256_BYTES) == 0)
            return part;
    }
    return NULL;
}
