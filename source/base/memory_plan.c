// SPDX-License-Identifier: Apache-2.0
// Static memory planning. Contract and algorithm are in memory_plan.h.
#include "base/memory_plan.h"

#include <stdbool.h>
#include <string.h>

#include "base/alloc.h"
#include "base/sort.h"
#include "tengine/error.h"

// A block that has an offset. Placed blocks are in one array in the order of offsets, small enough
// that the scan for every further block runs in the cache.
typedef struct placed_block
{
    size_t begin;
    size_t end;
    int32_t first_use;
    int32_t last_use;
} placed_block_t;

static int check_blocks(const memory_block_t* blocks, int64_t block_num, size_t alignment)
{
    size_t total = 0;
    for (int64_t i = 0; i < block_num; ++i) {
        const memory_block_t* block = &blocks[i];
        if (block->first_use > block->last_use) {
            return tengine_error_set(TENGINE_EINVAL,
                                     "memory plan: block %lld has first use %d after last use %d",
                                     (long long)i, (int)block->first_use, (int)block->last_use);
        }
        // Once the sum of all aligned sizes fits, no offset or end can wrap.
        size_t aligned;
        if (!checked_align(block->size, alignment, &aligned) ||
            !checked_add(total, aligned, &total)) {
            return tengine_error_set(TENGINE_ELIMIT,
                                     "memory plan: %lld blocks exceed the address space",
                                     (long long)block_num);
        }
    }
    return TENGINE_OK;
}

static size_t align_size(size_t size, size_t alignment)
{
    return (size + alignment - 1) & ~(alignment - 1);
}

// ---- few blocks: by size ----

// Compares by size, the largest first. The rest of the key makes the order total, hence the plan
// deterministic.
static int compare_blocks(const void* left, const void* right)
{
    const memory_block_t* a = *(memory_block_t* const*)left;
    const memory_block_t* b = *(memory_block_t* const*)right;
    if (a->size != b->size) return a->size > b->size ? -1 : 1;
    if (a->first_use != b->first_use) return a->first_use < b->first_use ? -1 : 1;
    return (a > b) - (a < b);
}

// Returns the start of the smallest gap that holds `size` bytes between the placed blocks that live
// at the same time as `block`, or the end of the last of these.
static size_t find_offset(const placed_block_t* placed, int64_t placed_num,
                          const memory_block_t* block, size_t size)
{
    size_t best_offset = 0;
    size_t best_gap = SIZE_MAX;
    size_t free_from = 0;
    for (int64_t i = 0; i < placed_num; ++i) {
        const placed_block_t* other = &placed[i];
        if (other->last_use < block->first_use || other->first_use > block->last_use) continue;
        if (other->begin > free_from) {
            const size_t gap = other->begin - free_from;
            if (gap >= size && gap < best_gap) {
                best_gap = gap;
                best_offset = free_from;
            }
        }
        if (other->end > free_from) free_from = other->end;
    }
    return best_gap < SIZE_MAX ? best_offset : free_from;
}

static void insert_block(placed_block_t* placed, int64_t placed_num, placed_block_t block)
{
    int64_t low = 0;
    int64_t high = placed_num;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (placed[middle].begin <= block.begin) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    memmove(&placed[low + 1], &placed[low], (size_t)(placed_num - low) * sizeof *placed);
    placed[low] = block;
}

static size_t place_by_size(memory_block_t** order, int64_t block_num, size_t alignment,
                            placed_block_t* placed)
{
    size_t total = 0;
    for (int64_t i = 0; i < block_num; ++i) {
        memory_block_t* block = order[i];
        const size_t size = align_size(block->size, alignment);
        if (size == 0) {  // sizes are sorted: all blocks that follow are empty, too
            block->offset = 0;
            continue;
        }
        block->offset = find_offset(placed, i, block, size);
        const size_t end = block->offset + size;
        insert_block(placed, i,
                     (placed_block_t){block->offset, end, block->first_use, block->last_use});
        if (end > total) total = end;
    }
    return total;
}

// ---- many blocks: by time ----

// A free range of the arena at the present step. Gaps are in the order of offsets; adjacent ones
// are merged.
typedef struct gap
{
    size_t begin;
    size_t end;
} gap_t;

_Static_assert(sizeof(placed_block_t) >= sizeof(gap_t), "room for one is room for the other");

typedef struct gap_list
{
    gap_t* gaps;  // has room for one more than there are blocks
    int64_t number;
    size_t total;  // the size of the arena so far: everything after it is free
} gap_list_t;

// Returns the index of the first gap that begins after `offset`.
static int64_t find_gap(const gap_list_t* list, size_t offset)
{
    int64_t low = 0;
    int64_t high = list->number;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (list->gaps[middle].begin <= offset)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void remove_gap(gap_list_t* list, int64_t index)
{
    --list->number;
    memmove(&list->gaps[index], &list->gaps[index + 1],
            (size_t)(list->number - index) * sizeof *list->gaps);
}

static void insert_gap(gap_list_t* list, int64_t index, gap_t gap)
{
    memmove(&list->gaps[index + 1], &list->gaps[index],
            (size_t)(list->number - index) * sizeof *list->gaps);
    list->gaps[index] = gap;
    ++list->number;
}

static void free_range(gap_list_t* list, gap_t freed)
{
    int64_t next = find_gap(list, freed.begin);
    if (next < list->number && list->gaps[next].begin == freed.end) {
        freed.end = list->gaps[next].end;
        remove_gap(list, next);
    }
    if (next > 0 && list->gaps[next - 1].end == freed.begin)
        list->gaps[next - 1].end = freed.end;
    else
        insert_gap(list, next, freed);
}

// Takes `size` bytes from the smallest gap that is large enough, or from the end of the arena.
// Returns their offset.
static size_t take_range(gap_list_t* list, size_t size)
{
    int64_t best = -1;
    size_t best_size = SIZE_MAX;
    for (int64_t i = 0; i < list->number && best_size > size; ++i) {
        const size_t room = list->gaps[i].end - list->gaps[i].begin;
        if (room < size || room >= best_size) continue;
        best = i;
        best_size = room;
    }
    if (best < 0) {
        list->total += size;
        return list->total - size;
    }
    const size_t offset = list->gaps[best].begin;
    list->gaps[best].begin += size;
    if (best_size == size) remove_gap(list, best);
    return offset;
}

static int compare_begins(const void* left, const void* right)
{
    const memory_block_t* a = *(memory_block_t* const*)left;
    const memory_block_t* b = *(memory_block_t* const*)right;
    if (a->first_use != b->first_use) return a->first_use < b->first_use ? -1 : 1;
    return compare_blocks(left, right);
}

static int compare_ends(const void* left, const void* right)
{
    const memory_block_t* a = *(memory_block_t* const*)left;
    const memory_block_t* b = *(memory_block_t* const*)right;
    if (a->last_use != b->last_use) return a->last_use < b->last_use ? -1 : 1;
    return (a > b) - (a < b);
}

// `begins` and `ends` are the blocks in the order of their first and their last steps.
static size_t place_by_time(memory_block_t** begins, memory_block_t** ends, int64_t block_num,
                            size_t alignment, gap_t* gaps)
{
    gap_list_t list = {gaps, 0, 0};
    int64_t ended = 0;
    for (int64_t i = 0; i < block_num; ++i) {
        memory_block_t* block = begins[i];
        for (; ends[ended]->last_use < block->first_use; ++ended) {
            const size_t size = align_size(ends[ended]->size, alignment);
            const size_t offset = ends[ended]->offset;
            if (size > 0) free_range(&list, (gap_t){offset, offset + size});
        }
        const size_t size = align_size(block->size, alignment);
        block->offset = size > 0 ? take_range(&list, size) : 0;
    }
    return list.total;
}

// Puts the blocks into `order` by their first steps, and behind these by their last.
static void sort_by_time(memory_block_t* blocks, int64_t block_num, memory_block_t** order)
{
    memory_block_t** ends = order + block_num;
    for (int64_t i = 0; i < block_num; ++i)
        order[i] = ends[i] = &blocks[i];
    sort_items(order, (size_t)block_num, sizeof *order, compare_begins);
    sort_items(ends, (size_t)block_num, sizeof *ends, compare_ends);
}

static void plan_many(memory_block_t* blocks, int64_t block_num, size_t alignment,
                      memory_block_t** order, void* room, size_t* out_total)
{
    sort_by_time(blocks, block_num, order);
    *out_total = place_by_time(order, order + block_num, block_num, alignment, room);
}

static void plan_few(memory_block_t* blocks, int64_t block_num, size_t alignment,
                     memory_block_t** order, void* room, size_t* out_total)
{
    for (int64_t i = 0; i < block_num; ++i)
        order[i] = &blocks[i];
    sort_items(order, (size_t)block_num, sizeof *order, compare_blocks);
    *out_total = place_by_size(order, block_num, alignment, room);
}

static int check_arguments(const memory_block_t* blocks, int64_t block_num, size_t alignment,
                           const size_t* out_total)
{
    if (!out_total || block_num < 0 || (!blocks && block_num > 0) || alignment == 0 ||
        (alignment & (alignment - 1)) != 0) {
        return tengine_error_set(TENGINE_EINVAL,
                                 "memory plan: NULL, %lld blocks or alignment %zu: expected 0 or "
                                 "more blocks and a power of two",
                                 (long long)block_num, alignment);
    }
    return check_blocks(blocks, block_num, alignment);
}

typedef struct plan_room
{
    memory_block_t** order;  // for two pointers to each block
    void* placed;            // for placed blocks or gaps, one more than there are blocks
} plan_room_t;

static void free_room(plan_room_t* room)
{
    free_memory(room->placed);
    free_memory(room->order);
}

static int allocate_room(int64_t block_num, plan_room_t* out_room)
{
    size_t order_size;
    size_t placed_size;
    if (!checked_multiply((size_t)block_num, 2 * sizeof(memory_block_t*), &order_size) ||
        !checked_multiply((size_t)block_num + 1, sizeof(placed_block_t), &placed_size)) {
        return tengine_error_set(TENGINE_ELIMIT, "memory plan: %lld blocks", (long long)block_num);
    }
    *out_room = (plan_room_t){alloc_memory(order_size), alloc_memory(placed_size)};
    if (out_room->order && out_room->placed) return TENGINE_OK;
    free_room(out_room);
    return tengine_error_set(TENGINE_ENOMEM, "memory plan: out of memory for %lld blocks",
                             (long long)block_num);
}

int plan_memory(memory_block_t* blocks, int64_t block_num, size_t alignment, size_t* out_total)
{
    plan_room_t room;
    TENGINE_RETURN_IF_ERROR(check_arguments(blocks, block_num, alignment, out_total));
    TENGINE_RETURN_IF_ERROR(allocate_room(block_num, &room));
    const bool many = block_num > MEMORY_PLAN_BY_SIZE;
    (many ? plan_many : plan_few)(blocks, block_num, alignment, room.order, room.placed, out_total);
    free_room(&room);
    return TENGINE_OK;
}

// ---- a plan from elsewhere ----

static int check_offset(const memory_block_t* block, int64_t index, size_t alignment, size_t most)
{
    const size_t size = align_size(block->size, alignment);
    if (block->offset % alignment == 0 && size <= most && block->offset <= most - size)
        return TENGINE_OK;
    return tengine_error_set(TENGINE_EFORMAT,
                             "memory plan: block %lld has %zu bytes at offset %zu, expected a "
                             "multiple of %zu within %zu bytes",
                             (long long)index, block->size, block->offset, alignment, most);
}

// Takes the block's own bytes, in place of a free range; false if a block that lives has some.
static bool claim_range(gap_list_t* live, const memory_block_t* block, size_t size)
{
    const int64_t next = find_gap(live, block->offset);
    if (next > 0 && live->gaps[next - 1].end > block->offset) return false;
    if (next < live->number && live->gaps[next].begin < block->offset + size) return false;
    insert_gap(live, next, (gap_t){block->offset, block->offset + size});
    if (block->offset + size > live->total) live->total = block->offset + size;
    return true;
}

// Follows the blocks by time, as place_by_time(); `live` has the ranges in use.
static int check_by_time(memory_block_t** begins, memory_block_t** ends, int64_t block_num,
                         size_t alignment, gap_list_t* live)
{
    int64_t ended = 0;
    for (int64_t i = 0; i < block_num; ++i) {
        const memory_block_t* block = begins[i];
        for (; ends[ended]->last_use < block->first_use; ++ended)
            if (ends[ended]->size > 0) remove_gap(live, find_gap(live, ends[ended]->offset) - 1);
        const size_t size = align_size(block->size, alignment);
        if (size == 0 || claim_range(live, block, size)) continue;
        return tengine_error_set(TENGINE_EFORMAT,
                                 "memory plan: the block of %zu bytes at offset %zu has bytes of "
                                 "another one in step %d",
                                 block->size, block->offset, (int)block->first_use);
    }
    return TENGINE_OK;
}

static int check_offsets(const memory_block_t* blocks, int64_t block_num, size_t alignment)
{
    size_t most = 0;
    for (int64_t i = 0; i < block_num; ++i)
        most += align_size(blocks[i].size, alignment);
    for (int64_t i = 0; i < block_num; ++i)
        TENGINE_RETURN_IF_ERROR(check_offset(&blocks[i], i, alignment, most));
    return TENGINE_OK;
}

int check_memory_plan(const memory_block_t* blocks, int64_t block_num, size_t alignment,
                      size_t* out_total)
{
    plan_room_t room;
    TENGINE_RETURN_IF_ERROR(check_arguments(blocks, block_num, alignment, out_total));
    TENGINE_RETURN_IF_ERROR(check_offsets(blocks, block_num, alignment));
    TENGINE_RETURN_IF_ERROR(allocate_room(block_num, &room));
    gap_list_t live = {room.placed, 0, 0};
    // Nothing is written to the blocks.
    sort_by_time((memory_block_t*)blocks, block_num, room.order);
    const int status =
        check_by_time(room.order, room.order + block_num, block_num, alignment, &live);
    *out_total = live.total;
    free_room(&room);
    return status;
}

// ---- several memories ----

// A block that has no memory yet, and its rank.
typedef struct candidate
{
    memory_block_t* block;
    double rank;
    size_t offset;
    int32_t index;
    bool is_placed;
} candidate_t;

// The orders in which blocks are tried.
typedef enum fill_rule
{
    FILL_BY_BYTE_AND_STEP,
    FILL_BY_BYTE,
    FILL_BY_SAVING,
    FILL_BY_SIZE,
    FILL_RULE_NUM
} fill_rule_t;

// One memory that is filled.
typedef struct fill
{
    candidate_t* candidates;  // of which none is placed at first
    int64_t number;
    const uint64_t* moved;
    size_t alignment;
    size_t bytes;            // the size of the memory
    bool is_last;            // the memory is the slowest one
    placed_block_t* placed;  // room for all
    candidate_t* best;       // the same candidates, as the best rule has placed them
    uint64_t best_moved;
    size_t best_total;
} fill_t;

static double find_rank(fill_rule_t rule, const memory_block_t* block, uint64_t moved)
{
    if (rule == FILL_BY_SIZE) return (double)block->size;
    if (rule == FILL_BY_SAVING || block->size == 0) return (double)moved;
    const double by_byte = (double)moved / (double)block->size;
    if (rule == FILL_BY_BYTE) return by_byte;
    return by_byte / ((double)block->last_use - (double)block->first_use + 1);
}

// The highest first; the rest of the key makes the order total.
static int compare_ranks(const void* left, const void* right)
{
    const candidate_t* a = left;
    const candidate_t* b = right;
    if (a->rank != b->rank) return a->rank > b->rank ? -1 : 1;
    return compare_blocks(&a->block, &b->block);
}

static void fill_by_rule(fill_t* fill, fill_rule_t rule)
{
    uint64_t moved = 0;
    size_t total = 0;
    int64_t placed_num = 0;
    for (int64_t i = 0; i < fill->number; ++i)
        fill->candidates[i].rank =
            find_rank(rule, fill->candidates[i].block, fill->moved[fill->candidates[i].index]);
    sort_items(fill->candidates, (size_t)fill->number, sizeof(candidate_t), compare_ranks);
    for (int64_t i = 0; i < fill->number; ++i) {
        candidate_t* each = &fill->candidates[i];
        const memory_block_t* block = each->block;
        const size_t size = align_size(block->size, fill->alignment);
        each->offset = size == 0 ? 0 : find_offset(fill->placed, placed_num, block, size);
        each->is_placed = size <= fill->bytes && each->offset <= fill->bytes - size &&
                          (fill->is_last || fill->moved[each->index] > 0);
        if (!each->is_placed) continue;
        const size_t end = each->offset + size;
        moved += fill->moved[each->index];
        if (end > total) total = end;
        if (size == 0) continue;
        insert_block(fill->placed, placed_num++,
                     (placed_block_t){each->offset, end, block->first_use, block->last_use});
    }
    if (rule > 0 &&
        (moved < fill->best_moved || (moved == fill->best_moved && total >= fill->best_total)))
        return;
    fill->best_moved = moved;
    fill->best_total = total;
    memcpy(fill->best, fill->candidates, (size_t)fill->number * sizeof(candidate_t));
}

// Gives the blocks that the best rule has placed their memory; the others remain candidates.
static void take_best(fill_t* fill, int32_t tier, int32_t* out_tiers)
{
    int64_t left = 0;
    for (int64_t i = 0; i < fill->number; ++i) {
        const candidate_t* each = &fill->best[i];
        if (each->is_placed) {
            each->block->offset = each->offset;
            out_tiers[each->index] = tier;
        } else {
            fill->candidates[left++] = *each;
        }
    }
    fill->number = left;
}

static void fill_tiers(fill_t* fill, int32_t* out_tiers, memory_tier_t* tiers, int tier_num)
{
    for (int tier = 0; tier < tier_num; ++tier) {
        fill->bytes = tiers[tier].bytes;
        fill->is_last = tier + 1 == tier_num;
        for (fill_rule_t rule = 0; rule < FILL_RULE_NUM; ++rule)
            fill_by_rule(fill, rule);
        tiers[tier].used = fill->best_total;
        take_best(fill, tier, out_tiers);
    }
}

static int check_tiers(const memory_tier_t* tiers, int tier_num)
{
    for (int i = 1; i < tier_num; ++i)
        if (!(tiers[i].ns_per_kib >= tiers[i - 1].ns_per_kib)) tier_num = 0;
    if (tier_num > 0) return TENGINE_OK;
    return tengine_error_set(TENGINE_EINVAL,
                             "memory plan: expected one memory or more, the fastest first");
}

static int begin_fill(fill_t* fill, memory_block_t* blocks, int64_t block_num)
{
    const size_t number = (size_t)block_num + 1;
    size_t candidate_size, placed_size;
    if (!checked_multiply(number, sizeof(candidate_t), &candidate_size) ||
        !checked_multiply(number, sizeof(placed_block_t), &placed_size))
        return tengine_error_set(TENGINE_ELIMIT, "memory plan: %lld blocks", (long long)block_num);
    fill->candidates = alloc_memory(candidate_size);
    fill->best = alloc_memory(candidate_size);
    fill->placed = alloc_memory(placed_size);
    if (!fill->candidates || !fill->best || !fill->placed)
        return tengine_error_set(TENGINE_ENOMEM, "memory plan: out of memory for %lld blocks",
                                 (long long)block_num);
    fill->number = block_num;
    for (int64_t i = 0; i < block_num; ++i)
        fill->candidates[i] = (candidate_t){.block = &blocks[i], .index = (int32_t)i};
    return TENGINE_OK;
}

int plan_memory_tiers(memory_block_t* blocks, const uint64_t* moved, int32_t* out_tiers,
                      int64_t block_num, size_t alignment, memory_tier_t* tiers, int tier_num)
{
    TENGINE_RETURN_IF_ERROR(check_tiers(tiers, tier_num));
    TENGINE_RETURN_IF_ERROR(check_blocks(blocks, block_num, alignment));
    fill_t fill = {.moved = moved, .alignment = alignment};
    int status = begin_fill(&fill, blocks, block_num);
    if (status == TENGINE_OK) {
        fill_tiers(&fill, out_tiers, tiers, tier_num);
        if (fill.number > 0)
            status = tengine_error_set(TENGINE_ELIMIT,
                                       "memory plan: a block of %zu bytes has room in no memory",
                                       fill.candidates[0].block->size);
    }
    free_memory(fill.candidates);
    free_memory(fill.best);
    free_memory(fill.placed);
    return status;
}
