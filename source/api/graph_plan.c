// SPDX-License-Identifier: Apache-2.0
// inspect.h, the memory plan.
#include <string.h>

#include "api/check.h"
#include "api/place.h"
#include "graph/graph.h"
#include "optimizer/optimizer.h"
#include "scheduler/part_report.h"
#include "scheduler/runner.h"
#include "scheduler/session.h"
#include "tengine/inspect.h"

_Static_assert((int)IR_PLACE_CHOSEN == TENGINE_PLACE_CHOSEN &&
                   (int)IR_PLACE_TOO_LARGE == TENGINE_PLACE_TOO_LARGE &&
                   (int)IR_PLACE_NO_ROOM == TENGINE_PLACE_NO_ROOM,
               "devices and programs have the same reasons");

// An arena, and the places of its blocks and steps in the lists.
typedef struct arena
{
    struct tengine_plan_arena shown;
    const ir_scratch_t* lender;  // NULL: its memory is its own
    int first_block;
    int first_step;
} arena_t;

typedef struct plan_lists
{
    struct vector* arenas;  // of arena_t
    struct vector* blocks;  // of ir_part_block_t, with tensors by their numbers in all graphs
    struct vector* places;  // of ir_block_place_t, one for each block
    struct vector* steps;   // of int32_t, nodes or parts by these numbers
} plan_lists_t;

static void release_lists(void* data)
{
    plan_lists_t* lists = data;
    release_vector(lists->arenas);
    release_vector(lists->blocks);
    release_vector(lists->places);
    release_vector(lists->steps);
}

static bool create_lists(plan_lists_t* lists)
{
    lists->arenas = create_vector(sizeof(arena_t), NULL);
    lists->blocks = create_vector(sizeof(ir_part_block_t), NULL);
    lists->places = create_vector(sizeof(ir_block_place_t), NULL);
    lists->steps = create_vector(sizeof(int32_t), NULL);
    return lists->arenas && lists->blocks && lists->places && lists->steps;
}

static int fail_memory(void)
{
    return tengine_error_set(TENGINE_ENOMEM, "out of memory for a memory plan");
}

// The number of the first arena in the same memory.
static int find_memory(const plan_lists_t* lists, const ir_scratch_t* lender)
{
    const int number = get_vector_num(lists->arenas);
    for (int i = 0; lender && i < number; ++i)
        if (((const arena_t*)get_vector_data(lists->arenas, i))->lender == lender) return i;
    return number;
}

static int begin_arena(plan_lists_t* lists, const struct tengine_plan_arena* shown,
                       const ir_scratch_t* lender)
{
    arena_t arena = {*shown, lender, get_vector_num(lists->blocks), get_vector_num(lists->steps)};
    arena.shown.memory = find_memory(lists, lender);
    return push_vector_data(lists->arenas, &arena) < 0 ? fail_memory() : TENGINE_OK;
}

// Numbers what has been appended since the arena began.
static void end_arena(plan_lists_t* lists, int first_tensor, int first_step)
{
    arena_t* arena = get_vector_data(lists->arenas, get_vector_num(lists->arenas) - 1);
    for (int i = arena->first_block; i < get_vector_num(lists->blocks); ++i) {
        ir_part_block_t* block = get_vector_data(lists->blocks, i);
        if (block->tensor >= 0) block->tensor += first_tensor;
    }
    for (int i = arena->first_step; i < get_vector_num(lists->steps); ++i)
        *(int32_t*)get_vector_data(lists->steps, i) += first_step;
    arena->shown.step_number = get_vector_num(lists->steps) - arena->first_step;
}

// The blocks of the list that are in this memory, and of these those that a part keeps, or has in
// runs; with both, `is_kept` is -1.
static int add_blocks(plan_lists_t* lists, const plan_lists_t* listed, int memory, int is_kept)
{
    arena_t* arena = get_vector_data(lists->arenas, get_vector_num(lists->arenas) - 1);
    for (int i = 0; i < get_vector_num(listed->blocks); ++i) {
        const ir_block_place_t* place = get_vector_data(listed->places, i);
        if (place->memory != memory || (is_kept >= 0 && (place->is_kept != 0) != is_kept)) continue;
        if (push_vector_data(lists->blocks, get_vector_data(listed->blocks, i)) < 0 ||
            push_vector_data(lists->places, place) < 0)
            return fail_memory();
        arena->shown.moved_bytes += place->moved;
    }
    for (int i = 0; i < get_vector_num(listed->steps); ++i)
        if (push_vector_data(lists->steps, get_vector_data(listed->steps, i)) < 0)
            return fail_memory();
    return TENGINE_OK;
}

// The costs of the memory, and of the slowest one of the device.
static void state_costs(struct tengine_plan_arena* shown, const ir_scratch_need_t* need,
                        const ir_scratch_need_t* slowest)
{
    memcpy(shown->name, need->own.memory, sizeof shown->name);
    shown->memory_bytes = need->memory_bytes;
    shown->ns_per_kib = need->ns_per_kib;
    shown->slowest_ns_per_kib = slowest->ns_per_kib;
}

static int list_boundaries(const place_t* place, plan_lists_t* listed)
{
    if (!create_lists(listed)) return fail_memory();
    for (int32_t i = 0; i < get_vector_num(place->graph->subgraph_list); ++i)
        if (push_vector_data(listed->steps, &i) < 0) return fail_memory();
    return list_ir_boundary_blocks(place->graph, listed->blocks, listed->places);
}

static int add_boundary(plan_lists_t* lists, const place_t* place, int memory,
                        const plan_lists_t* listed)
{
    const ir_graph_core_t* core = place->graph->core;
    const ir_session_t* session = get_ir_session(place->graph);
    const bool has_frames = session && session->frame_num > 0 && session->frames[0].memory;
    const bool is_last = memory + 1 >= core->plan_need_num;
    struct tengine_plan_arena shown = {
        .device = "",
        .subgraph = place->first_part,
        .bytes = (int64_t)(is_last ? core->plan_bytes : core->plan_needs[memory].bytes),
        .copy_number = has_frames ? session->frame_num : 1,
    };
    if (core->plan_need_num > 0)
        state_costs(&shown, &core->plan_needs[memory], &core->plan_needs[core->plan_need_num - 1]);
    TENGINE_RETURN_IF_ERROR(begin_arena(lists, &shown, NULL));
    TENGINE_RETURN_IF_ERROR(add_blocks(lists, listed, memory, -1));
    end_arena(lists, place->first_tensor, place->first_part);
    return TENGINE_OK;
}

static int add_boundaries(plan_lists_t* lists, const place_t* place)
{
    plan_lists_t listed = {0};
    int status = list_boundaries(place, &listed);
    const int number = place->graph->core->plan_need_num;
    for (int i = 0; i < (number > 0 ? number : 1) && status == TENGINE_OK; ++i)
        status = add_boundary(lists, place, i, &listed);
    release_lists(&listed);
    return status;
}

// `is_kept`: the bytes that the device keeps for the part, which no other part uses.
static int add_memory(plan_lists_t* lists, const place_t* place, int index, int memory, int is_kept,
                      const plan_lists_t* listed)
{
    const struct subgraph* compiled =
        get_ir_compiled_part(get_ir_graph_subgraph(place->graph, index));
    const ir_scratch_need_t* need = &compiled->core->scratch[memory];
    const bool is_one = compiled->core->memory_num < 2;
    const bool has_both = need->bytes > 0 && need->planned > 0;
    const size_t bytes = is_kept ? need->planned : need->bytes;
    struct tengine_plan_arena shown = {
        .device = compiled->device->name,
        .subgraph = place->first_part + index,
        .bytes = (int64_t)(is_one ? compiled->plan_bytes : bytes),
        .copy_number = 1,
        .is_kept = is_kept,
    };
    if (!is_one)
        state_costs(&shown, need, &compiled->core->scratch[compiled->core->memory_num - 1]);
    TENGINE_RETURN_IF_ERROR(begin_arena(lists, &shown, is_kept ? NULL : need->lender));
    TENGINE_RETURN_IF_ERROR(add_blocks(lists, listed, memory, has_both ? is_kept : -1));
    end_arena(lists, place->first_tensor, place->first_node);
    return TENGINE_OK;
}

// An arena for runs, one for what the device keeps, or both.
static int add_memories(plan_lists_t* lists, const place_t* place, int index, int memory,
                        const plan_lists_t* listed)
{
    const struct subgraph* compiled =
        get_ir_compiled_part(get_ir_graph_subgraph(place->graph, index));
    const ir_scratch_need_t* need = &compiled->core->scratch[memory];
    if (need->bytes > 0 || need->planned == 0)
        TENGINE_RETURN_IF_ERROR(add_memory(lists, place, index, memory, 0, listed));
    return need->planned == 0 ? TENGINE_OK : add_memory(lists, place, index, memory, 1, listed);
}

static int add_part(plan_lists_t* lists, const place_t* place, int index)
{
    const struct subgraph* part = get_ir_graph_subgraph(place->graph, index);
    const struct subgraph* compiled = get_ir_compiled_part(part);
    if (!compiled) return TENGINE_OK;
    plan_lists_t listed = {0};
    int status = create_lists(&listed) ? TENGINE_OK : fail_memory();
    if (status == TENGINE_OK)
        status = plan_ir_part(part, listed.blocks, listed.steps, listed.places);
    const int memory_num = compiled->core->memory_num > 1 ? compiled->core->memory_num : 1;
    for (int i = 0; i < memory_num && status == TENGINE_OK; ++i)
        status = add_memories(lists, place, index, i, &listed);
    release_lists(&listed);
    return status;
}

static int add_place(const place_t* place, void* lists)
{
    TENGINE_RETURN_IF_ERROR(add_boundaries(lists, place));
    for (int i = 0; i < get_vector_num(place->graph->subgraph_list); ++i)
        TENGINE_RETURN_IF_ERROR(add_part(lists, place, i));
    return TENGINE_OK;
}

static int fill_lists(const struct graph* execution, plan_lists_t* lists)
{
    if (!create_lists(lists)) return fail_memory();
    return visit_places(execution, add_place, lists);
}

static int list_plan(const struct graph* execution, ir_session_t* session)
{
    plan_lists_t lists = {0};
    release_vector(session->plan);
    session->plan = create_vector(sizeof lists, release_lists);
    int status = session->plan ? fill_lists(execution, &lists) : fail_memory();
    if (status == TENGINE_OK && push_vector_data(session->plan, &lists) < 0) status = fail_memory();
    if (status == TENGINE_OK) return TENGINE_OK;
    release_lists(&lists);
    release_vector(session->plan);
    session->plan = NULL;
    return status;
}

// Lists the plan; the lists are kept with the places until the next run. A graph that is only
// placed has no memory, and *out_lists is NULL.
static int find_lists(graph_t graph, const char* function, const plan_lists_t** out_lists)
{
    *out_lists = NULL;
    const struct graph* execution = find_execution(graph, function, NULL);
    if (!execution) return tengine_error_code();
    ir_session_t* session = get_ir_session(execution);
    if (!session) return TENGINE_OK;
    if (!session->plan || !session->places || session->places_run != session->started)
        TENGINE_RETURN_IF_ERROR(list_plan(execution, session));
    *out_lists = get_vector_data(session->plan, 0);
    return TENGINE_OK;
}

static const arena_t* find_arena(graph_t graph, int index, const char* function,
                                 const plan_lists_t** out_lists)
{
    if (find_lists(graph, function, out_lists) < 0) return NULL;
    const int number = *out_lists ? get_vector_num((*out_lists)->arenas) : 0;
    if (check_index(index, number, function, "arenas") < 0) return NULL;
    return get_vector_data((*out_lists)->arenas, index);
}

int tengine_graph_get_plan_arena_number(graph_t graph)
{
    const plan_lists_t* lists;
    if (find_lists(graph, __func__, &lists) < 0) return api_failure();
    return lists ? get_vector_num(lists->arenas) : 0;
}

int tengine_graph_get_plan_arena(graph_t graph, int index, struct tengine_plan_arena* out_arena,
                                 size_t size)
{
    const plan_lists_t* lists;
    const arena_t* arena = find_arena(graph, index, __func__, &lists);
    if (!arena || check_struct(out_arena, size, __func__, "out_arena") < 0) return api_failure();
    give_struct(&arena->shown, sizeof arena->shown, out_arena, size);
    return 0;
}

int tengine_graph_get_plan_block_number(graph_t graph)
{
    const plan_lists_t* lists;
    if (find_lists(graph, __func__, &lists) < 0) return api_failure();
    return lists ? get_vector_num(lists->blocks) : 0;
}

// The arena that has the block.
static int find_arena_of(const plan_lists_t* lists, int block)
{
    int begin = 0, end = get_vector_num(lists->arenas);
    while (end - begin > 1) {
        const int middle = begin + (end - begin) / 2;
        const arena_t* arena = get_vector_data(lists->arenas, middle);
        if (arena->first_block <= block)
            begin = middle;
        else
            end = middle;
    }
    return begin;
}

int tengine_graph_get_plan_block(graph_t graph, int index, struct tengine_plan_block* out_block,
                                 size_t size)
{
    const plan_lists_t* lists;
    if (find_lists(graph, __func__, &lists) < 0 ||
        check_struct(out_block, size, __func__, "out_block") < 0 ||
        check_index(index, lists ? get_vector_num(lists->blocks) : 0, __func__, "blocks") < 0)
        return api_failure();
    const ir_part_block_t* block = get_vector_data(lists->blocks, index);
    const ir_block_place_t* place = get_vector_data(lists->places, index);
    const struct tengine_plan_block made = {
        .arena = find_arena_of(lists, index),
        .tensor = block->tensor,
        .block = block->block,
        .offset = block->offset,
        .bytes = block->bytes,
        .first = block->first,
        .last = block->last,
        .reason = place->reason,
        .reason_bytes = place->bytes,
        .moved_bytes = place->moved,
    };
    give_struct(&made, sizeof made, out_block, size);
    return 0;
}

int tengine_graph_get_plan_steps(graph_t graph, int arena, int* steps, int capacity)
{
    const plan_lists_t* lists;
    const arena_t* found = find_arena(graph, arena, __func__, &lists);
    if (!found || (capacity > 0 && check_pointer(steps, __func__, "steps") < 0))
        return api_failure();
    for (int i = 0; i < found->shown.step_number && i < capacity; ++i)
        steps[i] = *(const int32_t*)get_vector_data(lists->steps, found->first_step + i);
    return found->shown.step_number;
}
