// SPDX-License-Identifier: Apache-2.0
// Custom: a kernel of the program's own, on the thread that runs the part.
#include "operator/custom/custom_kernel.h"

#include "device/cpu/kernel_table.h"
#include "graph/core.h"
#include "tengine/custom_op.h"

namespace tengine::cpu {
namespace {

void detach(void* state)
{
    detach_custom_kernel(static_cast<ir_custom_kernel_t*>(state));
}

int prepare(KernelContext& context)
{
    TENGINE_RETURN_IF_ERROR(tengine_op_prepare_node(context.node, &context.scratch_size));
    context.state = context.node->core->custom_kernel;
    context.free_state = detach;
    return TENGINE_OK;
}

int run(KernelContext& context)
{
    return tengine_op_run_node(context.node, context.scratch, context.scratch_size);
}

int find_in_place(const KernelContext& context, int output)
{
    return find_custom_in_place(context.node, output);
}

constexpr Kernel rows[] = {
    {"tengine.Custom", "custom", nullptr, run, prepare, -1, find_in_place},
};

}  // namespace

extern const KernelTable custom_kernel_reference;
const KernelTable custom_kernel_reference = make_table<rows>();

}  // namespace tengine::cpu
