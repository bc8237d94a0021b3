// SPDX-License-Identifier: Apache-2.0
// Files mapped into memory, private copies of files that are mapped in the same way, and memory
// that costs nothing until it is touched. Changes by another program to a mapped file show in it:
// bytes that it writes, and pages that it removes, whose reading raises SIGBUS (mapping_guard.h). A
// copy follows nothing.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tengine/error.h"

TENGINE_EXTERN_C_BEGIN

typedef struct mapped_file
{
    char* bytes;  // NULL: nothing is mapped
    size_t size;
} mapped_file_t;

// The ways in which a model's file comes into memory: the values of the option model.map.
typedef enum file_use
{
    FILE_IS_READ,            // "0": into plain memory
    FILE_IS_MAPPED,          // "1"
    FILE_IS_COPIED_IF_SMALL  // "auto": small files are copied, larger ones mapped
} file_use_t;

file_use_t parse_file_use(const char* text);

// The owner of the memory of a constant's bytes.
typedef enum ir_data_place
{
    IR_DATA_PROGRAM,  // owned by the program
    IR_DATA_LIBRARY,  // owned by the graph, until it is unloaded
    IR_DATA_MAPPED    // a mapped file, or zeroes that take no memory until they are written
} ir_data_place_t;

// With FILE_IS_COPIED_IF_SMALL, at most this many bytes of the files of one model are copied.
#define MOST_COPIED_BYTES ((size_t)16 << 20)

// Opens a file to read it, without waiting for the writer of a pipe. TENGINE_EIO.
TENGINE_MUST_USE int open_to_read(const char* path, int* out_descriptor);

// Finds the size of an open file. TENGINE_EIO when it is not a regular one, TENGINE_EFORMAT when it
// is empty, TENGINE_ELIMIT when memory cannot hold it; `path` is for messages.
TENGINE_MUST_USE int find_file_size(int descriptor, const char* path, size_t* out_size);

// Maps a whole file that is open for reading, and stays so. `writable`: the bytes may be changed
// privately; else they are read only. A page that the file loses meanwhile reads as zeroes, and
// check_mapped_file() fails. As find_file_size(), or TENGINE_EIO, TENGINE_ENOMEM.
TENGINE_MUST_USE int map_open_file(int descriptor, const char* path, bool writable,
                                   mapped_file_t* out_file);

// Maps a copy of the file that no other program can change. The copy takes memory as large as the
// file, however few of its pages are in the process. TENGINE_EIO also when the file changes
// meanwhile, and TENGINE_ENOTSUP where the system has no files in memory.
TENGINE_MUST_USE int copy_open_file(int descriptor, const char* path, mapped_file_t* out_file);

// Copies a whole file into memory of the process, which is written and unmapped like a mapped file.
// TENGINE_EIO when the file changes meanwhile; else as find_file_size(), or TENGINE_ENOMEM.
TENGINE_MUST_USE int read_open_file(int descriptor, const char* path, mapped_file_t* out_file);
TENGINE_MUST_USE int read_whole_file(const char* path, mapped_file_t* out_file);

// TENGINE_EIO when a file has changed in place since it was mapped: its size or time differs, or a
// page of it was missing. A file that was deleted, or replaced by a rename, is not changed in
// place; a copy never is.
TENGINE_MUST_USE int check_mapped_file(const mapped_file_t* file);

// Maps `size` > 0 bytes of zeroes, of which only pages that are written take memory.
// TENGINE_ENOMEM.
TENGINE_MUST_USE int map_zeroes(size_t size, mapped_file_t* out_memory);

// Unmaps the file and leaves `file` empty. An empty `file` is allowed.
void unmap_file(mapped_file_t* file);

// Whether an address lies in the mapping.
static inline bool is_in_mapped_file(const mapped_file_t* file, const void* address)
{
    return (uintptr_t)address - (uintptr_t)file->bytes < file->size;
}

// Tells the system that these bytes of a mapped file, which were not changed, will not be read
// again soon, so that a large file does not stay in memory beside the data made of it.
void drop_mapped_bytes(const char* bytes, size_t size);

// Copies bytes of a mapped file, and drops each piece after it has been copied: the bytes can be
// most of a model.
void copy_mapped_bytes(void* to, const char* bytes, size_t size);

TENGINE_EXTERN_C_END
