// SPDX-License-Identifier: Apache-2.0
// Runs one kernel of the CPU device on one node, without the rest of the library around it.
#pragma once

#include <random>
#include <string>
#include <vector>

#include "cases/case.h"
#include "device/cpu/kernel_table.h"

namespace tengine::cpu {

using tools::Case;

// The node of a case in a graph of its own.
class KernelRunner
{
  public:
    // Floats are of this type, fp32 or one of 16 bits, to which inputs are rounded.
    explicit KernelRunner(const Case& of, int data_type = TENGINE_DT_FP32);
    ~KernelRunner();
    KernelRunner(const KernelRunner&) = delete;
    KernelRunner& operator=(const KernelRunner&) = delete;

    // All kernels that accept the node, in the order in which they are asked.
    std::vector<const Kernel*> kernels() const;

    const struct node& get() const { return *node_; }

    // The name of the one that computes the node unless kernels are timed.
    std::string usual() const;

    // Sets the elements of an input of floats.
    void fill(int input, const std::vector<float>& values);
    // Sets those of all inputs of floats: in the operand's range where it has one, else in this.
    // Values that the case states stay.
    void fill_all(std::mt19937& generator, float low, float high);
    size_t input_num() const { return inputs_.size(); }
    size_t input_size(int input) const;

    // Output 0 after running the kernel. Memory it may not read unwritten (output, scratch) is
    // filled with NaN before.
    std::vector<float> run(const Kernel& kernel, int thread_num);
    // The same with the output in the memory of the input that the kernel names.
    std::vector<float> run_in_place(const Kernel& kernel, int thread_num);

  private:
    template <class T>
    std::vector<T> run_as(const Kernel& kernel, int thread_num);
    template <class T>
    std::vector<T> run_in_place_as(const Kernel& kernel, int thread_num);
    void add_input(const tools::Operand& operand);
    void add_outputs();

    Case of_;
    int data_type_;
    graph* graph_;
    node* node_;
    std::vector<tensor*> inputs_;  // NULL: absent
    tensor* output_;
};

}  // namespace tengine::cpu
