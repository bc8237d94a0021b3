// SPDX-License-Identifier: Apache-2.0
// Counts calls of the C allocator, by this program and every library in it, and lets one fail.
#pragma once

// False under a sanitizer, which has an allocator of its own.
bool can_count_allocations();

// Returns the calls of malloc and related functions so far, by any thread.
long count_allocations();

// Lets the call with this number from now on, by any thread, fail as if memory were exhausted, and
// with `lasting` all later ones; 0: none.
void fail_allocation(long number, bool lasting = false);

// The blocks that are allocated and not freed, and the bytes that the allocator reserved for them.
struct LiveMemory
{
    long blocks;
    long bytes;
};
LiveMemory measure_live_memory();

// Returns the most live bytes at one time since reset_peak_memory(); for programs with one thread.
void reset_peak_memory();
long measure_peak_memory();
