// SPDX-License-Identifier: Apache-2.0
// The memory that the process takes from the heap. The program's own malloc counts, and so it
// counts for the library and for plug-ins; where that cannot be (sanitizers, another C library)
// nothing is counted.
#pragma once

#include <cstdint>

namespace tengine::tools {

bool can_count_allocations();

// Calls of malloc and its kin since the program started, by any thread. Any thread may ask.
int64_t count_allocations();

// Bytes of blocks that are in use, 0 where the C library does not tell; and of the process's pages
// in memory, 0 where the system does not tell.
int64_t heap_bytes();
int64_t resident_bytes();

}  // namespace tengine::tools
