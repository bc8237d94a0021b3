// SPDX-License-Identifier: Apache-2.0
// Memories by name, such as the SRAM of a board, in blocks that the program gives. The memory that
// alloc.h has stands for the others.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "tengine/export.h"

TENGINE_EXTERN_C_BEGIN

enum
{
    MOST_NAMED_MEMORIES = 4,
    NAMED_MEMORY_NAME_SIZE = 16
};

// From now on the memory of this name is the block; NULL and 0: none. Failures record no message.
// TENGINE_EINVAL: `memory` has fewer than ARENA_LEAST_BYTES (arena.h), or one of the two is 0.
// TENGINE_ESTATE: the present block of the name is in use. TENGINE_ELIMIT: there are
// MOST_NAMED_MEMORIES others. Any thread.
int set_named_memory(const char* name, void* memory, size_t size);

// `bytes` bytes of undefined values of this memory, and room to align them to ALLOC_ALIGNMENT. NULL
// when it has no piece of this size. Any thread.
void* alloc_named_memory(const char* name, size_t bytes);

// Frees such a block. NULL is allowed.
void free_named_memory(void* block);

// Whether the program has given the memory, and the largest piece of it that is free.
bool find_named_memory_room(const char* name, size_t* out_bytes);

TENGINE_EXTERN_C_END
