// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "device/cpu/plan/step.h"
#include "operator/infer.h"

namespace tengine::cpu {

int choose_kernel(const KernelList& kernels, Step& step)
{
    if (!step.kernel) step.kernel = kernels.pick(*step.context.node, step.layout);
    if (step.kernel) return TENGINE_OK;
    return fail_node(step.context.node, TENGINE_EDTYPE, "no kernel supports its types and shapes");
}

namespace {

// Whether the kernel supports what the step has fused.
bool does_fusions(const Kernel& kernel, const Step& step)
{
    const Fusion& fusion = step.context.fusion;
    const bool is_fused = fusion.addend >= 0 || fusion.activation != Activation::kNone ||
                          static_cast<int>(step.inputs.size()) > step.context.node->input_num;
    return (kernel.fuses || !is_fused) && (kernel.scales || fusion.scale < 0) &&
           (kernel.looks_up || fusion.table < 0);
}

}  // namespace

Vector<const Kernel*> list_alternatives(const KernelList& kernels, const Step& step)
{
    const node& node = *step.context.node;
    const Vector<const Kernel*>& all = kernels.of_operator(node.op.type);
    Vector<const Kernel*> list;
    if (step.dynamic || is_reference(*step.kernel) || !has_elements(node) ||
        std::find(all.begin(), all.end(), step.kernel) == all.end())
        return list;
    list.push_back(step.kernel);
    for (const Kernel* kernel : all)
        if (kernel != step.kernel && kernel->layout == step.kernel->layout &&
            !is_reference(*kernel) && (!kernel->accepts || kernel->accepts(node)) &&
            does_fusions(*kernel, step))
            list.push_back(kernel);
    return list;
}

}  // namespace tengine::cpu
