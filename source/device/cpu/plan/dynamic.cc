// SPDX-License-Identifier: Apache-2.0
// Runs of steps whose shapes depend on data. The data for some shapes of the inputs, which are the
// shapes of the results, a kernel and its state, are used until other shapes occur.
#include <memory>
#include <utility>

#include "device/cpu/plan/plan.h"
#include "graph/graph.h"
#include "graph/preparation.h"
#include "operator/infer.h"

namespace tengine::cpu {
namespace {

// By the operator's rule.
int infer(node& node)
{
    return node.op.same_shape ? set_node_output_like(&node, 0, get_ir_node_input(&node, 0), -1)
                              : node.op.infer_shape(&node);
}

// All inputs have data now, so inference can finish; some kernels find the shapes of results
// themselves.
int infer_now(node& node)
{
    const int status = infer(node);
    if (status == OP_SHAPE_LATER && !allocates_outputs(node))
        return fail_node(&node, TENGINE_EINTERNAL, "its shape is unknown even at run time");
    return status < 0 ? status : TENGINE_OK;
}

int allocate_result(const node& node, tensor& result)
{
    const auto bytes = static_cast<int64_t>(get_ir_tensor_bytes(&result));
    TENGINE_RETURN_IF_ERROR(check_ir_memory(node.graph, bytes, node.name));
    return allocate_ir_tensor(&result);
}

#ifndef TENGINE_MINIMAL
// Type and dimensions of all inputs, one after the other: lists are equal if shapes are.
template <class Use>
void for_input_numbers(const node& node, const Use& use)
{
    for (int i = 0; i < node.input_num; ++i) {
        const tensor* input = get_ir_node_input(&node, i);
        use(input ? input->data_type : -1);
        use(input ? input->dim_num : 0);
        for (int k = 0; input && k < input->dim_num; ++k)
            use(input->dims[k]);
    }
}

bool has_shapes(const node& node, const Vector<int>& numbers)
{
    size_t next = 0;
    bool is_equal = !numbers.empty();
    for_input_numbers(node, [&](int number) {
        is_equal = is_equal && next < numbers.size() && numbers[next++] == number;
    });
    return is_equal && next == numbers.size();
}

// While an instance lives, only constant inputs have values, as before a run: results are then
// valid for other values, too.
class HiddenValues
{
  public:
    explicit HiddenValues(const Step& step)
    {
        const node& node = *step.context.node;
        // Nothing is hidden when the list runs out of memory.
        values_.reserve(static_cast<size_t>(node.input_num) + step.inputs.size());
        for (int i = 0; i < node.input_num; ++i)
            hide(get_ir_node_input(&node, i));
        for (tensor* input : step.inputs)
            hide(input);
    }
    ~HiddenValues()
    {
        // Backwards, since one that was hidden twice had its data the first time.
        for (auto entry = values_.rbegin(); entry != values_.rend(); ++entry)
            entry->first->data = entry->second;
    }
    HiddenValues(const HiddenValues&) = delete;
    HiddenValues& operator=(const HiddenValues&) = delete;

  private:
    void hide(tensor* input)
    {
        if (!input || input->tensor_type == TENSOR_TYPE_CONST) return;
        values_.push_back({input, input->data});
        input->data = nullptr;
    }

    Vector<std::pair<tensor*, void*>> values_;
};

// Whether the inputs' shapes alone decide the results', which are set then. Kernels that find the
// shapes in each run are excluded.
bool infer_by_shapes(const Step& step)
{
    node& node = *step.context.node;
    if (node.core->custom_kernel) return false;
    const HiddenValues hidden(step);
    const int status = infer(node);
    if (status < 0) tengine_error_clear();  // values may be necessary
    return status == TENGINE_OK || (status == OP_SHAPE_LATER && allocates_outputs(node));
}

// Results of the last run are reused, unless they have left the part or have another size.
int allocate_results(Step& step)
{
    const node& node = *step.context.node;
    step.result_bytes.resize(static_cast<size_t>(node.output_num));
    for (int i = 0; i < node.output_num; ++i) {
        tensor* output = get_ir_node_output(&node, i);
        size_t& bytes = step.result_bytes[static_cast<size_t>(i)];
        if (!output || (output->free_host_mem && bytes == get_ir_tensor_bytes(output))) continue;
        TENGINE_RETURN_IF_ERROR(allocate_result(node, *output));
        bytes = get_ir_tensor_bytes(output);
    }
    return TENGINE_OK;
}

#endif

}  // namespace

#ifdef TENGINE_MINIMAL
// Plans in each run, which takes less code.
int Plan::run_dynamic(Step& step)
{
    node& node = *step.context.node;
    TENGINE_RETURN_IF_ERROR(infer_now(node));
    for (int i = 0; i < node.output_num && !allocates_outputs(node); ++i)
        if (tensor* output = get_ir_node_output(&node, i))
            TENGINE_RETURN_IF_ERROR(allocate_result(node, *output));
    step.kernel = nullptr;
    step.context.scratch_size = 0;
    TENGINE_RETURN_IF_ERROR(choose_kernel(kernels_, step));
    TENGINE_RETURN_IF_ERROR(pack_weights(step));
    const std::unique_ptr<void, void (*)(void*)> scratch(alloc_memory64(step.context.scratch_size),
                                                         free_memory);
    if (!scratch) return fail_node(&node, TENGINE_ENOMEM, "out of memory for scratch");
    step.context.scratch = scratch.get();
    return run_kernel(step);
}
#else
int Plan::choose_and_pack(Step& step)
{
    if (!has_elements(*step.context.node)) return TENGINE_OK;  // it does not run
    step.kernel = nullptr;
    step.context.scratch_size = 0;
    TENGINE_RETURN_IF_ERROR(choose_kernel(kernels_, step));
    TENGINE_RETURN_IF_ERROR(constants_.align(step));
    step.bind();
    // Holding it makes its packs available for other shapes.
    const std::unique_ptr<void, void (*)(void*)> former(step.context.state,
                                                        step.context.free_state);
    step.context.free_state = nullptr;
    step.release_state();  // nothing of it is freed, or counted, twice
    return pack_weights(step);
}

int Plan::plan_dynamic(Step& step)
{
    step.prepared_for.clear();
    step.is_by_values = step.is_by_values || !infer_by_shapes(step);
    if (step.is_by_values) {
        TENGINE_RETURN_IF_ERROR(infer_now(*step.context.node));
        return choose_and_pack(step);
    }
    const HiddenValues hidden(step);
    TENGINE_RETURN_IF_ERROR(choose_and_pack(step));
    for_input_numbers(*step.context.node, [&](int number) { step.prepared_for.push_back(number); });
    return TENGINE_OK;
}

int Plan::reserve_scratch(const Step& step)
{
    const uint64_t bytes = step.context.scratch_size;
    if (bytes <= dynamic_scratch_bytes_ && dynamic_scratch_) return TENGINE_OK;
    dynamic_scratch_bytes_ = 0;
    dynamic_scratch_.reset(alloc_memory64(bytes));
    if (!dynamic_scratch_)
        return fail_node(step.context.node, TENGINE_ENOMEM, "out of memory for scratch");
    dynamic_scratch_bytes_ = bytes;
    return TENGINE_OK;
}

int Plan::run_dynamic(Step& step)
{
    const node& node = *step.context.node;
    if (!has_shapes(node, step.prepared_for)) TENGINE_RETURN_IF_ERROR(plan_dynamic(step));
    if (!allocates_outputs(node)) TENGINE_RETURN_IF_ERROR(allocate_results(step));
    TENGINE_RETURN_IF_ERROR(reserve_scratch(step));
    step.context.scratch = dynamic_scratch_.get();
    return run_kernel(step);
}
#endif

}  // namespace tengine::cpu
