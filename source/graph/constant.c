// SPDX-License-Identifier: Apache-2.0
// Constants: where their values come from, and copies of them.
#include <string.h>

#include "base/alloc.h"
#include "base/mapped_file.h"
#include "base/minimal.h"
#include "graph/late_constant.h"

bool is_ir_model_constant(const struct tensor* tensor)
{
    return tensor->tensor_type == TENSOR_TYPE_CONST && tensor->core->source_index >= 0 &&
           tensor->free_host_mem == 0 && !tensor->core->pack;
}

// Another graph's constant may have the same values and thus the same late constant.
static const struct tensor* find_late_origin(const struct graph* graph,
                                             const ir_late_values_t* late)
{
    const struct graph* execution = graph->core->whole ? graph->core->whole : graph;
    const struct graph* source = execution->core->source;
    if (!source || late->origin >= source->tensor_num) return NULL;
    const struct tensor* origin = source->tensor_list[late->origin];
    const bool same = origin && origin->data == late->data && origin->elem_num == late->elem_num;
    return same && !origin->core->lent ? origin : NULL;
}

const struct tensor* find_ir_origin(const struct graph* graph, const struct tensor* constant)
{
    const struct tensor* origin = constant;
    const ir_late_values_t* late = find_ir_late_values(constant);
    if (late) return find_late_origin(graph, late);
    if (graph->core->whole) {
        graph = graph->core->whole;
        if (origin->core->source_index < 0) return NULL;  // the part made it
        origin = graph->tensor_list[origin->core->source_index];
    }
    if (graph->core->source) {
        if (!is_ir_model_constant(origin)) return NULL;
        origin = graph->core->source->tensor_list[origin->core->source_index];
    }
    const bool same = origin->data == constant->data &&
                      get_ir_tensor_bytes(origin) == get_ir_tensor_bytes(constant);
    return same && !origin->core->lent ? origin : NULL;
}

// The source graph's constant whose values lie in the file and cannot change unnoticed; or NULL.
static const struct tensor* find_in_file(const struct graph* graph, const struct tensor* constant)
{
    const struct tensor* origin = find_ir_origin(graph, constant);
    return origin && origin->core->is_file ? origin : NULL;
}

void drop_ir_mapped_constant(const struct graph* graph, const struct tensor* constant)
{
    const struct tensor* origin = find_in_file(graph, constant);
    if (origin) drop_mapped_bytes(origin->data, get_ir_tensor_bytes(origin));
}

void copy_ir_constant(const struct graph* graph, const struct tensor* constant, void* out_bytes)
{
    const size_t bytes = get_ir_tensor_bytes(constant);
    const ir_late_values_t* late = find_ir_late_values(constant);
    if (late) {
        late->make(late, constant, find_in_file(graph, constant) != NULL, out_bytes);
        return;
    }
    if (!IS_MINIMAL && find_in_file(graph, constant)) {
        copy_mapped_bytes(out_bytes, constant->data, bytes);
        return;
    }
    if (bytes > 0) memcpy(out_bytes, constant->data, bytes);
}

int align_ir_constant(struct graph* graph, struct tensor* constant)
{
    if (is_ir_constant_readable(constant)) return TENGINE_OK;
    void* copy = alloc_raw_memory(get_ir_tensor_bytes(constant));
    if (!copy)
        return tengine_error_set(TENGINE_ENOMEM,
                                 "out of memory for a copy of constant '%s', %zu bytes",
                                 constant->name, get_ir_tensor_bytes(constant));
    copy_ir_constant(graph, constant, copy);
    set_ir_tensor_data(constant, copy, true);
    return TENGINE_OK;
}

int align_ir_constants(struct graph* graph)
{
    for (int i = 0; i < graph->tensor_num; ++i) {
        struct tensor* tensor = graph->tensor_list[i];
        if (tensor && tensor->tensor_type == TENSOR_TYPE_CONST)
            TENGINE_RETURN_IF_ERROR(align_ir_constant(graph, tensor));
    }
    return TENGINE_OK;
}
