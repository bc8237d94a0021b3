// SPDX-License-Identifier: Apache-2.0
// All blocks and residents are planned at once, which decides which residents have a place. Blocks
// share the rest of each memory with other parts, at other addresses, so that they are planned once
// more, in the room that these residents leave. The plan without residents is taken if it is
// better.
#include "device/cpu/plan/tiers.h"

#include <algorithm>

#include "base/alloc.h"
#include "graph/core.h"

namespace tengine::cpu {
namespace {

// ---- residents ----

uint64_t count_batches(const MicroBatchList& batches, size_t step)
{
    for (const MicroBatches& range : batches)
        if (range.begin <= step && step < range.end) return static_cast<uint64_t>(range.count);
    return 1;
}

// How often steps write or read a tensor.
uint64_t count_uses(const Vector<Step>& steps, const tensor& value)
{
    ptrdiff_t uses = 0;
    for (const Step& step : steps)
        for (const Vector<tensor*>* list : {&step.inputs, &step.outputs})
            uses += std::count(list->begin(), list->end(), &value);
    return static_cast<uint64_t>(uses);
}

// Inputs of the graph have the memory of the program.
bool is_planned(const subgraph& part, const tensor& value)
{
    const graph& whole = *part.graph->core->whole;
    return is_ir_tensor_shape_known(&value) &&
           whole.tensor_list[value.core->source_index]->producer >= 0;
}

// A boundary tensor is read elsewhere once more.
void add_boundary(const subgraph& part, const Vector<Step>& steps, int32_t index, bool is_output,
                  Vector<Resident>* residents)
{
    const tensor& value = *part.graph->tensor_list[index];
    if (!is_planned(part, value)) return;
    const size_t bytes = get_ir_tensor_bytes(&value);
    residents->push_back({SIZE_MAX, bytes, bytes * (count_uses(steps, value) + is_output)});
}

// ---- plans ----

struct Attempt
{
    Vector<memory_block_t> blocks;
    Vector<memory_tier_t> tiers;
    Vector<int32_t> memories;
    double saved = 0;  // ns KiB

    int plan(const Vector<uint64_t>& moved)
    {
        memories.resize(blocks.size());
        TENGINE_RETURN_IF_ERROR(plan_memory_tiers(
            blocks.data(), moved.data(), memories.data(), static_cast<int64_t>(blocks.size()),
            ALLOC_ALIGNMENT, tiers.data(), static_cast<int>(tiers.size())));
        for (size_t i = 0; i < blocks.size(); ++i)
            saved += find_saving(memories[i], moved[i]);
        return TENGINE_OK;
    }
    double find_saving(int32_t memory, uint64_t bytes) const
    {
        return static_cast<double>(bytes) *
               (tiers.back().ns_per_kib - tiers[static_cast<size_t>(memory)].ns_per_kib);
    }
};

// Residents with the memory that each has; those in the last one have no place.
struct Choice
{
    const Vector<Resident>& residents;
    Vector<int32_t> memories;
    int32_t last;

    bool is_empty() const
    {
        return std::all_of(memories.begin(), memories.end(),
                           [this](int32_t memory) { return memory == last; });
    }

    // The bytes that weights, or boundary tensors, have in a memory.
    size_t count_bytes(int32_t memory, bool of_weights) const
    {
        size_t sum = 0;
        for (size_t i = 0; i < residents.size(); ++i) {
            const Resident& each = residents[i];
            if (memories[i] == memory && (each.step != SIZE_MAX) == of_weights)
                sum += (each.bytes + ALLOC_ALIGNMENT - 1) / ALLOC_ALIGNMENT * ALLOC_ALIGNMENT;
        }
        return sum;
    }

    // The bytes that blocks lack in a memory. An allocation has a header and is aligned.
    size_t count_taken(int32_t memory) const
    {
        size_t sum = 0;
        for (const bool of_weights : {false, true})
            if (const size_t bytes = count_bytes(memory, of_weights))
                sum += bytes + size_t{2} * ALLOC_ALIGNMENT;
        return sum;
    }
};

int choose(const Vector<memory_tier_t>& tiers, const Vector<uint64_t>& moved,
           const Vector<memory_block_t>& blocks, Choice* out_choice)
{
    Attempt all = {blocks, tiers, {}, 0};
    Vector<uint64_t> all_moved = moved;
    int32_t last_step = 0;
    for (const memory_block_t& block : blocks)
        last_step = std::max(last_step, block.last_use);
    for (const Resident& each : out_choice->residents) {
        memory_block_t block = {};
        block.size = each.bytes;
        block.last_use = last_step;
        all.blocks.push_back(block);
        all_moved.push_back(each.moved);
    }
    TENGINE_RETURN_IF_ERROR(all.plan(all_moved));
    out_choice->memories.assign(all.memories.begin() + static_cast<ptrdiff_t>(blocks.size()),
                                all.memories.end());
    return TENGINE_OK;
}

// Plans the blocks in the room that residents leave.
int plan_in_rest(const Choice& choice, const Vector<uint64_t>& moved, Attempt* out_attempt)
{
    for (int32_t i = 0; i < choice.last; ++i) {
        size_t& bytes = out_attempt->tiers[static_cast<size_t>(i)].bytes;
        bytes -= std::min(bytes, choice.count_taken(i));
    }
    TENGINE_RETURN_IF_ERROR(out_attempt->plan(moved));
    for (size_t i = 0; i < choice.memories.size(); ++i)
        out_attempt->saved +=
            out_attempt->find_saving(choice.memories[i], choice.residents[i].moved);
    return TENGINE_OK;
}

void keep(const Choice& choice, ArenaPlan* plan)
{
    for (int32_t i = 0; i < choice.last; ++i)
        plan->taken[i] = choice.count_taken(i);
    for (size_t i = 0; i < choice.residents.size(); ++i) {
        const Resident& each = choice.residents[i];
        const int32_t memory = choice.memories[i];
        if (memory == choice.last || each.step == SIZE_MAX) continue;
        size_t& end = plan->kept_sizes[memory];
        plan->kept.push_back({each.step, memory, end, each.bytes, each.moved});
        end += (each.bytes + ALLOC_ALIGNMENT - 1) / ALLOC_ALIGNMENT * ALLOC_ALIGNMENT;
    }
}

}  // namespace

Vector<Resident> list_residents(const subgraph& part, const Vector<Step>& steps,
                                const MicroBatchList& batches)
{
    Vector<Resident> residents;
    for (size_t i = 0; i < steps.size(); ++i) {
        const uint64_t bytes = steps[i].dynamic ? 0 : steps[i].context.packed.size;
        if (bytes > 0 && bytes <= SIZE_MAX)
            residents.push_back({i, static_cast<size_t>(bytes), bytes * count_batches(batches, i)});
    }
    // Runs of a pipeline that are in flight have boundary tensors of their own.
    if (part.graph->run_options->concurrent || !part.graph->core->whole) return residents;
    for (int i = 0; i < part.input_num; ++i)
        add_boundary(part, steps, part.input_tensor_list[i], false, &residents);
    for (int i = 0; i < part.output_num; ++i)
        add_boundary(part, steps, part.output_tensor_list[i], true, &residents);
    return residents;
}

int plan_tiers(const Vector<memory_tier_t>& tiers, const Vector<Resident>& residents,
               const Vector<uint64_t>& moved, Vector<memory_block_t>* blocks,
               Vector<int32_t>* out_memories, ArenaPlan* out_plan)
{
    Choice choice = {residents, {}, static_cast<int32_t>(tiers.size()) - 1};
    Attempt best = {*blocks, tiers, {}, 0};
    TENGINE_RETURN_IF_ERROR(best.plan(moved));
    TENGINE_RETURN_IF_ERROR(choose(tiers, moved, *blocks, &choice));
    if (!choice.is_empty()) {
        Attempt beside = {*blocks, tiers, {}, 0};
        TENGINE_RETURN_IF_ERROR(plan_in_rest(choice, moved, &beside));
        if (beside.saved > best.saved) {
            best = std::move(beside);
            keep(choice, out_plan);
        }
    }
    *blocks = std::move(best.blocks);
    *out_memories = std::move(best.memories);
    for (size_t i = 0; i < tiers.size(); ++i)
        out_plan->sizes[i] = best.tiers[i].used;
    return TENGINE_OK;
}

int plan_beside(const Vector<memory_tier_t>& tiers, const Vector<Resident>& residents,
                ArenaPlan* plan)
{
    Vector<memory_tier_t> left = tiers;
    for (size_t i = 0; i + 1 < left.size(); ++i)
        left[i].bytes -= std::min(left[i].bytes, plan->sizes[i] + size_t{2} * ALLOC_ALIGNMENT);
    Choice choice = {residents, {}, static_cast<int32_t>(tiers.size()) - 1};
    TENGINE_RETURN_IF_ERROR(choose(left, {}, {}, &choice));
    keep(choice, plan);
    return TENGINE_OK;
}

}  // namespace tengine::cpu
