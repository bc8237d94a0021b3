// SPDX-License-Identifier: Apache-2.0
// Scratch: memory that the core lends to a part for the time of a run (set_ir_part_scratch,
// tengine/device.h). Parts that never run at the same time have one lender, whose block is as large
// as the largest of their needs. Which parts these are is the scheduler room's to know.
//
// A device may have several memories (interface.memories); a lender has a block in one of them.
// One thread at a time uses a lender and its parts.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tengine/ir.h"

TENGINE_EXTERN_C_BEGIN

enum
{
    IR_MEMORY_NAME_SIZE = 16
};

struct ir_scratch_need;

// A lender.
typedef struct ir_scratch
{
    char memory[IR_MEMORY_NAME_SIZE];  // the memory's name; "": the process's
    int lane;                          // see scheduler/lane.h
    void* block;                       // NULL: none, or the last allocation has failed
    size_t bytes;
    struct ir_scratch_need* first;  // those of its parts
} ir_scratch_t;

// The need of a part in one memory, and what it has of it.
typedef struct ir_scratch_need
{
    size_t bytes;          // 0: the device has asked for nothing
    size_t planned;        // bytes that the device has allocated itself
    size_t room;           // bytes that the part may have; SIZE_MAX: any
    int64_t memory_bytes;  // the size of the memory that the device states; 0: any
    double ns_per_kib;     // the time that it states to read or write 1 KiB; 0: none
    struct device* device;
    void* address;         // in the run in flight
    ir_scratch_t* lender;  // NULL: it has not been set, or the part has left
    struct ir_scratch_need* next;
    ir_scratch_t own;  // the lender of a part that shares with no other; it has the memory's name
    // Those with memory from prerun to postrun, see scheduler/lane.h: the next one, and the pointer
    // to this one, NULL: it is in no list.
    struct ir_scratch_need* next_held;
    struct ir_scratch_need** held_link;
} ir_scratch_need_t;

// The memory that a part of an execution graph shares with others.
typedef struct ir_shared_scratch
{
    const ir_scratch_t* lender;  // NULL: nothing
    int64_t bytes;
} ir_shared_scratch_t;

// Gives the need a lender of its memory, which must outlive it, in place of the one that it has.
// NULL: its own.
void set_ir_scratch_lender(ir_scratch_need_t* need, ir_scratch_t* lender);

// Puts the need into a list until it is released.
void list_ir_held_need(ir_scratch_need_t* need, ir_scratch_need_t** list);

// The bytes that the largest need of the lender has.
size_t find_ir_scratch_need(const ir_scratch_t* lender);

// Makes the lender's block exactly as large as needed; none of its parts runs. `part_index` is for
// messages. ENOMEM: the lender has no block then.
TENGINE_MUST_USE int fit_ir_scratch(ir_scratch_t* lender, int part_index);

// These make needs that are each its own lender with any room, NULL: ENOMEM, and free them, their
// blocks, and their entries in lists.
ir_scratch_need_t* create_ir_scratch_needs(int number);
void release_ir_scratch_needs(ir_scratch_need_t* needs, int number);
// Sets the address of the need in its lender's block, which is allocated if it is too small.
// ENOMEM.
TENGINE_MUST_USE int lend_ir_need(ir_scratch_need_t* need, int part_index);

// These concern all needs of a compiled part. begin: makes `number`, each its own lender with any
// room. ENOMEM.
TENGINE_MUST_USE int begin_ir_scratch(struct subgraph* part, int number);
// Before a run: sets the addresses that get_ir_part_scratch() returns. Allocates if a block is too
// small, which it is not after fit_ir_scratch(). ENOMEM.
TENGINE_MUST_USE int lend_ir_scratch(struct subgraph* part);
// After the last run: frees the needs, and a lender the block that no part needs any more.
void leave_ir_scratch(struct subgraph* part);

TENGINE_EXTERN_C_END
