// SPDX-License-Identifier: Apache-2.0
// Runs one kernel of the CPU device on one node, without the surrounding library.
#pragma once

#include <random>
#include <string>
#include <vector>

#include "cases/case.h"
#include "device/cpu/kernel_table.h"

namespace tengine::cpu {

using tools::Case;

// Makes the node of a case in a graph of its own.
class KernelRunner
{
  public:
    // Floats have this type, fp32 or one of 16 bits, to which inputs are rounded.
    explicit KernelRunner(const Case& of, int data_type = TENGINE_DT_FP32);
    ~KernelRunner();
    KernelRunner(const KernelRunner&) = delete;
    KernelRunner& operator=(const KernelRunner&) = delete;

    // Returns all kernels that accept the node, in the order in which they are asked.
    std::vector<const Kernel*> kernels() const;

    const struct node& get() const { return *node_; }

    // Returns the name of the kernel that computes the node if kernels are not timed.
    std::string usual() const;

    // Sets the elements of an input of floats.
    void fill(int input, const std::vector<float>& values);
    // Sets the elements of all inputs of floats, in the operand's range if it has one, else in the
    // given one. Values that the case states stay.
    void fill_all(std::mt19937& generator, float low, float high);
    size_t input_num() const { return inputs_.size(); }
    size_t input_size(int input) const;

    // Returns output 0 after running the kernel. Memory that must not be read before it is written
    // (output, scratch) is filled with NaN first.
    std::vector<float> run(const Kernel& kernel, int thread_num);
    // Does the same with the output in the memory of the input that the kernel names.
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
