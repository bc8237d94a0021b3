// SPDX-License-Identifier: Apache-2.0
#include "device/cpu/plan/step.h"
#include "operator/infer.h"

namespace tengine::cpu {

int choose_kernel(const KernelList& kernels, Step& step)
{
    if (!step.kernel) step.kernel = kernels.pick(*step.context.node, step.layout);
    if (step.kernel) return TENGINE_OK;
    return fail_node(step.context.node, TENGINE_EDTYPE, "no kernel supports its types and shapes");
}

}  // namespace tengine::cpu
