// SPDX-License-Identifier: Apache-2.0
// Memory of the library. The contract is in alloc.h.
#define _POSIX_C_SOURCE 200809L
#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

void* alloc_memory(size_t size)
{
    void* memory = NULL;
    // The exact size, not one rounded up as aligned_alloc() wants it, so that AddressSanitizer sees
    // the first byte too far.
    if (posix_memalign(&memory, ALLOC_ALIGNMENT, size > 0 ? size : 1) != 0) return NULL;
    return memset(memory, 0, size);
}

void* resize_memory(void* memory, size_t old_size, size_t new_size)
{
    void* resized = alloc_memory(new_size);
    if (resized == NULL) return NULL;
    if (memory != NULL) memcpy(resized, memory, old_size < new_size ? old_size : new_size);
    free_memory(memory);
    return resized;
}

void free_memory(void* memory)
{
    free(memory);
}

char* duplicate_string(const char* string)
{
    if (string == NULL) return NULL;
    const size_t size = strlen(string) + 1;
    char* copy = alloc_memory(size);
    return copy != NULL ? memcpy(copy, string, size) : NULL;
}
