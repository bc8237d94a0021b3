// SPDX-License-Identifier: Apache-2.0
// Custom: a kernel of the program's, on the thread that runs the part. It sees the node's tensors
// as N x C x H x W, for any layout of the steps before and after.
#include "operator/custom/custom_kernel.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "base/containers.hpp"
#include "base/guard.hpp"
#include "device/cpu/kernel_table.h"
#include "graph/core.h"
#include "tengine/custom_op.h"

namespace tengine::cpu {
namespace {

struct Attached : Allocated
{
    ir_custom_kernel_t* kernel = nullptr;
    // The inputs of the node that are NHWC, and the step's copies of them.
    Vector<std::pair<tensor*, tensor*>> copies;

    ~Attached()
    {
        if (kernel) detach_custom_kernel(kernel);
    }
};

// Lists each tensor once, since it may be several inputs. Constants have one layout, and callbacks
// identify them by their address.
Vector<std::pair<tensor*, tensor*>> list_copies(const KernelContext& context)
{
    Vector<std::pair<tensor*, tensor*>> copies;
    for (int i = 0; i < context.input_num() && context.inputs; ++i) {
        tensor* own = get_ir_node_input(context.node, i);
        tensor* copy = context.inputs[i];
        if (own && own != copy && own->tensor_type != TENSOR_TYPE_CONST)
            copies.push_back({own, copy});
    }
    std::sort(copies.begin(), copies.end());
    copies.erase(std::unique(copies.begin(), copies.end()), copies.end());
    return copies;
}

int attach(KernelContext& context)
{
    std::unique_ptr<Attached> attached(new Attached);
    attached->copies = list_copies(context);
    TENGINE_RETURN_IF_ERROR(tengine_op_prepare_node(context.node, &context.scratch_size));
    attached->kernel = context.node->core->custom_kernel;
    context.state_bytes = sizeof(Attached) + attached->copies.capacity() * 2 * sizeof(tensor*);
    context.state = attached.release();
    context.free_state = [](void* state) { delete static_cast<Attached*>(state); };
    return TENGINE_OK;
}

// Also called in runs, for nodes whose shapes depend on data.
int prepare(KernelContext& context)
{
    return guarded([&] { return attach(context); }, "%s '%s': out of memory for a custom kernel",
                   get_ir_node_op(context.node), context.node->name);
}

void exchange_data(const Attached& attached)
{
    for (const auto& [own, copy] : attached.copies)
        std::swap(own->data, copy->data);
}

int run(KernelContext& context)
{
    const auto& attached = *static_cast<const Attached*>(context.state);
    exchange_data(attached);
    const int status = tengine_op_run_node(context.node, context.scratch, context.scratch_size);
    exchange_data(attached);
    return status;
}

int find_in_place(const KernelContext& context, int output)
{
    return find_custom_in_place(context.node, output);
}

constexpr Kernel custom_kernel_rows[] = {
    {.op = "tengine.Custom",
     .name = "custom",
     .run = run,
     .prepare = prepare,
     .find_in_place = find_in_place},
};

}  // namespace

extern const KernelTable custom_kernel_reference;
const KernelTable custom_kernel_reference = make_table<custom_kernel_rows>();

}  // namespace tengine::cpu
