// SPDX-License-Identifier: Apache-2.0
#include "device/cpu/plan/step.h"
#include "graph/graph.h"

namespace tengine::cpu {

int pack_weights(Step& step)
{
    step.release_state();
    if (!step.kernel->prepare || !has_elements(*step.context.node)) return TENGINE_OK;
    TENGINE_RETURN_IF_ERROR(step.kernel->prepare(step.context));
    // Constants that were packed are not read any more.
    const int input = step.kernel->unaligned_input;
    if (input >= 0 && step.context.packed.data)
        drop_ir_constant(step.context.node->graph, step.context.input(input));
    return TENGINE_OK;
}

}  // namespace tengine::cpu
