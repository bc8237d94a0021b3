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

}  // namespace

void Plan::list_blocks(const subgraph& part, struct vector* out_blocks,
                       struct vector* out_steps) const
{
    const Map<const ir_tensor_core*, int32_t> indices = index_tensors(*part.graph);
    int32_t most = 0;
    for (const ArenaPlan::Entry& entry : planned_) {
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
    if (arena_bytes_ > scratch_offset_) {
        ir_part_block_t scratch = {};
        scratch.tensor = -1;
        scratch.block = most;
        scratch.offset = static_cast<int64_t>(scratch_offset_);
        scratch.bytes = static_cast<int64_t>(arena_bytes_ - scratch_offset_);
        scratch.last = static_cast<int32_t>(steps_.size()) - 1;
        append(out_blocks, scratch);
    }
    for (const Step& step : steps_)
        append(out_steps, int32_t{step.position});
}

}  // namespace tengine::cpu
