// SPDX-License-Identifier: Apache-2.0
#include "graph/scratch.h"

#include <stdio.h>

#include "base/alloc.h"
#include "graph/core.h"
#include "graph/preparation.h"
#include "tengine/device.h"
#include "tengine/error.h"

static ir_scratch_need_t* need_of(const struct subgraph* part)
{
    return &part->core->scratch;
}

static ir_scratch_t* lender_of(const struct subgraph* part)
{
    return need_of(part)->lender;
}

static size_t find_most(const ir_scratch_t* lender)
{
    size_t most = 0;
    for (const ir_scratch_need_t* need = lender->first; need; need = need->next)
        if (need->bytes > most) most = need->bytes;
    return most;
}

static void free_block(ir_scratch_t* lender)
{
    free_memory(lender->block);
    lender->block = NULL;
    lender->bytes = 0;
}

// Not cleared: pages that no run has written take neither time nor memory. The contents of the old
// block are not needed.
static int resize_block(ir_scratch_t* lender, size_t bytes, int part_index)
{
    size_t room;
    free_block(lender);
    if (checked_add(bytes, ALLOC_ALIGNMENT - 1, &room)) lender->block = alloc_raw_memory(room);
    if (!lender->block)
        return tengine_error_set(TENGINE_ENOMEM, "part %d: out of memory for an arena of %zu bytes",
                                 part_index, bytes);
    lender->bytes = bytes;
    return TENGINE_OK;
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

void set_ir_scratch_lender(struct subgraph* part, ir_scratch_t* lender)
{
    ir_scratch_need_t* need = need_of(part);
    remove_need(need);
    need->lender = lender ? lender : &need->own;
    need->next = need->lender->first;
    need->lender->first = need;
}

size_t count_ir_scratch_growth(const struct subgraph* part)
{
    const ir_scratch_t* lender = lender_of(part);
    const size_t most = find_most(lender);
    return most > lender->bytes ? most - lender->bytes : 0;
}

int fit_ir_scratch(const struct subgraph* part)
{
    ir_scratch_t* lender = lender_of(part);
    const size_t most = find_most(lender);
    if (most == lender->bytes) return TENGINE_OK;
    if (most > 0) return resize_block(lender, most, part->index);
    free_block(lender);
    return TENGINE_OK;
}

int lend_ir_scratch(struct subgraph* part)
{
    ir_scratch_need_t* need = need_of(part);
    if (need->bytes == 0) return TENGINE_OK;
    if (need->lender->bytes < need->bytes)
        TENGINE_RETURN_IF_ERROR(resize_block(need->lender, find_most(need->lender), part->index));
    const uintptr_t begin = (uintptr_t)need->lender->block;
    const uintptr_t mask = ALLOC_ALIGNMENT - 1;
    need->memory = (char*)need->lender->block + (((begin + mask) & ~mask) - begin);
    return TENGINE_OK;
}

void leave_ir_scratch(struct subgraph* part)
{
    remove_need(need_of(part));
}

// ---- for devices ----

int set_ir_part_scratch(struct subgraph* subgraph, size_t bytes)
{
    char what[80];
    snprintf(what, sizeof what, "an arena of the %s", subgraph->device->name);
    TENGINE_RETURN_IF_ERROR(check_ir_memory(subgraph->graph, (int64_t)bytes, what));
    need_of(subgraph)->bytes = bytes;
    need_of(subgraph)->device = subgraph->device;
    return TENGINE_OK;
}

void* get_ir_part_scratch(const struct subgraph* subgraph)
{
    return need_of(subgraph)->memory;
}
