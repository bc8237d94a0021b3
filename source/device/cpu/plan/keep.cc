// SPDX-License-Identifier: Apache-2.0
// Copies packed weights into faster memories of the board, where the plan has places for them. A
// kernel takes the copy as it takes weights that another process has packed.
#include <algorithm>
#include <cstring>
#include <iterator>
#include <optional>

#include "base/named_memory.h"
#include "device/cpu/plan/plan.h"
#include "graph/core.h"

namespace tengine::cpu {
namespace {

void* align_up(void* memory)
{
    const auto address = reinterpret_cast<uintptr_t>(memory);
    const uintptr_t mask = ALLOC_ALIGNMENT - 1;
    return static_cast<char*>(memory) + (((address + mask) & ~mask) - address);
}

}  // namespace

int Plan::keep_weights(subgraph& part)
{
    reserve_kept(part);
    originals_.reserve(planned_.kept.size());
    for (const ArenaPlan::Kept& kept : planned_.kept)
        TENGINE_RETURN_IF_ERROR(move_weights(kept));
    return TENGINE_OK;
}

// Weights stay where they are if another graph has taken the memory meanwhile.
void Plan::reserve_kept(subgraph& part)
{
    Vector<ArenaPlan::Kept>& list = planned_.kept;
    for (int i = 0; i < part.core->scratch_num; ++i) {
        size_t& size = planned_.kept_sizes[i];
        if (size == 0) continue;
        kept_memory_[i] = alloc_named_memory(part.core->scratch[i].own.memory, size);
        if (!kept_memory_[i]) {
            list.erase(std::remove_if(list.begin(), list.end(),
                                      [i](const auto& kept) { return kept.memory == i; }),
                       list.end());
            size = 0;
        }
        set_ir_part_plan_bytes(&part, i, size);
        part.plan_bytes += size;
    }
}

// The step gets a state for the copy, in place of that with the original, which other parts may
// have as well.
int Plan::move_weights(const ArenaPlan::Kept& kept)
{
    Step& step = steps_[kept.step];
    KernelContext& context = step.context;
    auto* copy = static_cast<char*>(align_up(kept_memory_[kept.memory])) + kept.offset;
    std::memcpy(copy, context.packed.data, kept.bytes);
    originals_.push_back(
        {context.state, context.free_state, context.state_bytes, context.count_state});
    context.state = nullptr;
    context.free_state = nullptr;
    context.saved = {copy, kept.bytes};
    std::optional<MicroBatch> batch;
    for (const MicroBatches& range : batches_)
        if (range.begin <= kept.step && kept.step < range.end) batch.emplace(range);
    return pack_weights(step);
}

void Plan::free_kept()
{
    for (void*& memory : kept_memory_) {
        free_named_memory(memory);
        memory = nullptr;
    }
}

}  // namespace tengine::cpu
