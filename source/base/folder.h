// SPDX-License-Identifier: Apache-2.0
// The files of a folder.
#pragma once

#include <stdbool.h>

#include "tengine/vector.h"

TENGINE_EXTERN_C_BEGIN

bool is_folder(const char* path);

// The paths of the entries of the folder whose names end with `ending`, without those whose names
// begin with a dot, sorted: a vector of char*, which release_vector() frees. TENGINE_EIO with the
// system's reason.
int list_folder(const char* path, const char* ending, struct vector** out_paths);

TENGINE_EXTERN_C_END
