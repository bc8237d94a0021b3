// SPDX-License-Identifier: Apache-2.0
// Fails allocations of some of the process's libraries, and of no other.
#pragma once

#include <string>
#include <vector>

namespace tengine::ort_host {

// The libraries whose allocations are meant, by the beginnings of their files' names. They must be
// loaded, and stay so. An allocation is theirs where they are the nearest callers outside of the
// libraries of C and C++, in which containers and streams allocate. False: one is not loaded.
bool watch_heap_of(const std::vector<std::string>& libraries);

// Theirs so far, by any thread.
long count_allocations();

// From the first call on, the libraries' functions that each allocation passes through are kept.
// The second returns the numbers of those that came another way than all before, which calls of
// earlier pairs have kept.
void begin_recording();
std::vector<long> end_recording();

// The one whose number from now on this is fails, and with `lasting` all after it; 0: none does.
void fail_allocation(long number, bool lasting);

// Blocks of theirs that are not freed.
long count_live_blocks();

}  // namespace tengine::ort_host
