// SPDX-License-Identifier: Apache-2.0
// Lanes: parts of a lane never run at the same time, so they have one lender of scratch
// (graph/scratch.h) in each memory. The preparations of a source graph share their lanes, because
// one of them runs at a time.
//
// With a scheduler that is not concurrent, all parts of a graph are in one lane, and those of all
// bodies of its nodes in the next one, since they run while a part of the graph does; and so on. A
// concurrent scheduler chooses the lanes. A part that may be abandoned is in no lane.
//
// A memory of a limited size is divided among the lanes in the order in which parts are compiled: a
// part may have what other lanes do not need, and what is not held from prerun to postrun: by
// devices for parts, and by boundary tensors.
#pragma once

#include "graph/scratch.h"
#include "tengine/device.h"

TENGINE_EXTERN_C_BEGIN

// The lenders of a source graph's preparations.
typedef struct ir_lanes
{
    struct vector* lenders;  // of ir_scratch_t*; NULL: none yet
    // The first of the needs with memory from prerun to postrun (`planned`), of all preparations,
    // and those of bodies that run in these lanes.
    ir_scratch_need_t* held;
    // A named memory had less room than when parts were planned, since another graph that was
    // prepared at the same time has taken it.
    bool is_crowded;
} ir_lanes_t;

// After the last preparation has ended.
void release_ir_lanes(ir_lanes_t* lanes);

// Before the device of `compiled` compiles the part: asks it for its memories and finds how much
// the part may have of each. ENOMEM; TENGINE_EDEVICE, and the failures of the device.
TENGINE_MUST_USE int begin_ir_part_memories(const struct subgraph* part, struct subgraph* compiled,
                                            bool isolated);

// When the part is compiled: the memory that its device holds until the part ends is not for
// others.
void hold_ir_part_memories(const struct subgraph* part, struct subgraph* compiled);

// Unless the scheduler is concurrent, when all parts and bodies have their memory, for a graph or
// a body: how much its boundary tensors may have of each memory of the default device
// (graph.core.plan_needs; none if it has only one). ENOMEM; TENGINE_EDEVICE.
TENGINE_MUST_USE int begin_ir_boundary_memories(struct graph* execution);

// Unless the scheduler is concurrent, when all parts are compiled, and before bodies are: puts them
// into the lane of the graph. ENOMEM.
TENGINE_MUST_USE int put_ir_parts_into_lane(struct graph* execution);

// For a concurrent scheduler, before the first run: puts a part into a lane, from 0 on. ENOMEM.
TENGINE_MUST_USE int put_ir_part_into_lane(struct subgraph* part, int lane);

// When all parts are in lanes: gives them the memory for which they have asked. ENOMEM, also when
// lanes are crowded; ELIMIT, when it is more than memory.limit_mb allows.
TENGINE_MUST_USE int fit_ir_lanes(struct graph* execution);

TENGINE_EXTERN_C_END
