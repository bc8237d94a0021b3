// SPDX-License-Identifier: Apache-2.0
// The folder where compiled parts are stored (option cache.dir): a file for each, named after its
// fingerprint. Any number of processes may use a folder at the same time, and any of them may be
// killed at any moment: a file gets its name when it is complete.
//
// The folder must belong to this process's user or to root, must not be writable for others unless
// it is sticky, and must contain no symbolic link; else TENGINE_EIO.
//
// A file is one page of description, then the device's bytes.
#pragma once

#include "base/mapped_file.h"
#include "base/sha256.h"
#include "graph/context.h"
#include "graph/sink.h"

TENGINE_EXTERN_C_BEGIN

// The data that a device has saved, in a mapped file.
typedef struct ir_kept_part
{
    mapped_file_t file;
    const uint8_t* bytes;  // the device's bytes in the file; NULL: there are none
    size_t size;
} ir_kept_part_t;

// Returns the folder that option cache.dir or the environment names; NULL: no parts are stored.
const char* find_ir_part_cache(const ir_context_t* context);

// Opens the part with this fingerprint and marks it as used now; to be closed. The workers of the
// pool (NULL: none) check it. TENGINE_ENOENT: there is none. TENGINE_EIO: it cannot be read, is not
// a regular file, or belongs to another user than this process's or root. TENGINE_EFORMAT: it has
// been altered.
TENGINE_MUST_USE int open_ir_kept_part(const char* folder, const uint8_t fingerprint[SHA256_BYTES],
                                       thread_pool_t* pool, ir_kept_part_t* out_part);
void close_ir_kept_part(ir_kept_part_t* part);

// Writes the bytes that `device` has saved, and removes the least recently used parts until the
// parts of the folder have at most `limit` bytes; 0: any number. Creates the folder if it is
// missing. TENGINE_ELIMIT: the part alone has more. TENGINE_EIO.
TENGINE_MUST_USE int keep_ir_part(const char* folder, uint64_t limit,
                                  const uint8_t fingerprint[SHA256_BYTES], const char* device,
                                  struct ir_sink* sink);

TENGINE_EXTERN_C_END
