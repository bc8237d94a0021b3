// SPDX-License-Identifier: Apache-2.0
#include "device/cpu/plan/plan.h"

#include <algorithm>
#include <utility>

#include "base/clock.h"
#include "graph/preparation.h"

namespace tengine::cpu {

Step::Step(Step&& other) noexcept
    : kernel(other.kernel), context(other.context), dynamic(other.dynamic)
{
    other.context.state = nullptr;
    other.context.free_state = nullptr;
}

void Step::release_state()
{
    if (context.free_state) context.free_state(context.state);
    context.state = nullptr;
    context.free_state = nullptr;
    context.state_bytes = 0;
}

namespace {

// Whether there is anything to compute. Kernels walk over the dimensions that are not 0 and have
// tables for them, and a hostile shape may have 2^43 of them beside its 0.
bool has_elements(const node& node)
{
    if (node.custom_kernel || (node.op.method->traits & OP_SELF_SHAPED) != 0) return true;
    for (int i = 0; i < node.output_num; i++) {
        const tensor* output = get_ir_node_output(&node, i);
        if (output && output->elem_num > 0) return true;
    }
    return false;
}

int run_kernel(Step& step)
{
    return has_elements(*step.context.node) ? step.kernel->run(step.context) : TENGINE_OK;
}

}  // namespace

int Plan::create(const KernelList& kernels, subgraph& part, std::unique_ptr<Plan>* out_plan)
{
    std::unique_ptr<Plan> plan(new Plan(kernels));
    TENGINE_RETURN_IF_ERROR(share_graph_pool(*part.graph, &plan->pool_));
    TENGINE_RETURN_IF_ERROR(plan->add_steps(part));
    TENGINE_RETURN_IF_ERROR(plan->plan_arena(part));
    *out_plan = std::move(plan);
    return TENGINE_OK;
}

Plan::~Plan()
{
    steps_.clear();
    for (tensor* value : planned_)
        value->data = nullptr;
    free_memory(arena_);
}

int Plan::add_steps(subgraph& part)
{
    steps_.reserve(static_cast<size_t>(part.node_num));
    if (part.graph->run_options.profile)
        times_.assign(static_cast<size_t>(part.node_num), int64_t{-1});
    for (int i = 0; i < part.node_num; i++) {
        Step& step = steps_.emplace_back();
        step.context.node = part.graph->node_list[part.node_list[i]];
        step.context.pool = pool_.get();
        step.dynamic = step.context.node->dynamic_shape != 0;
        if (!step.dynamic) TENGINE_RETURN_IF_ERROR(prepare_step(step));
    }
    return TENGINE_OK;
}

int Plan::prepare_step(Step& step)
{
    step.kernel = kernels_.pick(*step.context.node);
    if (!step.kernel)
        return fail_node(step.context.node, TENGINE_EDTYPE, "no kernel takes its types and shapes");
    step.release_state();
    if (!step.kernel->prepare || !has_elements(*step.context.node)) return TENGINE_OK;
    return step.kernel->prepare(step.context);
}

int Plan::plan_arena(const subgraph& part)
{
    ArenaPlan tensors;
    TENGINE_RETURN_IF_ERROR(plan_tensors(part, steps_, &tensors));
    uint64_t scratch_bytes = 0;
    for (const Step& step : steps_)
        scratch_bytes = std::max(scratch_bytes, step.context.scratch_size);
    size_t scratch_offset;
    if (!checked_align(tensors.bytes, ALLOC_ALIGNMENT, &scratch_offset) ||
        scratch_bytes > SIZE_MAX ||
        !checked_add(scratch_offset, static_cast<size_t>(scratch_bytes), &arena_bytes_))
        return tengine_error_set(TENGINE_ELIMIT,
                                 "part %d needs more memory than there are "
                                 "addresses",
                                 part.index);
    TENGINE_RETURN_IF_ERROR(
        check_ir_memory(part.graph, static_cast<int64_t>(arena_bytes_), "an arena of the CPU"));
    arena_ = static_cast<char*>(alloc_memory(arena_bytes_));
    if (!arena_)
        return tengine_error_set(TENGINE_ENOMEM, "part %d: no memory for an arena of %zu bytes",
                                 part.index, arena_bytes_);
    for (const auto& [value, offset] : tensors.entries) {
        value->data = arena_ + offset;
        planned_.push_back(value);
    }
    for (Step& step : steps_)
        step.context.scratch = arena_ + scratch_offset;
    return TENGINE_OK;
}

int Plan::run()
{
    if (!times_.empty()) return run_profiled();
    for (Step& step : steps_)
        TENGINE_RETURN_IF_ERROR(run_step(step));
    return TENGINE_OK;
}

int Plan::run_step(Step& step)
{
    return step.dynamic ? run_dynamic(step) : run_kernel(step);
}

int Plan::run_profiled()
{
    uint64_t start = get_time_ns();
    for (size_t i = 0; i < steps_.size(); i++) {
        TENGINE_RETURN_IF_ERROR(run_step(steps_[i]));
        const uint64_t end = get_time_ns();
        times_[i] = static_cast<int64_t>(end - start);
        start = end;
    }
    return TENGINE_OK;
}

size_t Plan::compiled_bytes() const
{
    size_t bytes = sizeof(*this) + sizeof(Step) * steps_.capacity() +
                   sizeof(int64_t) * times_.capacity() + sizeof(tensor*) * planned_.capacity();
    for (const Step& step : steps_)
        bytes += step.context.state_bytes;
    return bytes;
}

void Plan::copy_times(int64_t* out_ns) const
{
    if (times_.empty())
        std::fill_n(out_ns, steps_.size(), int64_t{-1});
    else
        std::copy(times_.begin(), times_.end(), out_ns);
}

namespace {

int allocate_result(const node& node, tensor& result)
{
    const auto bytes = static_cast<int64_t>(get_ir_tensor_bytes(&result));
    TENGINE_RETURN_IF_ERROR(check_ir_memory(node.graph, bytes, node.name));
    return allocate_ir_tensor(&result);
}

}  // namespace

// All inputs have data now, so shape inference can finish; kernels of operators that find their
// output's shape themselves also allocate it.
int Plan::run_dynamic(Step& step)
{
    node& node = *step.context.node;
    const int status = node.op.same_shape
                           ? set_node_output_like(&node, 0, get_ir_node_input(&node, 0), -1)
                           : node.op.infer_shape(&node);
    TENGINE_RETURN_IF_ERROR(status);
    const bool self_shaped = (node.op.method->traits & OP_SELF_SHAPED) != 0;
    if (status == OP_SHAPE_LATER && !self_shaped)
        return fail_node(&node, TENGINE_EINTERNAL, "its shape is not known even at run time");
    for (int i = 0; i < node.output_num && !self_shaped; i++)
        if (tensor* output = get_ir_node_output(&node, i))
            TENGINE_RETURN_IF_ERROR(allocate_result(node, *output));
    step.context.scratch_size = 0;
    TENGINE_RETURN_IF_ERROR(prepare_step(step));
    const std::unique_ptr<void, void (*)(void*)> scratch(alloc_memory64(step.context.scratch_size),
                                                         free_memory);
    if (!scratch) return fail_node(&node, TENGINE_ENOMEM, "no memory for scratch");
    step.context.scratch = scratch.get();
    return run_kernel(step);
}

}  // namespace tengine::cpu
