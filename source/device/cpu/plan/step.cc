// SPDX-License-Identifier: Apache-2.0
#include "device/cpu/plan/step.h"

#include "graph/core.h"
#include "operator/custom/custom_kernel.h"

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
    context.count_state = nullptr;
}

size_t Step::state_bytes() const
{
    return context.count_state ? context.count_state(context.state) : context.state_bytes;
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
