// SPDX-License-Identifier: Apache-2.0
// The memory plan of a prepared graph: arenas, and the blocks of tensors in them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "json_file.h"
#include "tengine/inspect.h"

namespace tengine::tools {

struct PlanArena
{
    std::string device;  // empty: boundary tensors
    int part = 0;        // for boundary tensors the first one of the graph or body
    int64_t bytes = 0;
    int copies = 1;            // one for each frame of a pipeline
    int memory = 0;            // the first arena in the same memory
    std::string name;          // of the device's memory; empty: it has one
    int64_t memory_bytes = 0;  // its size; 0: any
    double ns_per_kib = 0;     // the time to read or write 1 KiB there; 0: it has one memory
    int64_t moved_bytes = 0;   // by a run, as far as they are known
    double saved_ns = 0;       // for each run, since it is not in the slowest memory
    bool is_kept = false;      // it is the part's alone
    std::vector<int> steps;    // nodes; for boundary tensors parts
};

// The use of a memory by the graph and its bodies.
struct MemoryUse
{
    std::string name;
    int64_t memory_bytes = 0;
    double ns_per_kib = 0;
    int64_t used = 0;  // at the peak: memory that parts share counts once
    int64_t moved_bytes = 0;
    double saved_ns = 0;
};

struct MemoryPlan
{
    std::vector<PlanArena> arenas;
    std::vector<tengine_plan_block> blocks;
    std::vector<MemoryUse> memories;  // those with names, in the order of their first arenas
    std::vector<std::string> names;   // of tensors, if a device has several memories; else empty
};

// Throws Failure.
MemoryPlan read_memory_plan(graph_t graph);

// The first block of each tensor of a list of this size; none for a tensor without memory in the
// plan.
std::vector<std::optional<tengine_plan_block>> place_tensors(const MemoryPlan& plan,
                                                             size_t tensor_num);

Json to_json(const MemoryPlan& plan);

// The use of each memory of devices that have several, and the tensors that are not in the fastest,
// with the reasons; empty if no device has several.
std::string memories_text(const MemoryPlan& plan, size_t width = 0);

}  // namespace tengine::tools
