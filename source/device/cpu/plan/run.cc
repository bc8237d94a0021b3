// SPDX-License-Identifier: Apache-2.0
// Runs of a plan: its steps in order.
#include <algorithm>
#include <memory>

#include "base/clock.h"
#include "device/cpu/parallel.h"
#include "device/cpu/plan/plan.h"
#include "graph/preparation.h"
#include "operator/infer.h"

namespace tengine::cpu {
namespace {

// A copy has something to do when what it writes has elements; those of the node that it is for may
// not be known before that node runs.
bool has_results(const Step& step)
{
    return has_elements(*step.context.node) ||
           std::any_of(step.outputs.begin(), step.outputs.end(),
                       [](const tensor* output) { return output && output->elem_num > 0; });
}

int run_kernel(Step& step)
{
    step.refresh_views();  // tensors of the part's border may lie elsewhere each time
    return has_results(step) ? step.kernel->run(step.context) : TENGINE_OK;
}

int allocate_result(const node& node, tensor& result)
{
    const auto bytes = static_cast<int64_t>(get_ir_tensor_bytes(&result));
    TENGINE_RETURN_IF_ERROR(check_ir_memory(node.graph, bytes, node.name));
    return allocate_ir_tensor(&result);
}

#ifndef TENGINE_MINIMAL
// What a kernel keeps, until another preparation has found there what both share: packed weights.
class HeldState
{
  public:
    explicit HeldState(KernelContext& context)
        : state_(context.state), free_state_(context.free_state)
    {
        context.state = nullptr;
        context.free_state = nullptr;
    }
    ~HeldState()
    {
        if (free_state_) free_state_(state_);
    }
    HeldState(const HeldState&) = delete;
    HeldState& operator=(const HeldState&) = delete;

  private:
    void* state_;
    void (*free_state_)(void* state);
};

Vector<int> list_shapes(const node& node)
{
    Vector<int> shapes;
    const auto add = [&](const tensor* value) {
        shapes.push_back(value ? value->dim_num : -1);
        if (value) shapes.insert(shapes.end(), value->dims, value->dims + value->dim_num);
    };
    for (int i = 0; i < node.input_num; ++i)
        add(get_ir_node_input(&node, i));
    for (int i = 0; i < node.output_num; ++i)
        add(get_ir_node_output(&node, i));
    return shapes;
}
#endif

// Chooses and prepares the kernel of a dynamic step for its shapes. Where they are those of the run
// before, a kernel with packed weights is ready: it depends on nothing else but constants.
int prepare_kernel(const KernelList& kernels, Step& step)
{
#ifndef TENGINE_MINIMAL
    if (!has_elements(*step.context.node)) return TENGINE_OK;  // it will not run
    Vector<int> shapes = list_shapes(*step.context.node);
    if (step.context.packed.data && shapes == step.shapes) return TENGINE_OK;
    step.shapes.swap(shapes);
    const HeldState before(step.context);
#endif
    step.kernel = nullptr;  // that of other shapes may not accept these
    step.context.scratch_size = 0;
    TENGINE_RETURN_IF_ERROR(choose_kernel(kernels, step));
    return pack_weights(step);
}

}  // namespace

int Plan::run()
{
    const ParallelRun awake(pool_.get());
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
    // Nodes that others compute take no time.
    std::fill(times_.begin(), times_.end(), int64_t{0});
    uint64_t start = get_time_ns();
    for (Step& step : steps_) {
        TENGINE_RETURN_IF_ERROR(run_step(step));
        const uint64_t end = get_time_ns();
        times_[static_cast<size_t>(step.position)] += static_cast<int64_t>(end - start);
        start = end;
    }
    return TENGINE_OK;
}

// All inputs have data now, so shape inference can finish; kernels of operators that find their
// output's shape themselves also allocate it.
int Plan::run_dynamic(Step& step)
{
    node& node = *step.context.node;
    const int status = node.op.same_shape
                           ? set_node_output_like(&node, 0, get_ir_node_input(&node, 0), -1)
                           : node.op.infer_shape(&node);
    TENGINE_RETURN_IF_ERROR(status);
    const bool self_shaped = allocates_outputs(node);
    if (status == OP_SHAPE_LATER && !self_shaped)
        return fail_node(&node, TENGINE_EINTERNAL, "its shape is unknown even at run time");
    for (int i = 0; i < node.output_num && !self_shaped; ++i)
        if (tensor* output = get_ir_node_output(&node, i))
            TENGINE_RETURN_IF_ERROR(allocate_result(node, *output));
    TENGINE_RETURN_IF_ERROR(prepare_kernel(kernels_, step));
    const std::unique_ptr<void, void (*)(void*)> scratch(alloc_memory64(step.context.scratch_size),
                                                         free_memory);
    if (!scratch) return fail_node(&node, TENGINE_ENOMEM, "no memory for scratch");
    step.context.scratch = scratch.get();
    return run_kernel(step);
}

}  // namespace tengine::cpu
