// SPDX-License-Identifier: Apache-2.0
// The memories of the board (option CPU.memories), in which the arena of a part lies.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/containers.hpp"
#include "base/memory_plan.h"
#include "tengine/device.h"

namespace tengine::cpu {

// Reads "SRAM:524288:1,DRAM:0:8": for each memory its name, its bytes, and the ns for 1 KiB.
// EINVAL states the fault.
int parse_memories(const char* text, Vector<ir_memory_t>* out_memories);

// The memories of the graph's context; none without the option, and in minimal builds.
Vector<ir_memory_t> list_memories(const graph& graph, const struct device* device);

// The memories with the bytes that the part may have. One of any size if the device states none.
Vector<memory_tier_t> list_tiers(const subgraph& part, const struct device* device);

}  // namespace tengine::cpu
