// SPDX-License-Identifier: Apache-2.0
// Plans memory for the tensors inside a part.
#include <algorithm>

#include "base/memory_plan.h"
#include "device/cpu/plan/part_outputs.h"
#include "device/cpu/plan/step.h"
#include "device/cpu/plan/tensor_table.h"
#include "device/cpu/plan/tiers.h"
#include "graph/core.h"
#include "graph/prepared.h"

namespace tengine::cpu {
namespace {

class ArenaPlanner
{
  public:
    ArenaPlanner(const subgraph& part, const Vector<Step>& steps, const Joins& joins,
                 const MicroBatchList& batches)
        : part_(part),
          steps_(steps),
          placements_(joins.placements),
          batches_(batches),
          border_(part)
    {
        for (const MicroBatches& range : batches) {
            ranges_.resize(range.end, nullptr);
            std::fill(ranges_.begin() + static_cast<ptrdiff_t>(range.begin), ranges_.end(), &range);
            for (const MicroBatches::Part& each : range.parts)
                if (each.bytes == 0) counts_[each.value] = range.count;
        }
        ranges_.resize(steps.size(), nullptr);
    }

    // Lists the blocks: those of tensors, then with several memories the scratch of steps.
    void list_blocks(const Vector<memory_tier_t>& tiers)
    {
        for (const Step& step : steps_)
            for (tensor* input : step.inputs)
                if (input) ++uses_[input].read_num;
        for (size_t i = 0; i < steps_.size(); ++i) {
            extend_inputs(static_cast<int>(i));
            add_outputs(static_cast<int>(i));
        }
        tensor_blocks_ = blocks_.size();
        if (!IS_MINIMAL && tiers.size() > 1) add_scratch();
        places_.resize(blocks_.size(), 0);
    }

    int plan(const Vector<memory_tier_t>& tiers, ArenaPlan* out_plan)
    {
        if (!IS_MINIMAL && tiers.size() > 1)
            TENGINE_RETURN_IF_ERROR(plan_tiers(tiers, list_residents(part_, steps_, batches_),
                                               moved_, &blocks_, &places_, out_plan));
        else
            TENGINE_RETURN_IF_ERROR(plan_memory(blocks_.data(),
                                                static_cast<int64_t>(blocks_.size()),
                                                ALLOC_ALIGNMENT, &out_plan->sizes[0]));
        fill(out_plan);
        return TENGINE_OK;
    }

    // Whether the blocks are as many and as large as those that the model's file has. It has none
    // of scratch without bytes.
    bool has_blocks(const ir_arena_block_t* planned, int number) const
    {
        int next = 0;
        for (const memory_block_t& block : blocks_)
            if (block.size > 0 && (next == number || planned[next++].bytes != block.size))
                return false;
        return next == number;
    }

    // Gives the blocks the offsets of the model's file, for which has_blocks() is true. EFORMAT.
    int take(const ir_arena_block_t* planned, const Vector<memory_tier_t>& tiers,
             ArenaPlan* out_plan)
    {
        for (size_t i = 0; i < blocks_.size(); ++i) {
            if (blocks_[i].size == 0) continue;
            if (planned->memory < 0 || static_cast<size_t>(planned->memory) >= tiers.size())
                return tengine_error_set(TENGINE_EFORMAT, "memory plan: block %zu is in memory %d",
                                         i, planned->memory);
            blocks_[i].offset = static_cast<size_t>(std::min<uint64_t>(planned->offset, SIZE_MAX));
            places_[i] = planned++->memory;
        }
        for (size_t i = 0; i < tiers.size(); ++i)
            TENGINE_RETURN_IF_ERROR(
                check_tier(static_cast<int32_t>(i), tiers[i].bytes, &out_plan->sizes[i]));
        fill(out_plan);
        if (!IS_MINIMAL && tiers.size() > 1)
            return plan_beside(tiers, list_residents(part_, steps_, batches_), out_plan);
        return TENGINE_OK;
    }

  private:
    struct Use
    {
        int read_num = 0;
        tensor* value = nullptr;  // null: it has no block
        size_t block = 0;
        size_t shift = 0;             // bytes from the begin of the block
        int32_t first = 0, last = 0;  // steps
        uint64_t moved = 0;           // bytes that steps write to and read from it
    };

    void extend_inputs(int step)
    {
        for (tensor* input : steps_[step].inputs) {
            if (!input || !uses_.find(input)->value) continue;
            extend(step, *input, uses_[input]);
            move(*input, uses_[input]);
        }
    }

    void move(const tensor& value, Use& use)
    {
        use.moved += get_ir_tensor_bytes(&value);
        moved_[use.block] += get_ir_tensor_bytes(&value);
    }

    // One block for each step. A kernel writes and reads its scratch.
    void add_scratch()
    {
        for (size_t i = 0; i < steps_.size(); ++i) {
            memory_block_t block = {};
            if (!steps_[i].dynamic)
                block.size = static_cast<size_t>(
                    std::min<uint64_t>(steps_[i].context.scratch_size, SIZE_MAX));
            block.first_use = block.last_use = static_cast<int32_t>(i);
            blocks_.push_back(block);
            moved_.push_back(2 * uint64_t{block.size});
        }
    }

    int check_tier(int32_t tier, size_t room, size_t* out_size) const
    {
        Vector<memory_block_t> inside;
        for (size_t i = 0; i < blocks_.size(); ++i)
            if (places_[i] == tier) inside.push_back(blocks_[i]);
        TENGINE_RETURN_IF_ERROR(check_memory_plan(
            inside.data(), static_cast<int64_t>(inside.size()), ALLOC_ALIGNMENT, out_size));
        if (*out_size <= room) return TENGINE_OK;
        return tengine_error_set(TENGINE_EFORMAT, "memory plan: memory %d has %zu bytes, not %zu",
                                 tier, room, *out_size);
    }

    void fill(ArenaPlan* out_plan) const
    {
        for (size_t i = tensor_blocks_; i < blocks_.size(); ++i)
            out_plan->scratch.push_back({places_[i], blocks_[i].offset, blocks_[i].size});
        for (const Use& use : uses_)
            if (use.value)
                out_plan->entries.push_back(
                    {use.value, places_[use.block], blocks_[use.block].offset + use.shift,
                     std::max<size_t>(count_bytes(*use.value), 1), static_cast<int32_t>(use.block),
                     use.first, use.last, use.moved});
    }

    // The pictures of one micro-batch, if no other step uses the tensor.
    bool is_divided(const tensor& value) const
    {
        return !IS_MINIMAL && counts_.find(&value) != nullptr;
    }

    size_t count_bytes(const tensor& value) const
    {
        const int count = is_divided(value) ? *counts_.find(&value) : 1;
        return get_ir_tensor_bytes(&value) / static_cast<size_t>(count);
    }

    // All micro-batches use a tensor that is not divided.
    const MicroBatches* find_range(int step, const tensor& value) const
    {
        return IS_MINIMAL || is_divided(value) ? nullptr : ranges_[step];
    }

    int find_first(int step, const tensor& value) const
    {
        const MicroBatches* range = find_range(step, value);
        return range ? static_cast<int>(range->begin) : step;
    }

    void extend(int step, const tensor& value, Use& use)
    {
        const MicroBatches* range = find_range(step, value);
        use.last = range ? static_cast<int>(range->end) - 1 : step;
        int& last = blocks_[use.block].last_use;
        last = std::max(last, use.last);
    }

    void add_outputs(int step)
    {
        for (size_t i = 0; i < steps_[step].outputs.size(); ++i) {
            tensor* output = steps_[step].outputs[i];
            if (!output || !is_ir_tensor_shape_known(output) || steps_[step].dynamic) continue;
            if (border_.has(*output)) continue;
            if (const Placement* placement = placements_.find(output)) {
                place_inside(step, *output, *placement);
                continue;
            }
            const Use* reused = find_in_place_input(step, static_cast<int>(i), *output);
            const size_t place = reused ? reused->block : blocks_.size();
            Use& use = uses_[output];
            use.value = output;
            use.block = place;
            use.first = find_first(step, *output);
            if (place == blocks_.size()) add_block(use.first, *output);
            extend(step, *output, use);
            move(*output, use);
        }
    }

    void add_block(int first, const tensor& value)
    {
        memory_block_t block = {};
        block.size = std::max<size_t>(count_bytes(value), 1);
        block.first_use = block.last_use = first;
        blocks_.push_back(block);
        moved_.push_back(0);
    }

    // The block of a joined tensor begins with the first tensor that is written into it. A tensor
    // that others lie in is placed in itself.
    void place_inside(int step, tensor& output, const Placement& placement)
    {
        Use& whole = uses_[placement.whole];
        const int first = find_first(step, *placement.whole);
        if (!whole.value) {
            whole.value = placement.whole;
            whole.block = blocks_.size();
            whole.first = whole.last = first;
            add_block(first, *placement.whole);
        }
        const size_t block = whole.block;
        Use& use = uses_[&output];
        if (!use.value) use.first = first;
        use.value = &output;
        use.block = block;
        use.shift = static_cast<size_t>(placement.first) * output.elem_size;
        extend(step, *placement.whole, use);
        move(output, use);
    }

    int ask_kernel(const Step& step, int output_index) const
    {
        if (step.kernel->find_in_place)
            return step.kernel->find_in_place(step.context, output_index);
        return output_index == 0 ? step.kernel->in_place_input : -1;
    }

    // The input whose memory an output may use, or null.
    const Use* find_in_place_input(int step, int output_index, const tensor& output) const
    {
        const int index = ask_kernel(steps_[step], output_index);
        const Vector<tensor*>& inputs = steps_[step].inputs;
        if (index < 0 || static_cast<size_t>(index) >= inputs.size()) return nullptr;
        tensor* input = inputs[index];
        const Use* use = input ? uses_.find(input) : nullptr;
        if (!use || use->read_num != 1 || !use->value || placements_.find(input)) return nullptr;
        return is_divided(*input) == is_divided(output) &&
                       get_ir_tensor_bytes(input) == get_ir_tensor_bytes(&output)
                   ? use
                   : nullptr;
    }

    const subgraph& part_;
    const Vector<Step>& steps_;
    const TensorTable<Placement>& placements_;
    const MicroBatchList& batches_;
    const PartOutputs border_;            // outputs of the part
    Vector<const MicroBatches*> ranges_;  // of each step, or null
    TensorTable<int> counts_;             // of micro-batches, for tensors that are divided
    TensorTable<Use> uses_;
    Vector<memory_block_t> blocks_;
    Vector<int32_t> places_;    // the memory of each
    size_t tensor_blocks_ = 0;  // the others are scratch
    Vector<uint64_t> moved_;    // bytes that steps write to and read from each
};

}  // namespace

namespace {

// Adds the scratch that steps share, and the sum of all memories.
int complete(const subgraph& part, const Vector<Step>& steps, ArenaPlan& plan)
{
    uint64_t scratch_bytes = 0;
    for (const Step& step : steps)
        if (plan.scratch.empty())
            scratch_bytes = std::max(scratch_bytes, step.context.scratch_size);
    bool fits =
        checked_align(plan.sizes[0], ALLOC_ALIGNMENT, &plan.scratch_offset) &&
        scratch_bytes <= SIZE_MAX &&
        checked_add(plan.scratch_offset, static_cast<size_t>(scratch_bytes), &plan.sizes[0]);
    for (const size_t size : plan.sizes)
        fits = fits && checked_add(plan.bytes, size, &plan.bytes);
    return fits ? TENGINE_OK
                : tengine_error_set(TENGINE_ELIMIT,
                                    "part %d needs more memory than the address space has",
                                    part.index);
}

}  // namespace

int plan_arena(const subgraph& part, const Vector<Step>& steps, const Joins& joins,
               const MicroBatchList& batches, const Vector<memory_tier_t>& tiers,
               ArenaPlan* out_plan)
{
    ArenaPlanner planner(part, steps, joins, batches);
    planner.list_blocks(tiers);
    TENGINE_RETURN_IF_ERROR(planner.plan(tiers, out_plan));
    return complete(part, steps, *out_plan);
}

int take_arena(const subgraph& part, const Vector<Step>& steps, const Joins& joins,
               const MicroBatchList& batches, const Vector<memory_tier_t>& tiers,
               ArenaPlan* out_plan)
{
    const ir_arena_block_t* planned = part.core->planned_blocks;
    const int number = part.core->planned_block_num;
    ArenaPlanner planner(part, steps, joins, batches);
    planner.list_blocks(tiers);
    if (!planner.has_blocks(planned, number))
        return tengine_error_set(TENGINE_ENOENT, "its %d blocks are not those of this plan",
                                 number);
    TENGINE_RETURN_IF_ERROR(planner.take(planned, tiers, out_plan));
    return complete(part, steps, *out_plan);
}

}  // namespace tengine::cpu
