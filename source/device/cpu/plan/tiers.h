// SPDX-License-Identifier: Apache-2.0
// Places the blocks of a part in several memories, together with data that is there from its first
// step to its last.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/containers.hpp"
#include "base/memory_plan.h"
#include "device/cpu/plan/step.h"

namespace tengine::cpu {

// Packed weights, or a boundary tensor of the part.
struct Resident
{
    size_t step;  // that reads the weights; SIZE_MAX: a boundary tensor
    size_t bytes;
    uint64_t moved;  // bytes that a run moves
};

// The packed weights of the part, and boundary tensors for which the core finds a place in what
// parts leave of the memories.
Vector<Resident> list_residents(const subgraph& part, const Vector<Step>& steps,
                                const MicroBatchList& batches);

// Gives blocks their memories and offsets, and the weights that have a place their own, as
// plan_memory_tiers() does. Residents take room from blocks where that saves time. `moved`: the
// bytes that a run moves to and from each block.
int plan_tiers(const Vector<memory_tier_t>& tiers, const Vector<Resident>& residents,
               const Vector<uint64_t>& moved, Vector<memory_block_t>* blocks,
               Vector<int32_t>* out_memories, ArenaPlan* out_plan);

// The same for residents, beside the arenas that the plan has already.
int plan_beside(const Vector<memory_tier_t>& tiers, const Vector<Resident>& residents,
                ArenaPlan* plan);

}  // namespace tengine::cpu
