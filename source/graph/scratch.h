// SPDX-License-Identifier: Apache-2.0
// Scratch: memory that the core lends to a part for the time of a run (set_ir_part_scratch,
// tengine/device.h). Parts that never run at the same time have one lender, whose block is as large
// as the largest of their needs. Which parts these are is the scheduler room's to know.
//
// One thread at a time uses a lender and its parts.
#pragma once

#include <stddef.h>

#include "tengine/ir.h"

TENGINE_EXTERN_C_BEGIN

struct ir_scratch_need;

// A lender.
typedef struct ir_scratch
{
    void* block;  // NULL: none, or the last allocation has failed
    size_t bytes;
    struct ir_scratch_need* first;  // those of its parts
} ir_scratch_t;

// The need of a part, and the memory that it has.
typedef struct ir_scratch_need
{
    size_t bytes;          // 0: the device has asked for nothing
    struct device* device;
    void* memory;          // of the run in flight
    ir_scratch_t* lender;  // NULL: it has not been set, or the part has left
    struct ir_scratch_need* next;
    ir_scratch_t own;  // the lender of a part that shares with no other
} ir_scratch_need_t;

// Gives the part a lender, which must outlive it, in place of the one that it has. NULL: its own.
void set_ir_scratch_lender(struct subgraph* part, ir_scratch_t* lender);

// Makes the block of the part's lender exactly as large as needed; none of its parts runs. ENOMEM:
// the lender has no block then.
TENGINE_MUST_USE int fit_ir_scratch(const struct subgraph* part);

// The bytes by which the next call of fit_ir_scratch() enlarges the block.
size_t count_ir_scratch_growth(const struct subgraph* part);

// Before a run of the part: sets the address that get_ir_part_scratch() returns. Allocates if the
// lender's block is too small, which it is not after fit_ir_scratch(). ENOMEM.
TENGINE_MUST_USE int lend_ir_scratch(struct subgraph* part);

// After the last run of the part; its lender frees a block that no part needs any more.
void leave_ir_scratch(struct subgraph* part);

TENGINE_EXTERN_C_END
