// SPDX-License-Identifier: Apache-2.0
// Counts calls of the C allocator, by this program and every library in it.
#pragma once

// False under a sanitizer, which brings an allocator of its own.
bool can_count_allocations();

// Calls of malloc and its kin so far, by any thread.
long count_allocations();

// Blocks that are allocated and not freed, and the bytes the allocator set aside for them.
struct LiveMemory
{
    long blocks;
    long bytes;
};
LiveMemory measure_live_memory();

// The most live bytes at one time since reset_peak_memory(); for programs with one thread.
void reset_peak_memory();
long measure_peak_memory();
