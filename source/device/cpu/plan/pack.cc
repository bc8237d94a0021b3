// SPDX-License-Identifier: Apache-2.0
#include "device/cpu/plan/step.h"

namespace tengine::cpu {

int pack_weights(Step& step)
{
    step.release_state();
    if (!step.kernel->prepare || !has_elements(*step.context.node)) return TENGINE_OK;
    return step.kernel->prepare(step.context);
}

}  // namespace tengine::cpu
