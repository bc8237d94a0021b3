// SPDX-License-Identifier: Apache-2.0
// Fails allocations of some of the process's libraries only.
#pragma once

#include <string>
#include <vector>

namespace tengine::ort_host {

// Selects the libraries by the beginnings of their files' names. They must be loaded, and stay
// loaded. An allocation is theirs if they are the nearest callers apart from the libraries of C and
// C++, in which containers and streams allocate. False: one is not loaded.
bool watch_heap_of(const std::vector<std::string>& libraries);

// Returns the number of their allocations so far, by any thread.
long count_allocations();

// From the first call on, the call stack of each allocation within the libraries is recorded. The
// second returns the numbers of those with a new call stack, compared with all earlier pairs of
// calls.
void begin_recording();
std::vector<long> end_recording();

// Lets their allocation with this number from now on fail, and with `lasting` all later ones; 0:
// none.
void fail_allocation(long number, bool lasting);

// Returns the number of their blocks that are not freed.
long count_live_blocks();

}  // namespace tengine::ort_host
