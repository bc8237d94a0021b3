// SPDX-License-Identifier: Apache-2.0
// Replaces a whole file atomically: a reader never sees half of it.
#pragma once

#include <stddef.h>

#include "tengine/error.h"

#ifdef __cplusplus
extern "C" {
#endif

// The contract is that of tengine_file_replace() in tengine/file.h, with a status.
TENGINE_MUST_USE int replace_file(const char* path, const void* bytes, size_t size);

#ifdef __cplusplus
}
#endif
