// SPDX-License-Identifier: Apache-2.0
#include "scheduler/part_memory.h"

#include "graph/graph.h"
#include "graph/graph_pool.h"
#include "operator/param.h"
#include "scheduler/failure.h"
#include "scheduler/runner.h"

static int64_t count_node_tensors(const struct graph* graph)
{
    int64_t bytes = 0;
    for (int i = 0; i < graph->node_num; ++i)
        bytes += (int64_t)get_node_tensor_bytes(graph->node_list[i]);
    return bytes;
}

int64_t count_ir_own_tensors(const struct graph* graph)
{
    int64_t bytes = count_node_tensors(graph);
    for (int i = 0; i < graph->tensor_num; ++i) {
        const struct tensor* tensor = graph->tensor_list[i];
        if (tensor->free_host_mem) bytes += (int64_t)get_ir_tensor_bytes(tensor);
        if (tensor->core->pack_pool)
            bytes += (int64_t)get_graph_pack_share(tensor->core->pack_pool, tensor->core->pack);
    }
    return bytes;
}

static int ask_device(struct subgraph* compiled, int part_index, ir_device_memory_t* sum)
{
    struct device* device = compiled->device;
    ir_part_memory_t held = {0};
    tengine_error_clear();
    const int status = device->interface->memory(device, compiled, &held);
    if (status != 0) return fail_ir_entry(device, "memory", part_index, compiled->node_num, status);
    sum->held.compiled += held.compiled;
    sum->held.arena += held.arena;
    return TENGINE_OK;
}

int add_ir_part_memory(struct subgraph* compiled, int part_index, ir_device_memory_t* sum)
{
    const ir_scratch_need_t* scratch = compiled->core->scratch;
    size_t lent = 0;
    sum->tensors += count_ir_own_tensors(compiled->graph);
    for (int i = 0; i < compiled->core->scratch_num; ++i) {
        lent += scratch[i].bytes;
        if (scratch[i].lender == &scratch[i].own) sum->held.arena += (int64_t)scratch[i].own.bytes;
    }
    if (compiled->device->interface->memory) return ask_device(compiled, part_index, sum);
    ++sum->unknown_num;
    if (lent == 0) sum->held.arena += (int64_t)compiled->plan_bytes;
    return TENGINE_OK;
}

int count_ir_part_memory(const struct subgraph* part, int64_t* out_bytes)
{
    ir_device_memory_t sum = {0};
    TENGINE_RETURN_IF_ERROR(add_ir_part_memory(get_ir_compiled_part(part), part->index, &sum));
    *out_bytes = sum.held.compiled + sum.held.arena + sum.tensors;
    return TENGINE_OK;
}
