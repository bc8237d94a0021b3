// SPDX-License-Identifier: Apache-2.0
// A kernel of the CPU device made ready for one node, without the rest of the library around it.
#pragma once

#include <memory>
#include <vector>

#include "base/alloc.h"
#include "device/cpu/kernel_table.h"

namespace tengine::cpu {

// All kernels that accept the node, in the order in which they are asked.
std::vector<const Kernel*> list_accepting_kernels(const node& node);
// The same when all instructions this processor has may be used.
std::vector<const Kernel*> list_runnable_kernels(const node& node);
// The name of the one that is used with these features of base/cpu.h.
const char* choose_kernel(const node& node, uint64_t features);

class PreparedKernel
{
  public:
    // It has workers of its own. Scratch is filled with set bits, which are NaN as floats.
    PreparedKernel(const Kernel& kernel, node* node, int thread_num);
    // Does the work of the fusion, too. `inputs` are those of the node, then those of the fusion;
    // they outlive it.
    PreparedKernel(const Kernel& kernel, node* node, int thread_num, const Fusion& fusion,
                   const std::vector<tensor*>& inputs);
    ~PreparedKernel();
    PreparedKernel(const PreparedKernel&) = delete;
    PreparedKernel& operator=(const PreparedKernel&) = delete;

    // Inputs and outputs of the node have their memory.
    void run();

  private:
    void prepare(int thread_num);

    const Kernel& kernel_;
    KernelContext context_;
    tensor* output_ = nullptr;
    std::unique_ptr<void, void (*)(void*)> scratch_{nullptr, free_memory};
};

}  // namespace tengine::cpu
