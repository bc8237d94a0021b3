// SPDX-License-Identifier: Apache-2.0
// The arena. Algorithm and contract are in arena.h. Blocks are named by the number of their first
// grain, which is half the size of a pointer and the same on every machine.
#include "base/arena.h"

#include <string.h>

// The header in front of every block, and after the last one.
typedef struct header
{
    uint32_t previous;   // grains of the block before; 0 for the first
    uint32_t used : 1;   // always in the header after the last block
    uint32_t size : 31;  // grains, this header's place at the end of the last one not included
} header_t;

// The links in a free block.
typedef struct links
{
    uint32_t next;
    uint32_t previous;
} links_t;

typedef struct size_class
{
    unsigned row;
    unsigned column;
} size_class_t;

enum
{
    COLUMN_BITS = 4,
    HEADER_BYTES = sizeof(header_t)
};

#define NO_BLOCK UINT32_MAX
#define MOST_GRAINS (UINT32_C(1) << 30)

static char* address_of(const arena_t* arena, uint32_t block)
{
    return arena->base + (size_t)block * ARENA_GRAIN;
}

static header_t* header_of(const arena_t* arena, uint32_t block)
{
    return (header_t*)(void*)(address_of(arena, block) - HEADER_BYTES);
}

static links_t* links_of(const arena_t* arena, uint32_t block)
{
    return (links_t*)(void*)address_of(arena, block);
}

static unsigned log2_of(uint32_t number)
{
    return 31U - (unsigned)__builtin_clz(number);
}

// Row 0 has a class for each size below ARENA_COLUMNS, the others divide a power of two.
static size_class_t class_of(uint32_t size)
{
    if (size < ARENA_COLUMNS) return (size_class_t){0, size};
    const unsigned log2 = log2_of(size);
    return (size_class_t){log2 - COLUMN_BITS + 1,
                          (size >> (log2 - COLUMN_BITS)) & (ARENA_COLUMNS - 1)};
}

// ---- the lists of free blocks ----

static void list_block(arena_t* arena, uint32_t block)
{
    const size_class_t class = class_of(header_of(arena, block)->size);
    uint32_t* first = &arena->lists[class.row][class.column];
    *links_of(arena, block) = (links_t){.next = *first, .previous = NO_BLOCK};
    if (*first != NO_BLOCK) links_of(arena, *first)->previous = block;
    *first = block;
    arena->columns[class.row] |= (uint16_t)(1U << class.column);
    arena->rows |= UINT32_C(1) << class.row;
}

static void unlist_block(arena_t* arena, uint32_t block)
{
    const size_class_t class = class_of(header_of(arena, block)->size);
    const links_t links = *links_of(arena, block);
    if (links.next != NO_BLOCK) links_of(arena, links.next)->previous = links.previous;
    if (links.previous != NO_BLOCK) {
        links_of(arena, links.previous)->next = links.next;
        return;
    }
    arena->lists[class.row][class.column] = links.next;
    if (links.next != NO_BLOCK) return;
    arena->columns[class.row] &= (uint16_t) ~(1U << class.column);
    if (arena->columns[class.row] == 0) arena->rows &= ~(UINT32_C(1) << class.row);
}

// The first block of the first class from `class` on that has one.
static uint32_t find_listed(const arena_t* arena, size_class_t class)
{
    uint32_t columns = arena->columns[class.row] & (~UINT32_C(0) << class.column);
    if (columns == 0) {
        const uint32_t rows = arena->rows & (~UINT32_C(0) << class.row << 1);
        if (rows == 0) return NO_BLOCK;
        class.row = (unsigned)__builtin_ctz(rows);
        columns = arena->columns[class.row];
    }
    return arena->lists[class.row][__builtin_ctz(columns)];
}

// Every block of the class above that of `size` is large enough. When there is none, one of the
// same class may be.
static uint32_t find_free(const arena_t* arena, uint32_t size)
{
    const uint32_t step = size < ARENA_COLUMNS ? 1 : UINT32_C(1) << (log2_of(size) - COLUMN_BITS);
    const uint32_t block = find_listed(arena, class_of(size + step - 1));
    if (block != NO_BLOCK) return block;
    const size_class_t class = class_of(size);
    uint32_t other = arena->lists[class.row][class.column];
    while (other != NO_BLOCK && header_of(arena, other)->size < size)
        other = links_of(arena, other)->next;
    return other;
}

// ---- blocks ----

static void set_size(arena_t* arena, uint32_t block, uint32_t size)
{
    header_of(arena, block)->size = size & UINT32_C(0x7fffffff);
    header_of(arena, block + size)->previous = size;
}

void start_arena(arena_t* arena, void* memory, size_t size)
{
    memset(arena, 0, sizeof *arena);
    memset(arena->lists, 0xff, sizeof arena->lists);  // NO_BLOCK
    const uintptr_t begin = (uintptr_t)memory + HEADER_BYTES;
    const size_t shift = (ARENA_GRAIN - begin % ARENA_GRAIN) % ARENA_GRAIN + HEADER_BYTES;
    const size_t grain_num = (size - shift) / ARENA_GRAIN;
    arena->base = (char*)memory + shift;
    arena->grain_num = grain_num < MOST_GRAINS ? (uint32_t)grain_num : MOST_GRAINS;
    *header_of(arena, 0) = (header_t){0};
    *header_of(arena, arena->grain_num) = (header_t){.used = 1};
    set_size(arena, 0, arena->grain_num);
    list_block(arena, 0);
}

void* take_arena_block(arena_t* arena, size_t size)
{
    if (size > (size_t)arena->grain_num * ARENA_GRAIN - HEADER_BYTES) return NULL;
    const uint32_t wanted = (uint32_t)((size + HEADER_BYTES + ARENA_GRAIN - 1) / ARENA_GRAIN);
    const uint32_t block = find_free(arena, wanted);
    if (block == NO_BLOCK) return NULL;
    header_t* header = header_of(arena, block);
    unlist_block(arena, block);
    const uint32_t rest = header->size - wanted;
    header->used = 1;
    if (rest > 0) {
        set_size(arena, block, wanted);
        header_of(arena, block + wanted)->used = 0;
        set_size(arena, block + wanted, rest);
        list_block(arena, block + wanted);
    }
    arena->used += wanted;
    if (arena->used > arena->peak) arena->peak = arena->used;
    return address_of(arena, block);
}

void return_arena_block(arena_t* arena, void* memory)
{
    uint32_t block = (uint32_t)((size_t)((char*)memory - arena->base) / ARENA_GRAIN);
    header_t* header = header_of(arena, block);
    uint32_t size = header->size;
    arena->used -= size;
    header->used = 0;
    const uint32_t next = block + size;
    if (!header_of(arena, next)->used) {
        unlist_block(arena, next);
        size += header_of(arena, next)->size;
    }
    const uint32_t before = block - header->previous;
    if (before != block && !header_of(arena, before)->used) {
        unlist_block(arena, before);
        size += header_of(arena, before)->size;
        block = before;
    }
    set_size(arena, block, size);
    list_block(arena, block);
}

bool is_in_arena(const arena_t* arena, const void* memory)
{
    return (uintptr_t)memory - (uintptr_t)arena->base < (size_t)arena->grain_num * ARENA_GRAIN;
}

size_t get_largest_arena_block(const arena_t* arena)
{
    if (arena->rows == 0) return 0;
    const unsigned row = log2_of(arena->rows);
    uint32_t block = arena->lists[row][log2_of(arena->columns[row])];
    uint32_t largest = 0;
    for (; block != NO_BLOCK; block = links_of(arena, block)->next)
        if (header_of(arena, block)->size > largest) largest = header_of(arena, block)->size;
    return (size_t)largest * ARENA_GRAIN - HEADER_BYTES;
}
