// SPDX-License-Identifier: Apache-2.0
// Keeps the process alive when a file that it has mapped becomes shorter. Reading a page that is
// missing raises SIGBUS: the handler maps zeroes there and records it, and the thread continues.
// The code that mapped the file checks afterwards whether the bytes that it has read were the
// file's. The handler is installed while anything is guarded; a SIGBUS of another cause goes to the
// handler before it. Used by mapped_file.c.
#pragma once

#include <stddef.h>

#include "tengine/error.h"

TENGINE_EXTERN_C_BEGIN

// Guards a private mapping of `size` bytes of a file that is open and has this path. TENGINE_EIO,
// TENGINE_ENOMEM.
TENGINE_MUST_USE int guard_mapping(void* bytes, size_t size, int descriptor, const char* path);

// Ends the guard, before the mapping is removed. A mapping without a guard is allowed.
void release_mapping_guard(const void* bytes);

// TENGINE_EIO when the file has changed in place since it was guarded, or pages of it were missing.
// A mapping without a guard passes.
TENGINE_MUST_USE int check_guarded_mapping(const void* bytes);

TENGINE_EXTERN_C_END
