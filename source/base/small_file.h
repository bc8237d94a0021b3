// SPDX-License-Identifier: Apache-2.0
// Reading a whole small file. Models are mapped instead: mapped_file.h.
#pragma once

#include <stddef.h>

#include "tengine/error.h"

TENGINE_EXTERN_C_BEGIN

// Reads a regular file of at most `most` bytes, to free with free_memory(). Never blocks, as
// opening a pipe without a writer would. `what` says in messages what the file is ("the
// configuration"). TENGINE_EIO: it cannot be read, or is a folder, a pipe or a device.
// TENGINE_ELIMIT: it is larger. TENGINE_ENOMEM.
TENGINE_MUST_USE int read_small_file(const char* path, const char* what, size_t most,
                                     char** out_bytes, size_t* out_size);

TENGINE_EXTERN_C_END
