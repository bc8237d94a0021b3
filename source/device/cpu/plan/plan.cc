// SPDX-License-Identifier: Apache-2.0
#include "device/cpu/plan/plan.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/minimal.h"
#include "graph/core.h"
#include "tengine/device.h"

namespace tengine::cpu {
namespace {

#ifdef TENGINE_KEEPS_PARTS
constexpr bool kKeepsParts = true;
#else
constexpr bool kKeepsParts = false;
#endif

}  // namespace

int Plan::choose(const KernelList& kernels, subgraph& part, std::unique_ptr<Plan>* out_plan)
{
    std::unique_ptr<Plan> plan(new Plan(kernels));
    TENGINE_RETURN_IF_ERROR(share_graph_pool(*part.graph, &plan->pool_));
    plan->add_steps(part);
    if (!kernels.has_references_only()) {
        fuse_steps(kernels, part, plan->steps_);
        if (!IS_MINIMAL) fuse_attention(part, plan->steps_);
    }
    choose_layouts(kernels, part, plan->steps_, plan->copies_);
    TENGINE_RETURN_IF_ERROR(
        plan->for_each_known([&](Step& step) { return choose_kernel(kernels, step); }));
    *out_plan = std::move(plan);
    return TENGINE_OK;
}

int Plan::prepare(subgraph& part, const Vector<memory_tier_t>& tiers)
{
    for (Step& step : steps_) {
        if (IS_MINIMAL) break;  // see is_ir_tensor_aligned()
        TENGINE_RETURN_IF_ERROR(step.dynamic ? AlignedConstants::align_dynamic(kernels_, step)
                                             : constants_.align(step));
    }
    if (!IS_MINIMAL) {
        join_channels(part, steps_, &joins_);
        divide_batch(part, steps_, joins_, &batches_);
    }
    TENGINE_RETURN_IF_ERROR(prepare_steps());
    TENGINE_RETURN_IF_ERROR(reserve_arenas(part, tiers));
    return IS_MINIMAL ? TENGINE_OK : keep_weights(part);
}

int Plan::prepare_steps()
{
    const auto prepare = [this](size_t begin, size_t end) {
        for (size_t i = begin; i < end; ++i) {
            steps_[i].bind();
            if (!steps_[i].dynamic) TENGINE_RETURN_IF_ERROR(pack_weights(steps_[i]));
        }
        return int{TENGINE_OK};
    };
    size_t next = 0;
    for (const MicroBatches& batches : batches_) {
        TENGINE_RETURN_IF_ERROR(prepare(next, batches.begin));
        const MicroBatch batch(batches);
        TENGINE_RETURN_IF_ERROR(prepare(batches.begin, batches.end));
        next = batches.end;
    }
    return prepare(next, steps_.size());
}

Plan::~Plan()
{
    leave_part();
    for (const State& original : originals_)
        if (original.free) original.free(original.state);
}

void Plan::leave_part()
{
    for (const ArenaPlan::Entry& entry : planned_.entries)
        entry.value->data = nullptr;
    planned_ = {};
    free_kept();
    std::fill(std::begin(arenas_), std::end(arenas_), nullptr);
}

void Plan::add_steps(const subgraph& part)
{
    node_num_ = static_cast<size_t>(part.node_num);
    steps_.reserve(node_num_);
    if (part.graph->run_options->profile)
        times_.assign(static_cast<size_t>(part.node_num), int64_t{-1});
    for (int i = 0; i < part.node_num; ++i) {
        Step& step = steps_.emplace_back();
        step.context.node = part.graph->node_list[part.node_list[i]];
        step.context.pool = pool_.get();
        step.dynamic = step.context.node->dynamic_shape != 0;
        step.position = i;
        for (int input = 0; input < step.context.node->input_num; ++input)
            step.inputs.push_back(get_ir_node_input(step.context.node, input));
        for (int output = 0; output < step.context.node->output_num; ++output)
            step.outputs.push_back(get_ir_node_output(step.context.node, output));
    }
}

template <class Work>
int Plan::for_each_known(const Work& work)
{
    for (Step& step : steps_)
        if (!step.dynamic) TENGINE_RETURN_IF_ERROR(work(step));
    return TENGINE_OK;
}

// Takes the arena of the model's file, which is either for micro-batches or without. False if there
// is none, or it does not fit.
int Plan::take_tensors(const subgraph& part, const Vector<memory_tier_t>& tiers,
                       ArenaPlan* out_plan, bool* out_taken)
{
    *out_taken = false;
    if (!kKeepsParts || !part.core->planned_blocks) return TENGINE_OK;
    int status = take_arena(part, steps_, joins_, batches_, tiers, out_plan);
    if (status == TENGINE_ENOENT && !batches_.empty()) {
        *out_plan = {};
        status = take_arena(part, steps_, joins_, {}, tiers, out_plan);
        if (status == TENGINE_OK) {
            batches_ = {};
            TENGINE_RETURN_IF_ERROR(prepare_steps());
        }
    }
    *out_taken = status == TENGINE_OK;
    if (status == TENGINE_OK || status == TENGINE_ENOMEM) return status;
    TLOG_INFO("part %d: the memory of the CPU is planned again: %s", part.index,
              tengine_error_message());
    tengine_error_clear();
    *out_plan = {};
    return TENGINE_OK;
}

// Micro-batches keep their inputs and results whole while they run, so that the arena may be larger
// than without them, which it is not allowed to be.
int Plan::place_tensors(const subgraph& part, const Vector<memory_tier_t>& tiers,
                        ArenaPlan* out_plan)
{
    bool is_taken;
    TENGINE_RETURN_IF_ERROR(take_tensors(part, tiers, out_plan, &is_taken));
    if (is_taken) return TENGINE_OK;
    TENGINE_RETURN_IF_ERROR(plan_arena(part, steps_, joins_, batches_, tiers, out_plan));
    if (batches_.empty()) return TENGINE_OK;
    ArenaPlan whole;
    TENGINE_RETURN_IF_ERROR(plan_arena(part, steps_, joins_, {}, tiers, &whole));
    if (out_plan->bytes <= whole.bytes) return TENGINE_OK;
    batches_ = {};
    TENGINE_RETURN_IF_ERROR(prepare_steps());
    *out_plan = {};
    return plan_arena(part, steps_, joins_, batches_, tiers, out_plan);
}

int Plan::reserve_arenas(subgraph& part, const Vector<memory_tier_t>& tiers)
{
    TENGINE_RETURN_IF_ERROR(place_tensors(part, tiers, &planned_));
    tiers_ = tiers;
    part.plan_bytes = planned_.bytes;
    for (size_t i = 0; i < tiers.size(); ++i)
        TENGINE_RETURN_IF_ERROR(set_ir_part_scratch(&part, static_cast<int>(i), planned_.sizes[i]));
    return TENGINE_OK;
}

// The core lends the arenas for a run, at addresses of its choice.
void Plan::use_arenas(const subgraph& part)
{
    bool same = true;
    for (int i = 0; i < IR_MOST_MEMORIES; ++i) {
        auto* arena = static_cast<char*>(get_ir_part_scratch(&part, i));
        same = same && arena == arenas_[i];
        arenas_[i] = arena;
    }
    if (same) return;
    for (const ArenaPlan::Entry& entry : planned_.entries)
        entry.value->data = arenas_[entry.memory] + entry.offset;
    for (size_t i = 0; i < steps_.size(); ++i) {
        const ArenaPlan::Scratch shared = {0, planned_.scratch_offset, 0};
        const ArenaPlan::Scratch& own = planned_.scratch.empty() ? shared : planned_.scratch[i];
        steps_[i].context.scratch = arenas_[own.memory] + own.offset;
    }
}

size_t Plan::compiled_bytes() const
{
    size_t bytes = sizeof(*this) + sizeof(Step) * steps_.capacity() +
                   sizeof(int64_t) * times_.capacity() +
                   sizeof(ArenaPlan::Entry) * planned_.entries.capacity() +
                   sizeof(ArenaPlan::Scratch) * planned_.scratch.capacity() +
                   sizeof(ArenaPlan::Kept) * planned_.kept.capacity() +
                   sizeof(State) * originals_.capacity() + constants_.bytes();
#ifndef TENGINE_MINIMAL
    bytes += static_cast<size_t>(dynamic_scratch_bytes_);
#endif
    for (const Step& step : steps_)
        bytes += step.state_bytes();
    for (const State& original : originals_)
        bytes += original.count ? original.count(original.state) : original.bytes;
    for (const size_t kept : planned_.kept_sizes)
        bytes += kept;
    return bytes;
}

void Plan::copy_times(int64_t* out_ns) const
{
    if (times_.empty())
        std::fill_n(out_ns, node_num_, int64_t{-1});
    else
        std::copy(times_.begin(), times_.end(), out_ns);
}

}  // namespace tengine::cpu
