// SPDX-License-Identifier: Apache-2.0
#include "memory_plan.h"

#include <algorithm>
#include <cstdio>

#include "model.h"
#include "text.h"

namespace tengine::tools {
namespace {

PlanArena read_arena(graph_t graph, int index)
{
    tengine_plan_arena arena;
    if (tengine_graph_get_plan_arena(graph, index, &arena, sizeof arena) < 0)
        fail_api("memory plan");
    PlanArena read = {arena.device,
                      arena.subgraph,
                      arena.bytes,
                      arena.copy_number,
                      arena.memory,
                      arena.name,
                      arena.memory_bytes,
                      arena.ns_per_kib,
                      arena.moved_bytes,
                      static_cast<double>(arena.moved_bytes) / 1024 *
                          (arena.slowest_ns_per_kib - arena.ns_per_kib),
                      arena.is_kept != 0,
                      {}};
    read.steps.resize(static_cast<size_t>(arena.step_number));
    if (tengine_graph_get_plan_steps(graph, index, read.steps.data(), arena.step_number) < 0)
        fail_api("memory plan");
    return read;
}

std::string reason_word(int reason)
{
    if (reason == TENGINE_PLACE_CHOSEN) return "chosen";
    return reason == TENGINE_PLACE_TOO_LARGE ? "too large" : "no room";
}

std::string size_text(int64_t bytes)
{
    return bytes_text(static_cast<double>(bytes));
}

// The arena in the memory that is before that of this arena; it has the same part.
const PlanArena& faster_arena(const MemoryPlan& plan, int arena)
{
    return plan.arenas.at(static_cast<size_t>(arena) - 1);
}

std::string reason_text(const MemoryPlan& plan, const tengine_plan_block& block)
{
    const std::string name = faster_arena(plan, block.arena).name;
    if (block.reason == TENGINE_PLACE_TOO_LARGE)
        return "too large for " + name + ": it has " + size_text(block.reason_bytes);
    return "no room in " + name + ": " + size_text(block.reason_bytes) + " are taken meanwhile";
}

MemoryUse& find_use(std::vector<MemoryUse>& uses, const PlanArena& arena)
{
    for (MemoryUse& use : uses)
        if (use.name == arena.name && use.memory_bytes == arena.memory_bytes &&
            use.ns_per_kib == arena.ns_per_kib)
            return use;
    uses.push_back({arena.name, arena.memory_bytes, arena.ns_per_kib, 0, 0, 0});
    return uses.back();
}

std::vector<MemoryUse> sum_memories(const std::vector<PlanArena>& arenas)
{
    std::vector<MemoryUse> uses;
    std::vector<int64_t> shared(arenas.size());  // of the memory that begins with each arena
    for (const PlanArena& arena : arenas) {
        if (arena.name.empty()) continue;
        MemoryUse& use = find_use(uses, arena);
        int64_t& counted = shared.at(static_cast<size_t>(arena.memory));
        const int64_t bytes = std::max(arena.bytes * arena.copies, counted);
        use.used += bytes - counted;
        counted = bytes;
        use.moved_bytes += arena.moved_bytes;
        use.saved_ns += arena.saved_ns;
    }
    return uses;
}

std::string saving_text(double ns)
{
    char text[32];
    std::snprintf(text, sizeof text, "%.3g us", ns / 1000);
    return text;
}

// "of 8.19 kB, 1 ns for 1 KiB; saves 0.3 us of each run"
std::string use_text(const MemoryUse& use)
{
    char cost[48];
    std::snprintf(cost, sizeof cost, ", %g ns for 1 KiB", use.ns_per_kib);
    const std::string size =
        use.memory_bytes > 0 ? "of " + size_text(use.memory_bytes) : "of any size";
    return size + cost + (use.saved_ns > 0 ? "; saves " + saving_text(use.saved_ns) : "");
}

std::string arena_text(const PlanArena& arena)
{
    const std::string device = arena.device.empty() ? "between parts" : arena.device;
    return "  " + device + (arena.is_kept ? ", kept" : "");
}

std::vector<std::string> read_names(graph_t graph, const std::vector<PlanArena>& arenas)
{
    std::vector<std::string> names;
    const bool has_names = std::any_of(arenas.begin(), arenas.end(),
                                       [](const PlanArena& arena) { return !arena.name.empty(); });
    const int number = has_names ? tengine_graph_get_execution_tensor_number(graph) : 0;
    for (int i = 0; i < number; ++i) {
        tengine_execution_tensor tensor;
        if (tengine_graph_get_execution_tensor(graph, i, &tensor) < 0) fail_api("memory plan");
        names.push_back(visible_text(tensor.name));
    }
    return names;
}

}  // namespace

MemoryPlan read_memory_plan(graph_t graph)
{
    MemoryPlan plan;
    const int arena_num = tengine_graph_get_plan_arena_number(graph);
    const int block_num = tengine_graph_get_plan_block_number(graph);
    if (arena_num < 0 || block_num < 0) fail_api("memory plan");
    for (int i = 0; i < arena_num; ++i)
        plan.arenas.push_back(read_arena(graph, i));
    plan.blocks.resize(static_cast<size_t>(block_num));
    for (int i = 0; i < block_num; ++i) {
        tengine_plan_block& block = plan.blocks[static_cast<size_t>(i)];
        if (tengine_graph_get_plan_block(graph, i, &block, sizeof block) < 0)
            fail_api("memory plan");
    }
    plan.names = read_names(graph, plan.arenas);
    plan.memories = sum_memories(plan.arenas);
    return plan;
}

std::vector<std::optional<tengine_plan_block>> place_tensors(const MemoryPlan& plan,
                                                             size_t tensor_num)
{
    std::vector<std::optional<tengine_plan_block>> places(tensor_num);
    for (const tengine_plan_block& block : plan.blocks) {
        if (block.tensor < 0) continue;
        auto& place = places.at(static_cast<size_t>(block.tensor));
        if (!place) place = block;
    }
    return places;
}

Json to_json(const MemoryPlan& plan)
{
    Json arenas = Json::array(), blocks = Json::array(), memories = Json::array();
    for (const PlanArena& arena : plan.arenas)
        arenas.push_back({{"device", arena.device},
                          {"part", arena.part},
                          {"bytes", arena.bytes},
                          {"copies", arena.copies},
                          {"memory", arena.memory},
                          {"name", arena.name},
                          {"memory_bytes", arena.memory_bytes},
                          {"ns_per_kib", arena.ns_per_kib},
                          {"moved_bytes", arena.moved_bytes},
                          {"saved_ns", arena.saved_ns},
                          {"kept", arena.is_kept},
                          {"steps", arena.steps}});
    for (const MemoryUse& use : plan.memories)
        memories.push_back({{"name", use.name},
                            {"memory_bytes", use.memory_bytes},
                            {"ns_per_kib", use.ns_per_kib},
                            {"used", use.used},
                            {"moved_bytes", use.moved_bytes},
                            {"saved_ns", use.saved_ns}});
    for (const tengine_plan_block& block : plan.blocks)
        blocks.push_back({{"tensor", block.tensor},
                          {"arena", block.arena},
                          {"block", block.block},
                          {"offset", block.offset},
                          {"bytes", block.bytes},
                          {"first", block.first},
                          {"last", block.last},
                          {"reason", reason_word(block.reason)},
                          {"reason_bytes", block.reason_bytes},
                          {"moved_bytes", block.moved_bytes}});
    return {{"memories", memories}, {"arenas", arenas}, {"blocks", blocks}};
}

std::string memories_text(const MemoryPlan& plan, size_t width)
{
    Rows rows = {{"memories", ">part", "memory", ">bytes", "remarks"}};
    if (plan.memories.empty()) return "";
    for (const MemoryUse& use : plan.memories)
        rows.push_back({"  all", "", use.name, size_text(use.used), use_text(use)});
    for (const PlanArena& arena : plan.arenas) {
        if (arena.name.empty() || arena.bytes == 0) continue;
        rows.push_back({arena_text(arena), std::to_string(arena.part), arena.name,
                        size_text(arena.bytes),
                        arena.saved_ns > 0 ? "saves " + saving_text(arena.saved_ns) : ""});
    }
    for (const tengine_plan_block& block : plan.blocks) {
        if (block.reason == TENGINE_PLACE_CHOSEN) continue;
        const PlanArena& arena = plan.arenas.at(static_cast<size_t>(block.arena));
        const std::string name =
            block.tensor < 0 ? "scratch" : plan.names.at(static_cast<size_t>(block.tensor));
        rows.push_back({"    " + name, std::to_string(arena.part), arena.name,
                        size_text(block.bytes), reason_text(plan, block)});
    }
    TableStyle style;
    style.width = width;
    style.shortened = {"memories", "remarks"};
    return table_text(rows, style);
}

}  // namespace tengine::tools
