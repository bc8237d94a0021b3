// SPDX-License-Identifier: Apache-2.0
// Writing a whole file so that nobody ever sees half of it.
#pragma once

#include <stddef.h>

#include "tengine/error.h"

#ifdef __cplusplus
extern "C" {
#endif

// The file `path` has these bytes, or is as it was and the status is TENGINE_EIO (the system's
// reason in the sentence). They are written under another name in the same folder first.
TENGINE_MUST_USE int replace_file(const char* path, const void* bytes, size_t size);

#ifdef __cplusplus
}
#endif
