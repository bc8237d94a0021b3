// SPDX-License-Identifier: Apache-2.0
// Counts calls of the C allocator, by this program and every library in it, and lets one fail.
#pragma once

// False under a sanitizer, which brings an allocator of its own.
bool can_count_allocations();

// Calls of malloc and its kin so far, by any thread.
long count_allocations();

// The call of malloc or its kin whose number from now on this is, by any thread, fails as it does
// without memory, and with `lasting` all after it; 0: none does.
void fail_allocation(long number, bool lasting = false);

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
