// SPDX-License-Identifier: Apache-2.0
#include "memory_plan.h"

#include "model.h"

namespace tengine::tools {
namespace {

PlanArena read_arena(graph_t graph, int index)
{
    tengine_plan_arena arena;
    if (tengine_graph_get_plan_arena(graph, index, &arena, sizeof arena) < 0)
        fail_api("memory plan");
    PlanArena read = {arena.device,      arena.subgraph, arena.bytes,
                      arena.copy_number, arena.memory,   {}};
    read.steps.resize(static_cast<size_t>(arena.step_number));
    if (tengine_graph_get_plan_steps(graph, index, read.steps.data(), arena.step_number) < 0)
        fail_api("memory plan");
    return read;
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
    Json arenas = Json::array(), blocks = Json::array();
    for (const PlanArena& arena : plan.arenas)
        arenas.push_back({{"device", arena.device},
                          {"part", arena.part},
                          {"bytes", arena.bytes},
                          {"copies", arena.copies},
                          {"memory", arena.memory},
                          {"steps", arena.steps}});
    for (const tengine_plan_block& block : plan.blocks)
        blocks.push_back({{"tensor", block.tensor},
                          {"arena", block.arena},
                          {"block", block.block},
                          {"offset", block.offset},
                          {"bytes", block.bytes},
                          {"first", block.first},
                          {"last", block.last}});
    return {{"arenas", arenas}, {"blocks", blocks}};
}

}  // namespace tengine::tools
