// SPDX-License-Identifier: Apache-2.0
// Files mapped into memory, and memory that costs nothing until it is touched. A program that
// truncates a file while it is mapped stops the process that reads it (SIGBUS), as with any mapped
// file; one that writes to it changes bytes under the reader's eyes. read_whole_file() is for those
// who want neither.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tengine/error.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mapped_file
{
    char* bytes;  // NULL: nothing is mapped
    size_t size;
} mapped_file_t;

// Maps a whole file. `writable`: the bytes may be changed privately; else they are read only.
// TENGINE_EIO when it cannot be read or is not a regular file, TENGINE_EFORMAT when it is empty.
TENGINE_MUST_USE int map_file(const char* path, bool writable, mapped_file_t* out_file);

// The same for a file that is open for reading, and stays so; `path` is for sentences.
TENGINE_MUST_USE int map_open_file(int descriptor, const char* path, bool writable,
                                   mapped_file_t* out_file);

// A copy of a whole file in memory of the process, which is written and unmapped like a mapped one.
// TENGINE_EIO when it is cut short meanwhile; else as map_file(), or TENGINE_ENOMEM.
TENGINE_MUST_USE int read_whole_file(const char* path, mapped_file_t* out_file);

// `size` > 0 bytes of zeroes, of which only pages that are written take memory. TENGINE_ENOMEM.
TENGINE_MUST_USE int map_zeroes(size_t size, mapped_file_t* out_memory);

// Nothing mapped is allowed, and what it leaves.
void unmap_file(mapped_file_t* file);

// Whether an address lies in what is mapped.
static inline bool is_in_mapped_file(const mapped_file_t* file, const void* address)
{
    return (uintptr_t)address - (uintptr_t)file->bytes < file->size;
}

// Tells the system that these bytes of a mapped file, which were not changed, will not be read
// again soon, so that a large file does not stay in memory beside what is made of it.
void drop_mapped_bytes(const char* bytes, size_t size);

// Copies them in pieces that are dropped as they have been copied: they can be most of a model.
void copy_mapped_bytes(void* to, const char* bytes, size_t size);

#ifdef __cplusplus
}
#endif
