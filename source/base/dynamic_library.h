// SPDX-License-Identifier: Apache-2.0
// Shared libraries that are loaded while the program runs.
#pragma once

#include "tengine/export.h"

TENGINE_EXTERN_C_BEGIN

typedef struct dynamic_library dynamic_library_t;

// Loads a file, or one of this name from the system's search path; everything it needs is resolved
// at once, and its symbols are visible to no other library. It sees those of this library, however
// the program came by it. Each opening needs a closing.
// TENGINE_EIO with the loader's own message, for a pipe or a device, or for a file that is cut
// short; TENGINE_EDEVICE when a constructor threw.
int open_dynamic_library(const char* file_name, dynamic_library_t** out_library);
// Closes the library. NULL is allowed.
void close_dynamic_library(dynamic_library_t* library);

// Finds a function of the library, to be cast to its type. TENGINE_ENOENT; TENGINE_EINVAL: it is
// data.
typedef void (*dynamic_function_t)(void);
int find_dynamic_function(dynamic_library_t* library, const char* name,
                          dynamic_function_t* out_function);

TENGINE_EXTERN_C_END
