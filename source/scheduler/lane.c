// SPDX-License-Identifier: Apache-2.0
#include "scheduler/lane.h"

#include <string.h>

#include "base/alloc.h"
#include "base/minimal.h"
#include "base/named_memory.h"
#include "graph/graph.h"
#include "graph/preparation.h"
#include "scheduler/failure.h"
#include "scheduler/runner.h"
#include "scheduler/shape_cache.h"

// ---- lenders ----

static int count_lenders(const ir_lanes_t* lanes)
{
    return lanes->lenders ? get_vector_num(lanes->lenders) : 0;
}

static ir_scratch_t* get_lender(const ir_lanes_t* lanes, int index)
{
    return *(ir_scratch_t**)get_vector_data(lanes->lenders, index);
}

void release_ir_lanes(ir_lanes_t* lanes)
{
    for (int i = 0; i < count_lenders(lanes); ++i)
        free_memory(get_lender(lanes, i));
    if (lanes->lenders) release_vector(lanes->lenders);
    lanes->lenders = NULL;
    for (; lanes->held; lanes->held = lanes->held->next_held)
        lanes->held->held_link = NULL;
}

static ir_scratch_t* find_lender(const ir_lanes_t* lanes, int lane, const char* memory)
{
    for (int i = 0; i < count_lenders(lanes); ++i) {
        ir_scratch_t* lender = get_lender(lanes, i);
        if (lender->lane == lane && strcmp(lender->memory, memory) == 0) return lender;
    }
    return NULL;
}

static int find_or_add_lender(ir_lanes_t* lanes, int lane, const char* memory,
                              ir_scratch_t** out_lender)
{
    *out_lender = find_lender(lanes, lane, memory);
    if (*out_lender) return TENGINE_OK;
    ir_scratch_t* lender = alloc_small_memory(sizeof *lender);
    if (lender && !lanes->lenders) lanes->lenders = create_vector(sizeof lender, NULL);
    if (!lender || !lanes->lenders || push_vector_data(lanes->lenders, &lender) < 0) {
        free_memory(lender);
        return tengine_error_set(TENGINE_ENOMEM, "out of memory for the memory of parts");
    }
    lender->lane = lane;
    memcpy(lender->memory, memory, sizeof lender->memory);
    *out_lender = lender;
    return TENGINE_OK;
}

// The lanes of an execution graph whose scheduler is not concurrent, and its own one among them:
// bodies have those of the graph around them.
static ir_lanes_t* find_lanes(const struct graph* execution, int* out_lane)
{
    *out_lane = 0;
    for (const struct graph* outer; (outer = execution->core->source->core->outer); ++*out_lane) {
        if (outer->run_options->concurrent) break;
        execution = outer;
    }
    return get_ir_lanes(execution->core->source);
}

// Those whose parts divide the memories with the parts of this graph; *out_lane is its own one, -1:
// its parts are in several.
static ir_lanes_t* find_neighbours(const struct graph* execution, int* out_lane)
{
    *out_lane = -1;
    return execution->run_options->concurrent ? get_ir_lanes(execution->core->source)
                                              : find_lanes(execution, out_lane);
}

// ---- the memories of a part ----

// The use of a memory by the preparations of a source graph.
typedef struct memory_use
{
    size_t others;  // needs of other lanes, and of parts that are in no lane
    size_t held;    // blocks that lanes have now
    size_t own;     // and that the part's lane has
} memory_use_t;

// A block has a header, and begins at a multiple of the alignment.
static size_t count_with_header(size_t bytes)
{
    return bytes == 0 ? 0 : (bytes + 2 * ALLOC_ALIGNMENT - 1) & ~(size_t)(ALLOC_ALIGNMENT - 1);
}

static void add_own_lenders(const struct graph* execution, const char* memory, memory_use_t* use)
{
    for (int i = 0; i < get_vector_num(execution->subgraph_list); ++i) {
        const struct subgraph* compiled = get_ir_compiled_part(get_ir_graph_subgraph(execution, i));
        for (int k = 0; compiled && k < compiled->core->memory_num; ++k) {
            const ir_scratch_need_t* need = &compiled->core->scratch[k];
            if (need->lender == &need->own && strcmp(need->own.memory, memory) == 0)
                use->others += count_with_header(need->bytes);
        }
    }
}

// `is_part`: for a part, which may have what the lane of the graph has; else for memory from prerun
// to postrun.
static memory_use_t count_use(const struct graph* execution, const char* memory, bool is_part)
{
    memory_use_t use = {0};
    int own_lane;
    const ir_lanes_t* lanes = find_neighbours(execution, &own_lane);
    for (int i = 0; i < count_lenders(lanes); ++i) {
        const ir_scratch_t* lender = get_lender(lanes, i);
        if (strcmp(lender->memory, memory) != 0) continue;
        use.held += count_with_header(lender->bytes);
        if (is_part && lender->lane == own_lane)
            use.own = lender->bytes;
        else
            use.others += count_with_header(find_ir_scratch_need(lender));
    }
    for (const ir_scratch_need_t* need = lanes->held; need; need = need->next_held) {
        if (strcmp(need->own.memory, memory) != 0) continue;
        use.held += count_with_header(need->planned);
        use.others += count_with_header(need->planned);
    }
    if (execution->run_options->concurrent) add_own_lenders(execution, memory, &use);
    return use;
}

static size_t find_room(const struct graph* execution, const ir_memory_t* memory, bool is_part)
{
    if (memory->bytes == 0) return SIZE_MAX;
    const struct graph* outer = execution->core->source->core->outer;
    // Such parts run beside others that are not known here.
    if (outer && outer->run_options->concurrent) return 0;
    const memory_use_t use = count_use(execution, memory->name, is_part);
    size_t bytes = (uint64_t)memory->bytes > SIZE_MAX ? SIZE_MAX : (size_t)memory->bytes;
    size_t piece;
    // The program's block may be smaller than the device states, and other graphs may use it.
    const bool has_block = find_named_memory_room(memory->name, &piece);
    if (has_block && piece + use.held < bytes) bytes = piece + use.held;
    bytes = bytes > use.others ? bytes - use.others : 0;
    const size_t largest = has_block && piece > use.own ? piece : use.own;
    if (has_block && largest < bytes) bytes = largest;
    return bytes & ~(size_t)(ALLOC_ALIGNMENT - 1);  // plans count whole lines
}

static int check_memories(int status, struct vector* memories)
{
    const int number = get_vector_num(memories);
    if (status != 0 || number <= IR_MOST_MEMORIES) return status;
    return tengine_error_set(TENGINE_EDEVICE, "%d memories: expected at most %d", number,
                             IR_MOST_MEMORIES);
}

static int list_memories(const struct subgraph* part, const struct subgraph* compiled,
                         struct vector* out_memories)
{
    struct device* device = compiled->device;
    tengine_error_clear();
    const int status = check_memories(
        device->interface->memories(device, compiled->graph, out_memories), out_memories);
    return status == 0 ? TENGINE_OK
                       : fail_ir_entry(device, "memories", part->index, part->node_num, status);
}

static void take_memory(ir_scratch_need_t* need, const ir_memory_t* memory, size_t room)
{
    memcpy(need->own.memory, memory->name, sizeof memory->name - 1);
    need->memory_bytes = memory->bytes;
    need->ns_per_kib = memory->ns_per_kib;
    need->room = room;
}

// A part that may be abandoned runs beside others that are not known here.
static void take_memories(const struct subgraph* part, struct subgraph* compiled,
                          const struct vector* memories, bool isolated)
{
    compiled->core->memory_num = get_vector_num(memories);
    for (int i = 0; i < get_vector_num(memories); ++i) {
        const ir_memory_t* memory = get_vector_data(memories, i);
        const bool has_none = isolated && memory->bytes > 0;
        take_memory(&compiled->core->scratch[i], memory,
                    has_none ? 0 : find_room(part->graph, memory, true));
    }
}

int begin_ir_part_memories(const struct subgraph* part, struct subgraph* compiled, bool isolated)
{
    if (IS_MINIMAL || !compiled->device->interface->memories) return begin_ir_scratch(compiled, 1);
    struct vector* memories = create_vector(sizeof(ir_memory_t), NULL);
    if (!memories) return tengine_error_set(TENGINE_ENOMEM, "out of memory for a list of memories");
    int status = list_memories(part, compiled, memories);
    const int number = get_vector_num(memories);
    if (status == TENGINE_OK) status = begin_ir_scratch(compiled, number > 0 ? number : 1);
    if (status == TENGINE_OK) take_memories(part, compiled, memories, isolated);
    release_vector(memories);
    return status;
}

void hold_ir_part_memories(const struct subgraph* part, struct subgraph* compiled)
{
    if (IS_MINIMAL) return;
    int lane;
    for (int i = 0; i < compiled->core->memory_num; ++i)
        if (compiled->core->scratch[i].planned > 0)
            list_ir_held_need(&compiled->core->scratch[i],
                              &find_neighbours(part->graph, &lane)->held);
}

// ---- the memories of boundary tensors ----

static int make_plan_needs(struct graph* execution, const struct vector* memories)
{
    int lane;
    ir_graph_core_t* core = execution->core;
    const int number = get_vector_num(memories);
    if (number < 2) return TENGINE_OK;
    core->plan_needs = create_ir_scratch_needs(number);
    if (!core->plan_needs)
        return tengine_error_set(TENGINE_ENOMEM, "out of memory for a list of memories");
    core->plan_need_num = number;
    ir_lanes_t* lanes = find_lanes(execution, &lane);
    for (int i = 0; i < number; ++i) {
        const ir_memory_t* memory = get_vector_data(memories, i);
        take_memory(&core->plan_needs[i], memory, find_room(execution, memory, false));
        core->plan_needs[i].device = find_default_device();
        list_ir_held_need(&core->plan_needs[i], &lanes->held);
    }
    return TENGINE_OK;
}

int begin_ir_boundary_memories(struct graph* execution)
{
    struct device* device = find_default_device();
    if (IS_MINIMAL || !device->interface->memories || execution->run_options->concurrent)
        return TENGINE_OK;
    struct vector* memories = create_vector(sizeof(ir_memory_t), NULL);
    if (!memories) return tengine_error_set(TENGINE_ENOMEM, "out of memory for a list of memories");
    tengine_error_clear();
    int status = check_memories(device->interface->memories(device, execution, memories), memories);
    if (status == 0) status = make_plan_needs(execution, memories);
    release_vector(memories);
    return status;
}

// ---- the lanes of parts ----

static int put_into_lane(struct subgraph* part, ir_lanes_t* lanes, int lane)
{
    const struct subgraph* compiled = get_ir_compiled_part(part);
    if (may_abandon_ir_part(part)) return TENGINE_OK;
    for (int i = 0; i < compiled->core->scratch_num; ++i) {
        ir_scratch_need_t* need = &compiled->core->scratch[i];
        ir_scratch_t* lender;
        if (need->bytes == 0) continue;
        TENGINE_RETURN_IF_ERROR(find_or_add_lender(lanes, lane, need->own.memory, &lender));
        set_ir_scratch_lender(need, lender);
        part->core->shared_scratch[i] = (ir_shared_scratch_t){lender, (int64_t)need->bytes};
    }
    return TENGINE_OK;
}

int put_ir_part_into_lane(struct subgraph* part, int lane)
{
    return put_into_lane(part, get_ir_lanes(part->graph->core->source), lane);
}

int put_ir_parts_into_lane(struct graph* execution)
{
    int lane;
    if (execution->run_options->concurrent) return TENGINE_OK;
    ir_lanes_t* lanes = find_lanes(execution, &lane);
    for (int i = 0; i < get_vector_num(execution->subgraph_list); ++i)
        TENGINE_RETURN_IF_ERROR(put_into_lane(get_ir_graph_subgraph(execution, i), lanes, lane));
    return TENGINE_OK;
}

static int fit(struct graph* execution, ir_scratch_t* lender, int part_index)
{
    const size_t most = find_ir_scratch_need(lender);
    const size_t growth = most > lender->bytes ? most - lender->bytes : 0;
    TENGINE_RETURN_IF_ERROR(claim_ir_memory(execution, (int64_t)growth, "the arenas of its parts"));
    const int status = fit_ir_scratch(lender, part_index);
    size_t room;
    int lane;
    if (status == TENGINE_ENOMEM && find_named_memory_room(lender->memory, &room))
        find_neighbours(execution, &lane)->is_crowded = true;
    return status;
}

int fit_ir_lanes(struct graph* execution)
{
    for (int i = 0; i < get_vector_num(execution->subgraph_list); ++i) {
        const struct subgraph* compiled = get_ir_compiled_part(get_ir_graph_subgraph(execution, i));
        for (int k = 0; k < compiled->core->scratch_num; ++k)
            TENGINE_RETURN_IF_ERROR(fit(execution, compiled->core->scratch[k].lender, i));
    }
    return TENGINE_OK;
}
