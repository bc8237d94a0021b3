// SPDX-License-Identifier: Apache-2.0
#include "device/cpu/plan/step.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "graph/core.h"
#include "operator/custom/custom_kernel.h"

namespace tengine::cpu {

Step::Step(Step&& other) noexcept
    : kernel(other.kernel),
      context(other.context),
      dynamic(other.dynamic),
      position(other.position),
      inputs(std::move(other.inputs)),
      outputs(std::move(other.outputs)),
      layout(other.layout),
      views(std::move(other.views)),
#ifndef TENGINE_MINIMAL
      attention(std::move(other.attention)),
      times(std::move(other.times)),
      untimed(other.untimed),
      is_by_values(other.is_by_values),
      prepared_for(std::move(other.prepared_for)),
      result_bytes(std::move(other.result_bytes)),
#endif
      shown_(std::move(other.shown_))
{
    other.context.state = nullptr;
    other.context.free_state = nullptr;
}

Step::~Step()
{
    release_state();
}

namespace {

// N, C, H, W as N, H, W, C; fewer dimensions are those of the end.
tensor permute(const tensor& original)
{
    tensor view = original;
    int dims[4] = {1, 1, 1, 1};
    std::copy_n(original.dims, original.dim_num, dims + 4 - original.dim_num);
    const int permuted[4] = {dims[0], dims[2], dims[3], dims[1]};
    std::copy_n(permuted, 4, view.dims);
    view.dim_num = 4;
    return view;
}

}  // namespace

void Step::bind()
{
    shown_.clear();
    views.clear();
    views.reserve(inputs.size() + outputs.size());
    for (const Vector<tensor*>* list : {&inputs, &outputs})
        for (tensor* item : *list) {
            const bool is_shown_as_view =
                layout == Layout::kChannelsLast && kernel && kernel->layout == Layout::kAny;
            if (is_shown_as_view) views.push_back(item ? permute(*item) : tensor{});
            shown_.push_back(is_shown_as_view && item ? &views.back() : item);
        }
    context.has_channels_last = !views.empty();
    context.inputs = shown_.data();
    context.outputs = shown_.data() + inputs.size();
    context.tensor_num[0] = static_cast<int>(inputs.size());
    context.tensor_num[1] = static_cast<int>(outputs.size());
}

void Step::refresh_views()
{
    if (views.empty()) return;
    size_t index = 0;
    for (const Vector<tensor*>* list : {&inputs, &outputs})
        for (const tensor* item : *list)
            views[index++].data = item ? item->data : nullptr;
}

void Step::release_state()
{
    if (context.free_state) context.free_state(context.state);
    context.state = nullptr;
    context.free_state = nullptr;
    context.state_bytes = 0;
    context.count_state = nullptr;
    context.packed = {};
}

size_t Step::state_bytes() const
{
    return context.count_state ? context.count_state(context.state) : context.state_bytes;
}

bool is_operator(const Step& step, const char* op)
{
    return *get_ir_node_domain(step.context.node) == '\0' &&
           !std::strcmp(get_ir_node_op(step.context.node), op);
}

void drop_steps(const Vector<bool>& is_gone, Vector<Step>& steps)
{
    Vector<Step> left;
    left.reserve(steps.size());
    for (size_t i = 0; i < steps.size(); ++i)
        if (!is_gone[i]) left.push_back(std::move(steps[i]));
    steps.swap(left);
}

MicroBatch::MicroBatch(const MicroBatches& batches) : batches_(batches)
{
    for (const MicroBatches::Part& part : batches.parts) {
        part.value->dims[0] /= batches.count;
        part.value->elem_num /= batches.count;
    }
}

MicroBatch::~MicroBatch()
{
    move_to(0);
    for (const MicroBatches::Part& part : batches_.parts) {
        part.value->dims[0] *= batches_.count;
        part.value->elem_num *= batches_.count;
    }
}

void MicroBatch::move_to(int index)
{
    const ptrdiff_t steps = index - index_;
    for (const MicroBatches::Part& part : batches_.parts)
        part.value->i8 += steps * static_cast<ptrdiff_t>(part.bytes);
    index_ = index;
}

bool allocates_outputs(const node& node)
{
    const ir_custom_kernel_t* kernel = node.core->custom_kernel;
    return kernel ? kernel->table->allocates_outputs
                  : (node.op.method->traits & OP_SELF_SHAPED) != 0;
}

bool has_elements(const node& node)
{
    if (node.core->custom_kernel || allocates_outputs(node)) return true;
    for (int i = 0; i < node.output_num; ++i) {
        const tensor* output = get_ir_node_output(&node, i);
        if (output && output->elem_num > 0) return true;
    }
    return false;
}

}  // namespace tengine::cpu
