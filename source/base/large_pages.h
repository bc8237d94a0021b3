// SPDX-License-Identifier: Apache-2.0
// Pages of the system that are larger than usual, such as 2 MiB: fewer have to be made when memory
// is first written to.
#pragma once

#include <stddef.h>

#include "tengine/export.h"

TENGINE_EXTERN_C_BEGIN

// Asks the system for such pages for the whole ones of 2 MiB inside a new block, which is written
// to from begin to end soon. Nothing is done where the system has none, or for a block below 4 MiB.
void prefer_large_pages(void* block, size_t bytes);

TENGINE_EXTERN_C_END
