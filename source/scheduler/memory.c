// SPDX-License-Identifier: Apache-2.0
#include "scheduler/memory.h"

#include "base/packed_bits.h"
#include "graph/graph.h"
#include "optimizer/optimizer.h"
#include "scheduler/runner.h"
#include "scheduler/session.h"
#include "scheduler/shape_cache.h"

// ---- by device ----

static ir_device_memory_t* find_device(const struct vector* list, const struct device* device)
{
    for (int i = 0; i < get_vector_num(list); ++i) {
        ir_device_memory_t* entry = get_vector_data(list, i);
        if (entry->device == device) return entry;
    }
    return NULL;
}

static int add_device(struct vector* list, struct device* device)
{
    const ir_device_memory_t entry = {.device = device};
    if (find_device(list, device) || push_vector_data(list, &entry) == 0) return TENGINE_OK;
    return tengine_error_set(TENGINE_ENOMEM, "out of memory while measuring the memory of a graph");
}

static int add_graph_devices(const struct graph* source, struct vector* list)
{
    struct vector* devices = create_vector(sizeof(struct device*), NULL);
    if (!devices)
        return tengine_error_set(TENGINE_ENOMEM,
                                 "out of memory while measuring the memory of a graph");
    int status = list_ir_graph_devices(source, devices);
    for (int i = 0; status == TENGINE_OK && i < get_vector_num(devices); ++i)
        status = add_device(list, *(struct device**)get_vector_data(devices, i));
    release_vector(devices);
    return status;
}

static int add_parts(const struct graph* execution, bool is_present, struct vector* list)
{
    for (int i = 0; i < get_vector_num(execution->subgraph_list); ++i) {
        struct subgraph* compiled = get_ir_compiled_part(get_ir_graph_subgraph(execution, i));
        if (!compiled) continue;
        TENGINE_RETURN_IF_ERROR(add_device(list, compiled->device));
        ir_device_memory_t* entry = find_device(list, compiled->device);
        TENGINE_RETURN_IF_ERROR(add_ir_part_memory(compiled, i, entry));
        if (is_present) ++entry->part_num;
    }
    return TENGINE_OK;
}

// Bytes of the records that lending takes: the lender, and for each of its parts the need, and the
// shares in both forms of the part.
static int64_t count_records(const ir_scratch_t* lender)
{
    const size_t shares = 2 * IR_MOST_MEMORIES * sizeof(ir_shared_scratch_t);
    size_t bytes = sizeof *lender;
    for (const ir_scratch_need_t* need = lender->first; need; need = need->next)
        bytes += sizeof *need + shares;
    return (int64_t)bytes;
}

// And of the list of lenders, which counts with the first one.
static int64_t count_list(const ir_lanes_t* lanes, int index)
{
    const struct vector* lenders = lanes->lenders;
    const size_t entries = sizeof(ir_scratch_t*) * (size_t)lenders->space_num;
    return index > 0 ? 0 : (int64_t)(sizeof *lanes + sizeof *lenders + entries);
}

// A lane counts for the device that needs most of it.
static int add_lender(const ir_lanes_t* lanes, int index, struct vector* list)
{
    const ir_scratch_t* lender = *(ir_scratch_t**)get_vector_data(lanes->lenders, index);
    const ir_scratch_need_t* most = lender->first;
    for (const ir_scratch_need_t* need = most; need; need = need->next)
        if (need->bytes > most->bytes) most = need;
    if (lender->bytes == 0) return TENGINE_OK;
    TENGINE_RETURN_IF_ERROR(add_device(list, most->device));
    ir_device_memory_t* entry = find_device(list, most->device);
    entry->held.arena += (int64_t)lender->bytes;
    entry->held.compiled += count_records(lender) + count_list(lanes, index);
    return TENGINE_OK;
}

static int add_lanes(const struct graph* source, struct vector* list)
{
    const ir_lanes_t* lanes = get_ir_lanes(source);
    for (int i = 0; lanes && lanes->lenders && i < get_vector_num(lanes->lenders); ++i)
        TENGINE_RETURN_IF_ERROR(add_lender(lanes, i, list));
    return TENGINE_OK;
}

int count_ir_device_memory(const struct graph* source, struct vector* out_devices)
{
    TENGINE_RETURN_IF_ERROR(add_graph_devices(source, out_devices));
    const struct graph* execution;
    for (int i = 0; (execution = get_ir_execution(source, i)) != NULL; ++i)
        TENGINE_RETURN_IF_ERROR(add_parts(execution, i == 0, out_devices));
    return add_lanes(source, out_devices);
}

// ---- of the whole graph ----

int64_t count_ir_derived_constants(const struct graph* execution)
{
    return count_ir_own_tensors(execution);
}

int64_t count_ir_boundary_memory(const struct graph* execution)
{
    const ir_session_t* session = get_ir_session(execution);
    size_t bytes = execution->core->plan_bytes;
    for (int i = 0; i < execution->core->plan_need_num; ++i)
        bytes += execution->core->plan_needs[i].own.bytes + sizeof(ir_scratch_need_t);
    for (int i = 0; session && i < session->frame_num; ++i)
        bytes += session->frames[i].memory_bytes;
    return (int64_t)bytes;
}

static int64_t count_value(const ir_frame_value_t* value)
{
    if (!value->owned) return 0;
    int64_t elements = 1;
    for (int i = 0; i < value->dim_num; ++i)
        elements *= value->dims[i];
    return (int64_t)count_packed_bytes(elements, get_data_type_bits(value->data_type));
}

int64_t count_ir_run_values(const struct graph* execution)
{
    const ir_session_t* session = get_ir_session(execution);
    int64_t bytes = 0;
    for (int i = 0; session && i < session->frame_num; ++i)
        for (int k = 0; k < session->frames[i].value_num; ++k)
            bytes += count_value(&session->frames[i].values[k]);
    return bytes;
}
