// SPDX-License-Identifier: Apache-2.0
// The memory that the process takes from the heap. The program's own malloc counts the calls of the
// library and of plug-ins, too; with sanitizers or another C library nothing is counted.
#pragma once

#include <cstdint>

namespace tengine::tools {

bool can_count_allocations();

// Calls of malloc and related functions since the program started, by any thread. Any thread may
// call it.
int64_t count_allocations();

// Bytes of blocks that are in use, 0 if the C library does not report them; and of the process's
// pages in memory, 0 if the system does not report them.
int64_t heap_bytes();
int64_t resident_bytes();

}  // namespace tengine::tools
