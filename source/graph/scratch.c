// SPDX-License-Identifier: Apache-2.0
#include "graph/scratch.h"

#include <stdio.h>

#include "base/alloc.h"
#include "base/named_memory.h"
#include "graph/core.h"
#include "graph/preparation.h"
#include "tengine/device.h"
#include "tengine/error.h"

size_t find_ir_scratch_need(const ir_scratch_t* lender)
{
    size_t most = 0;
    for (const ir_scratch_need_t* need = lender->first; need; need = need->next)
        if (need->bytes > most) most = need->bytes;
    return most;
}

static void free_block(ir_scratch_t* lender)
{
    free_named_memory(lender->block);
    lender->block = NULL;
    lender->bytes = 0;
}

// Not cleared: pages that no run has written take neither time nor memory. The contents of the old
// block are not needed.
static int resize_block(ir_scratch_t* lender, size_t bytes, int part_index)
{
    free_block(lender);
    lender->block = alloc_named_memory(lender->memory, bytes);
    if (lender->block) {
        lender->bytes = bytes;
        return TENGINE_OK;
    }
    const char* in = *lender->memory ? " in the memory " : "";
    return tengine_error_set(TENGINE_ENOMEM, "part %d: out of memory for an arena of %zu bytes%s%s",
                             part_index, bytes, in, lender->memory);
}

void list_ir_held_need(ir_scratch_need_t* need, ir_scratch_need_t** list)
{
    need->next_held = *list;
    if (*list) (*list)->held_link = &need->next_held;
    need->held_link = list;
    *list = need;
}

static void leave_list(ir_scratch_need_t* need)
{
    if (!need->held_link) return;
    *need->held_link = need->next_held;
    if (need->next_held) need->next_held->held_link = need->held_link;
    need->held_link = NULL;
}

static void remove_need(ir_scratch_need_t* need)
{
    if (!need->lender) return;
    ir_scratch_need_t** link = &need->lender->first;
    while (*link != need)
        link = &(*link)->next;
    *link = need->next;
    if (!need->lender->first) free_block(need->lender);
    need->lender = NULL;
}

void set_ir_scratch_lender(ir_scratch_need_t* need, ir_scratch_t* lender)
{
    remove_need(need);
    need->lender = lender ? lender : &need->own;
    need->next = need->lender->first;
    need->lender->first = need;
}

int fit_ir_scratch(ir_scratch_t* lender, int part_index)
{
    const size_t most = find_ir_scratch_need(lender);
    if (most == lender->bytes) return TENGINE_OK;
    if (most > 0) return resize_block(lender, most, part_index);
    free_block(lender);
    return TENGINE_OK;
}

ir_scratch_need_t* create_ir_scratch_needs(int number)
{
    ir_scratch_need_t* needs = alloc_small_memory(sizeof *needs * (size_t)number);
    for (int i = 0; needs && i < number; ++i) {
        needs[i].room = SIZE_MAX;
        set_ir_scratch_lender(&needs[i], NULL);
    }
    return needs;
}

void release_ir_scratch_needs(ir_scratch_need_t* needs, int number)
{
    for (int i = 0; i < number; ++i) {
        remove_need(&needs[i]);
        leave_list(&needs[i]);
    }
    free_memory(needs);
}

int begin_ir_scratch(struct subgraph* part, int number)
{
    ir_subgraph_core_t* core = part->core;
    core->scratch = create_ir_scratch_needs(number);
    if (!core->scratch)
        return tengine_error_set(TENGINE_ENOMEM, "part %d: out of memory for its memories",
                                 part->index);
    core->scratch_num = number;
    return TENGINE_OK;
}

int lend_ir_need(ir_scratch_need_t* need, int part_index)
{
    if (need->bytes == 0) return TENGINE_OK;
    if (need->lender->bytes < need->bytes)
        TENGINE_RETURN_IF_ERROR(
            resize_block(need->lender, find_ir_scratch_need(need->lender), part_index));
    const uintptr_t begin = (uintptr_t)need->lender->block;
    const uintptr_t mask = ALLOC_ALIGNMENT - 1;
    need->address = (char*)need->lender->block + (((begin + mask) & ~mask) - begin);
    return TENGINE_OK;
}

int lend_ir_scratch(struct subgraph* part)
{
    for (int i = 0; i < part->core->scratch_num; ++i)
        TENGINE_RETURN_IF_ERROR(lend_ir_need(&part->core->scratch[i], part->index));
    return TENGINE_OK;
}

void leave_ir_scratch(struct subgraph* part)
{
    release_ir_scratch_needs(part->core->scratch, part->core->scratch_num);
    part->core->scratch = NULL;
    part->core->scratch_num = 0;
}

// ---- for devices ----

// NULL: the part has no such memory.
static ir_scratch_need_t* find_need(const struct subgraph* part, int memory)
{
    const bool is_there = memory >= 0 && memory < part->core->scratch_num;
    return is_there ? &part->core->scratch[memory] : NULL;
}

int set_ir_part_scratch(struct subgraph* subgraph, int memory, size_t bytes)
{
    char what[80];
    ir_scratch_need_t* need = find_need(subgraph, memory);
    if (!need)
        return tengine_error_set(TENGINE_ERANGE, "part %d has %d memories, not %d", subgraph->index,
                                 subgraph->core->scratch_num, memory);
    snprintf(what, sizeof what, "an arena of the %s", subgraph->device->name);
    TENGINE_RETURN_IF_ERROR(check_ir_memory(subgraph->graph, (int64_t)bytes, what));
    need->bytes = bytes;
    need->device = subgraph->device;
    return TENGINE_OK;
}

void* get_ir_part_scratch(const struct subgraph* subgraph, int memory)
{
    const ir_scratch_need_t* need = find_need(subgraph, memory);
    return need ? need->address : NULL;
}

void set_ir_part_plan_bytes(struct subgraph* subgraph, int memory, size_t bytes)
{
    ir_scratch_need_t* need = find_need(subgraph, memory);
    if (need) need->planned = bytes;
}

size_t get_ir_part_room(const struct subgraph* subgraph, int memory)
{
    const ir_scratch_need_t* need = find_need(subgraph, memory);
    return need ? need->room : 0;
}
