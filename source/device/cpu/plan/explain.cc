// SPDX-License-Identifier: Apache-2.0
// Describes the kernels and the arena of a plan for reports.
#include <algorithm>
#include <cstdio>
#include <new>

#include "base/maps.hpp"
#include "device/cpu/plan/layout.h"
#include "device/cpu/plan/plan.h"
#include "graph/core.h"

namespace tengine::cpu {
namespace {

bool is_copy(const Step& step)
{
    return step.kernel == find_layout_kernel(Layout::kPlanar) ||
           step.kernel == find_layout_kernel(Layout::kChannelsLast);
}

// Prints "timed: conv.f32.winograd4x4 1.804 ms, conv.f32.nhwc 1.230 ms"; an end that does not fit
// is left out.
void print_times(const KernelTimes& times, char* text, size_t size)
{
    const char* before = "timed: ";
    for (const KernelTime& time : times) {
        const int length = std::snprintf(text, size, "%s%s %.3f ms", before, time.kernel->name,
                                         static_cast<double>(time.ns) * 1e-6);
        if (length < 0 || static_cast<size_t>(length) >= size) {
            *text = '\0';
            return;
        }
        text += length;
        size -= static_cast<size_t>(length);
        before = ", ";
    }
}

// Orders steps by their positions.
struct ComparePositions
{
    bool operator()(const Step& step, int position) const { return step.position < position; }
    bool operator()(int position, const Step& step) const { return position < step.position; }
};

}  // namespace

void Plan::explain(int position, ir_node_kernel_t* out_kernel) const
{
    const auto [begin, end] =
        std::equal_range(steps_.begin(), steps_.end(), position, ComparePositions());
    const auto found = std::find_if(begin, end, [](const Step& step) {
        return step.kernel && !step.dynamic && !is_copy(step);
    });
    if (found == end) return;
    std::snprintf(out_kernel->name, sizeof out_kernel->name, "%s", found->kernel->name);
    if (found->untimed)
        std::snprintf(out_kernel->reason, sizeof out_kernel->reason, "%s", found->untimed);
    else
        print_times(found->times, out_kernel->reason, sizeof out_kernel->reason);
}

namespace {

template <class Item>
void append(struct vector* list, const Item& item)
{
    if (push_vector_data(list, &item) < 0) throw std::bad_alloc();
}

// The indices of tensors in the part's graph, by the data that a copy in another layout shares with
// its original.
Map<const ir_tensor_core*, int32_t> index_tensors(const graph& graph)
{
    Map<const ir_tensor_core*, int32_t> indices;
    for (int i = 0; i < graph.tensor_num; ++i)
        indices[graph.tensor_list[i]->core] = i;
    return indices;
}

// Scratch in an arena, and the steps that have it.
struct ScratchBlock
{
    ArenaPlan::Scratch place;
    int32_t first, last;
};

Vector<ScratchBlock> list_scratch(const ArenaPlan& plan, size_t step_num)
{
    Vector<ScratchBlock> list;
    for (size_t i = 0; i < plan.scratch.size(); ++i)
        if (plan.scratch[i].bytes > 0)
            list.push_back({plan.scratch[i], static_cast<int32_t>(i), static_cast<int32_t>(i)});
    if (plan.scratch.empty() && plan.sizes[0] > plan.scratch_offset)
        list.push_back({{0, plan.scratch_offset, plan.sizes[0] - plan.scratch_offset},
                        0,
                        static_cast<int32_t>(step_num) - 1});
    return list;
}

// The bytes of a memory that a block has, from its first step to its last.
struct Extent
{
    int32_t memory;
    size_t begin, end;
    int32_t first, last;
};

// Adds a tensor to the extent of its block; extents are those of the blocks by number.
void widen(Vector<Extent>& extents, const ArenaPlan::Entry& entry)
{
    const auto block = static_cast<size_t>(entry.block);
    if (extents.size() <= block) extents.resize(block + 1, {0, SIZE_MAX, 0, INT32_MAX, -1});
    Extent& extent = extents[block];
    extent.memory = entry.memory;
    extent.begin = std::min(extent.begin, entry.offset);
    extent.end = std::max(extent.end, entry.offset + entry.bytes);
    extent.first = std::min(extent.first, entry.first);
    extent.last = std::max(extent.last, entry.last);
}

// The bytes of a memory that blocks have in each step, beside those that are taken in all.
Vector<size_t> count_taken(const Vector<Extent>& extents, int32_t memory, size_t step_num,
                           size_t in_all)
{
    Vector<size_t> taken(step_num, in_all);
    for (const Extent& each : extents)
        for (int32_t step = each.first; each.memory == memory && step <= each.last; ++step)
            taken[static_cast<size_t>(step)] += each.end - each.begin;
    return taken;
}

// The reason why a block is not in the memory before its own, of which blocks have `taken`.
ir_block_place_t explain_place(const Extent& block, const Vector<size_t>& taken, size_t room)
{
    if (block.end - block.begin > room)
        return {block.memory, IR_PLACE_TOO_LARGE, static_cast<int64_t>(room), 0, 0, 0};
    const size_t most =
        *std::max_element(taken.begin() + block.first, taken.begin() + block.last + 1);
    return {block.memory, IR_PLACE_NO_ROOM, static_cast<int64_t>(most), 0, 0, 0};
}

}  // namespace

void Plan::list_blocks(const subgraph& part, struct vector* out_blocks,
                       struct vector* out_steps) const
{
    const Map<const ir_tensor_core*, int32_t> indices = index_tensors(*part.graph);
    int32_t most = 0;
    for (const ArenaPlan::Entry& entry : planned_.entries) {
        ir_part_block_t block = {};
        block.tensor = indices.at(entry.value->core);
        block.block = entry.block;
        block.offset = static_cast<int64_t>(entry.offset);
        block.bytes = static_cast<int64_t>(entry.bytes);
        block.first = entry.first;
        block.last = entry.last;
        append(out_blocks, block);
        most = std::max(most, entry.block + 1);
    }
    for (const ScratchBlock& each : list_scratch(planned_, steps_.size())) {
        ir_part_block_t scratch = {};
        scratch.tensor = -1;
        scratch.block = most++;
        scratch.offset = static_cast<int64_t>(each.place.offset);
        scratch.bytes = static_cast<int64_t>(each.place.bytes);
        scratch.first = each.first;
        scratch.last = each.last;
        append(out_blocks, scratch);
    }
    for (const ArenaPlan::Kept& kept : planned_.kept) {
        const Step& step = steps_[kept.step];
        const tensor* weights = step.context.input(std::max(step.kernel->unaligned_input, 1));
        const auto found = weights ? indices.find(weights->core) : indices.end();
        ir_part_block_t block = {};
        block.tensor = found == indices.end() ? -1 : found->second;
        block.block = most++;
        block.offset = static_cast<int64_t>(kept.offset);
        block.bytes = static_cast<int64_t>(kept.bytes);
        block.last = static_cast<int32_t>(steps_.size()) - 1;
        append(out_blocks, block);
    }
    for (const Step& step : steps_)
        append(out_steps, int32_t{step.position});
}

void Plan::list_places(struct vector* out_places) const
{
    Vector<Extent> extents;
    for (const ArenaPlan::Entry& entry : planned_.entries)
        widen(extents, entry);
    const size_t tensor_blocks = extents.size();
    for (const ScratchBlock& each : list_scratch(planned_, steps_.size()))
        extents.push_back({each.place.memory, each.place.offset,
                           each.place.offset + each.place.bytes, each.first, each.last});
    Vector<Vector<size_t>> taken;
    for (size_t i = 0; i + 1 < tiers_.size(); ++i)
        taken.push_back(
            count_taken(extents, static_cast<int32_t>(i), steps_.size(), planned_.taken[i]));
    const auto explain = [&](const Extent& block, uint64_t moved) {
        ir_block_place_t place = {};
        if (block.memory > 0) {
            const auto faster = static_cast<size_t>(block.memory) - 1;
            place = explain_place(block, taken[faster], tiers_[faster].bytes);
        }
        place.moved = static_cast<int64_t>(moved);
        return place;
    };
    for (const ArenaPlan::Entry& entry : planned_.entries)
        append(out_places, explain(extents[static_cast<size_t>(entry.block)], entry.moved));
    for (size_t i = tensor_blocks; i < extents.size(); ++i)
        append(out_places, explain(extents[i], 2 * uint64_t{extents[i].end - extents[i].begin}));
    for (const ArenaPlan::Kept& kept : planned_.kept) {
        const int32_t last = static_cast<int32_t>(steps_.size()) - 1;
        ir_block_place_t place = explain({kept.memory, 0, kept.bytes, 0, last}, kept.moved);
        place.is_kept = 1;
        append(out_places, place);
    }
}

}  // namespace tengine::cpu
