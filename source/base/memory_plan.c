// SPDX-License-Identifier: Apache-2.0
// Static memory planning. Contract and algorithm are in memory_plan.h.
#include "base/memory_plan.h"

#include <string.h>

#include "base/alloc.h"
#include "base/sort.h"
#include "tengine/error.h"

// A block that has its place. Kept in one array in the order of offsets, small enough that the scan
// for every further block runs in the cache.
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
    for (int64_t i = 0; i < block_num; i++) {
        const memory_block_t* block = &blocks[i];
        if (block->first_use > block->last_use) {
            return tengine_error_set(TENGINE_EINVAL,
                                     "memory plan: block %lld is used first at %d, last at %d",
                                     (long long)i, (int)block->first_use, (int)block->last_use);
        }
        // Once the sum of all fits, no offset or end can wrap.
        size_t aligned;
        if (!checked_align(block->size, alignment, &aligned) ||
            !checked_add(total, aligned, &total)) {
            return tengine_error_set(TENGINE_ELIMIT,
                                     "memory plan: %lld blocks need more than the address space",
                                     (long long)block_num);
        }
    }
    return TENGINE_OK;
}

// Largest first. The rest of the key makes the order total, hence the plan deterministic.
static int compare_blocks(const void* left, const void* right)
{
    const memory_block_t* a = *(memory_block_t* const*)left;
    const memory_block_t* b = *(memory_block_t* const*)right;
    if (a->size != b->size) return a->size > b->size ? -1 : 1;
    if (a->first_use != b->first_use) return a->first_use < b->first_use ? -1 : 1;
    return (a > b) - (a < b);
}

// The start of the smallest gap that holds `size` bytes between the placed blocks that live at the
// same time as `block`, or the end of the last of these.
static size_t find_offset(const placed_block_t* placed, int64_t placed_num,
                          const memory_block_t* block, size_t size)
{
    size_t best_offset = 0;
    size_t best_gap = SIZE_MAX;
    size_t free_from = 0;
    for (int64_t i = 0; i < placed_num; i++) {
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

static size_t place_blocks(memory_block_t** order, int64_t block_num, size_t alignment,
                           placed_block_t* placed)
{
    size_t total = 0;
    for (int64_t i = 0; i < block_num; i++) {
        memory_block_t* block = order[i];
        const size_t size = (block->size + alignment - 1) & ~(alignment - 1);
        if (size == 0) {  // sorted last: so are all that follow
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

int plan_memory(memory_block_t* blocks, int64_t block_num, size_t alignment, size_t* out_total)
{
    if (out_total == NULL || block_num < 0 || (blocks == NULL && block_num > 0) || alignment == 0 ||
        (alignment & (alignment - 1)) != 0) {
        return tengine_error_set(TENGINE_EINVAL,
                                 "memory plan: NULL, %lld blocks or alignment %zu; wanted >= 0 "
                                 "blocks and a power of two",
                                 (long long)block_num, alignment);
    }
    TENGINE_RETURN_IF_ERROR(check_blocks(blocks, block_num, alignment));
    size_t order_size;
    size_t placed_size;
    if (!checked_multiply((size_t)block_num, sizeof(memory_block_t*), &order_size) ||
        !checked_multiply((size_t)block_num, sizeof(placed_block_t), &placed_size)) {
        return tengine_error_set(TENGINE_ELIMIT, "memory plan: %lld blocks", (long long)block_num);
    }
    memory_block_t** order = alloc_memory(order_size);
    placed_block_t* placed = alloc_memory(placed_size);
    int status = TENGINE_OK;
    if (order != NULL && placed != NULL) {
        for (int64_t i = 0; i < block_num; i++)
            order[i] = &blocks[i];
        sort_items(order, (size_t)block_num, sizeof *order, compare_blocks);
        *out_total = place_blocks(order, block_num, alignment, placed);
    } else {
        status = tengine_error_set(TENGINE_ENOMEM, "memory plan: no memory for %lld blocks",
                                   (long long)block_num);
    }
    free_memory(placed);
    free_memory(order);
    return status;
}
