// SPDX-License-Identifier: Apache-2.0
// inspect.h, memory: that of a graph.
#include "api/check.h"
#include "base/sort.h"
#include "graph/core.h"
#include "graph/model_part.h"
#include "graph/shared_model.h"
#include "graph/state.h"
#include "operator/param.h"
#include "scheduler/bucket.h"
#include "scheduler/memory.h"
#include "scheduler/shape_cache.h"
#include "serializer/serializer.h"
#include "tengine/inspect.h"

// ---- constants of the model, and packs made of them ----

// The bytes of a constant or a compiled part that the tensor does not own; several tensors may
// share them.
typedef struct span
{
    uintptr_t begin;
    uintptr_t end;
    ir_data_place_t place;
} span_t;

static ir_data_place_t locate(const struct graph* graph, const void* data)
{
    const struct serializer* serializer = graph->core->serializer;
    if (!serializer || !serializer->locate_data) return IR_DATA_PROGRAM;
    return serializer->locate_data(serializer, graph, data);
}

static int compare_spans(const void* left, const void* right)
{
    const span_t* a = left;
    const span_t* b = right;
    return (a->begin > b->begin) - (a->begin < b->begin);
}

// Counts every byte once, and the library's as a share of `instance_num`. A span that begins in
// another span lies in the same kind of memory.
static void add_spans(struct vector* spans, int instance_num, struct tengine_graph_memory* memory)
{
    const int number = get_vector_num(spans);
    if (number == 0) return;
    sort_items(get_vector_data(spans, 0), (size_t)number, sizeof(span_t), compare_spans);
    int64_t library_bytes = 0;
    int64_t* const sums[] = {
        [IR_DATA_PROGRAM] = &memory->borrowed_bytes,
        [IR_DATA_LIBRARY] = &library_bytes,
        [IR_DATA_MAPPED] = &memory->mapped_bytes,
    };
    uintptr_t counted = 0;  // end of the spans counted
    for (int i = 0; i < number; ++i) {
        const span_t* span = get_vector_data(spans, i);
        const uintptr_t begin = span->begin > counted ? span->begin : counted;
        if (span->end <= begin) continue;
        *sums[span->place] += (int64_t)(span->end - begin);
        counted = span->end;
    }
    memory->owned_bytes += library_bytes / instance_num;
}

static int push_span(const struct graph* graph, const void* data, size_t bytes,
                     struct vector* spans)
{
    const uintptr_t begin = (uintptr_t)data;
    const span_t span = {begin, begin + bytes, locate(graph, data)};
    if (push_vector_data(spans, &span) == 0) return TENGINE_OK;
    return tengine_error_set(TENGINE_ENOMEM, "get_graph_memory: out of memory");
}

static int collect_compiled_parts(const struct graph* graph, struct vector* spans,
                                  struct tengine_graph_memory* memory)
{
    const int number = count_ir_whole_model_parts(graph);
    memory->owned_bytes += (int64_t)count_ir_whole_model_part_memory(graph);
    for (int i = 0; i < number; ++i) {
        const ir_model_bytes_t* bytes = get_ir_whole_model_part(graph, i)->bytes;
        if (bytes->is_in_file)
            TENGINE_RETURN_IF_ERROR(push_span(graph, bytes->data, bytes->size, spans));
    }
    return TENGINE_OK;
}

static int collect_constants(const struct graph* graph, struct vector* spans,
                             struct tengine_graph_memory* memory)
{
    const int instance_num = count_ir_instances(graph);
    for (int i = 0; i < graph->node_num; ++i)
        memory->owned_bytes += (int64_t)get_node_tensor_bytes(graph->node_list[i]);
    for (int i = 0; i < graph->tensor_num; ++i) {
        const struct tensor* tensor = graph->tensor_list[i];
        const size_t bytes = get_ir_tensor_bytes(tensor);
        const bool is_constant = tensor->tensor_type == TENSOR_TYPE_CONST;
        if (tensor->core->is_shared) {
            memory->owned_bytes += (int64_t)bytes / instance_num;
        } else if (tensor->free_host_mem) {
            *(is_constant ? &memory->owned_bytes : &memory->value_bytes) += (int64_t)bytes;
        } else if (is_constant && tensor->data) {
            TENGINE_RETURN_IF_ERROR(push_span(graph, tensor->data, bytes, spans));
        }
    }
    return collect_compiled_parts(graph, spans, memory);
}

static int count_constants(const struct graph* graph, struct tengine_graph_memory* memory)
{
    struct vector* spans = create_vector(sizeof(span_t), NULL);
    if (!spans) return tengine_error_set(TENGINE_ENOMEM, "get_graph_memory: out of memory");
    const int status = collect_constants(graph, spans, memory);
    if (status == TENGINE_OK) add_spans(spans, count_ir_instances(graph), memory);
    release_vector(spans);
    return status;
}

// ---- devices ----

static int64_t sum_device(const ir_device_memory_t* entry)
{
    return entry->held.compiled + entry->held.arena + entry->tensors;
}

// The list is to be released, whatever is returned; NULL when out of memory.
static int list_devices(const struct graph* graph, struct vector** out_list)
{
    *out_list = create_vector(sizeof(ir_device_memory_t), NULL);
    if (!*out_list) return tengine_error_set(TENGINE_ENOMEM, "get_graph_memory: out of memory");
    return count_ir_device_memory(graph, *out_list);
}

static int count_devices(const struct graph* graph, struct tengine_graph_memory* memory)
{
    struct vector* list;
    const int status = list_devices(graph, &list);
    memory->device_number = !list ? 0 : get_vector_num(list);
    for (int i = 0; i < memory->device_number; ++i) {
        const ir_device_memory_t* entry = get_vector_data(list, i);
        memory->device_bytes += sum_device(entry);
        memory->unknown_number += entry->unknown_num;
    }
    if (list) release_vector(list);
    return status;
}

// ---- the two functions ----

static int check_call(const api_graph_t* graph, const void* out_memory, size_t size,
                      const char* function)
{
    TENGINE_RETURN_IF_ERROR(check_struct(out_memory, size, function, "out_memory"));
    return check_idle(graph, function);
}

int get_graph_memory(graph_t graph, struct tengine_graph_memory* out_memory, size_t size)
{
    const api_graph_t* target = find_graph(graph, __func__);
    if (!target || check_call(target, out_memory, size, __func__) < 0) return api_failure();
    struct tengine_graph_memory memory = {0};
    if (count_constants(target->graph, &memory) < 0 || count_devices(target->graph, &memory) < 0)
        return api_failure();
    const struct graph* execution;
    for (int i = 0; (execution = get_ir_execution(target->graph, i)) != NULL; ++i) {
        memory.derived_bytes += count_ir_derived_constants(execution);
        memory.border_bytes += count_ir_boundary_memory(execution);
        memory.value_bytes += count_ir_run_values(execution);
    }
    if (!IS_MINIMAL) memory.value_bytes += count_ir_state_bytes(target->graph);
    memory.border_bytes += (int64_t)count_ir_request_bytes(get_ir_buckets(target->graph));
    memory.total_bytes = memory.owned_bytes + memory.value_bytes + memory.derived_bytes +
                         memory.border_bytes + memory.device_bytes;
    give_struct(&memory, sizeof memory, out_memory, size);
    return 0;
}

static void describe_device(const ir_device_memory_t* entry,
                            struct tengine_device_memory* out_memory)
{
    *out_memory = (struct tengine_device_memory){
        .device = entry->device->name,
        .subgraph_number = entry->part_num,
        .unknown_number = entry->unknown_num,
        .compiled_bytes = entry->held.compiled,
        .arena_bytes = entry->held.arena,
        .tensor_bytes = entry->tensors,
    };
}

int tengine_graph_get_device_memory(graph_t graph, int index,
                                    struct tengine_device_memory* out_memory, size_t size)
{
    const api_graph_t* target = find_graph(graph, __func__);
    if (!target || check_call(target, out_memory, size, __func__) < 0) return api_failure();
    struct vector* list;
    int status = list_devices(target->graph, &list);
    if (status == TENGINE_OK)
        status = check_index(index, get_vector_num(list), __func__, "devices");
    if (status == TENGINE_OK) {
        struct tengine_device_memory memory;
        describe_device(get_vector_data(list, index), &memory);
        give_struct(&memory, sizeof memory, out_memory, size);
    }
    if (list) release_vector(list);
    return api_result(status);
}
