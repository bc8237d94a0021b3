// SPDX-License-Identifier: Apache-2.0
// Replace a whole file atomically: a reader never sees half of it.
#pragma once

#include <stddef.h>

#include "tengine/error.h"

TENGINE_EXTERN_C_BEGIN

// The contract is that of tengine_file_replace() in tengine/file.h, with a status.
TENGINE_MUST_USE int replace_file(const char* path, const void* bytes, size_t size);

// The contract is that of tengine_file_put(), with a status.
TENGINE_MUST_USE int put_file(const char* folder, const char* name, const void* bytes, size_t size);

// replace_file() for content that lies in several places, one piece after the other in the file.
typedef struct file_piece
{
    const void* bytes;
    size_t size;
} file_piece_t;
TENGINE_MUST_USE int put_file_by_pieces(const char* folder, const char* name,
                                        const file_piece_t pieces[], size_t number);

TENGINE_EXTERN_C_END
