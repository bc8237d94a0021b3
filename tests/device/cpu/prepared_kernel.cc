// SPDX-License-Identifier: Apache-2.0
#include "device/cpu/prepared_kernel.h"

#include <cstring>
#include <gtest/gtest.h>

#include "device/cpu/kernel_list.h"
#include "device/cpu/runnable.h"

namespace tengine::cpu {

std::vector<const Kernel*> list_accepting_kernels(const node& node)
{
    KernelList kernels;
    EXPECT_EQ(kernels.fill(), TENGINE_OK) << tengine_error_message();
    std::vector<const Kernel*> accepting;
    for (const Kernel* kernel : kernels.of_operator(node.op.type))
        if (!kernel->accepts || kernel->accepts(node)) accepting.push_back(kernel);
    return accepting;
}

std::vector<const Kernel*> list_runnable_kernels(const node& node)
{
    const ForcedFeatures forced(find_runnable_features());
    return list_accepting_kernels(node);
}

const char* choose_kernel(const node& node, uint64_t features)
{
    const ForcedFeatures forced(features);
    return list_accepting_kernels(node).front()->name;
}

PreparedKernel::PreparedKernel(const Kernel& kernel, node* node, int thread_num) : kernel_(kernel)
{
    context_.node = node;
    prepare(thread_num);
}

PreparedKernel::PreparedKernel(const Kernel& kernel, node* node, int thread_num,
                               const Fusion& fusion, const std::vector<tensor*>& inputs)
    : kernel_(kernel), output_(get_ir_node_output(node, 0))
{
    context_.node = node;
    context_.fusion = fusion;
    context_.inputs = inputs.data();
    context_.outputs = &output_;
    context_.tensor_num[0] = static_cast<int>(inputs.size());
    context_.tensor_num[1] = 1;
    prepare(thread_num);
}

void PreparedKernel::prepare(int thread_num)
{
    EXPECT_EQ(create_thread_pool(thread_num, 0, &context_.pool), TENGINE_OK);
    if (kernel_.prepare) {
        EXPECT_EQ(kernel_.prepare(context_), TENGINE_OK) << tengine_error_message();
    }
    if (context_.scratch_size == 0) return;
    scratch_.reset(alloc_memory64(context_.scratch_size));
    std::memset(scratch_.get(), 0xff, static_cast<size_t>(context_.scratch_size));
    context_.scratch = scratch_.get();
}

PreparedKernel::~PreparedKernel()
{
    if (context_.free_state) context_.free_state(context_.state);
    destroy_thread_pool(context_.pool);
}

void PreparedKernel::run()
{
    EXPECT_EQ(kernel_.run(context_), TENGINE_OK) << tengine_error_message();
}

}  // namespace tengine::cpu
