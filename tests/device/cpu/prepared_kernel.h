// SPDX-License-Identifier: Apache-2.0
// A kernel of the CPU device, prepared for one node, without the surrounding library.
#pragma once

#include <memory>
#include <vector>

#include "base/alloc.h"
#include "device/cpu/kernel_table.h"

namespace tengine::cpu {

// Returns all kernels that accept the node, in the order in which they are asked.
std::vector<const Kernel*> list_accepting_kernels(const node& node);
// Does the same with all instructions of this processor allowed.
std::vector<const Kernel*> list_runnable_kernels(const node& node);
// Returns the name of the kernel that is used with these features of base/cpu.h.
const char* choose_kernel(const node& node, uint64_t features);

class PreparedKernel
{
  public:
    // Prepares the kernel with its own workers. Scratch is filled with set bits, which are NaN as
    // floats.
    PreparedKernel(const Kernel& kernel, node* node, int thread_num);
    // Also does the work of the fusion. `inputs` are those of the node, then those of the fusion;
    // they outlive the object.
    PreparedKernel(const Kernel& kernel, node* node, int thread_num, const Fusion& fusion,
                   const std::vector<tensor*>& inputs);
    ~PreparedKernel();
    PreparedKernel(const PreparedKernel&) = delete;
    PreparedKernel& operator=(const PreparedKernel&) = delete;

    // Runs the kernel; inputs and outputs of the node have memory.
    void run();

  private:
    void prepare(int thread_num);

    const Kernel& kernel_;
    KernelContext context_;
    tensor* output_ = nullptr;
    std::unique_ptr<void, void (*)(void*)> scratch_{nullptr, free_memory};
};

}  // namespace tengine::cpu
