// SPDX-License-Identifier: Apache-2.0
#include "graph/model_part.h"

#include <string.h>

#include "graph/core.h"
#include "tengine/error.h"
#include "tengine/vector.h"

static void release_part(void* item)
{
    unmap_file(&((ir_model_part_t*)item)->owned);
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
    if (!*parts || push_vector_data(*parts, part) != 0)
        return tengine_error_set(TENGINE_ENOMEM, "no memory for a compiled part of the model");
    if (old_index >= 0) at(graph, old_index)->is_replaced = true;
    return TENGINE_OK;
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
