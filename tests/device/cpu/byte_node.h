// SPDX-License-Identifier: Apache-2.0
// A node of an operator on int8 or uint8, for tests that compare its fast kernels with its
// reference.
#pragma once

#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "cases/case.h"
#include "device/cpu/kernel_table.h"
#include "support/ir_builder.h"

namespace tengine::test {

class ByteNode
{
  public:
    // A tensor of random bytes, which advances the generator.
    void bytes(const std::string& name, const std::vector<int>& dims, int data_type);
    void floats(const std::string& name, const std::vector<int>& dims,
                const std::vector<float>& values);
    tensor* find(const std::string& name) { return builder_.find(name); }
    IrBuilder& builder() { return builder_; }
    std::mt19937& random() { return random_; }

    // Makes the node of a case of the table in this type, with its outputs.
    void make(const tools::Case& of, int data_type);
    // Inputs that have no name are absent.
    void make(const std::string& op, const std::vector<std::string>& inputs,
              const std::vector<std::string>& outputs = {"y"});
    void set(const std::string& name, const std::vector<int64_t>& values);
    void set(const std::string& name, int64_t value);
    void infer();
    struct node* node() { return node_; }

    // Returns the bytes of all outputs after a run. Those of an NHWC kernel are converted to NCHW.
    std::vector<uint8_t> run(const cpu::Kernel& kernel, int thread_num, bool is_in_place = false);

    // Checks that all fast kernels that accept the node give the bytes of the reference, with all
    // vectors, with each of these numbers of workers, and in place if allowed. `expected`: the
    // kernel that is asked first.
    void compare(const char* expected, const std::vector<int>& thread_nums = {1, 2, 5});

    // Does the same with whatever kernels accept the node. Returns whether one of them is fast.
    bool compare_fast(const std::vector<int>& thread_nums);

    // Calls body(the bytes of all outputs) for each kernel that accepts the node, including the
    // reference, with all vectors and one worker and several; `expected` is one of the kernels.
    void judge(const char* expected,
               const std::function<void(const std::vector<uint8_t>& outputs)>& body);

  private:
    void add_operand(const std::string& name, const tools::Operand& operand, int data_type,
                     const std::vector<double>& values);
    void compare(const cpu::Kernel& kernel, const std::vector<int>& thread_nums,
                 const std::vector<uint8_t>& expected);

    IrBuilder builder_;
    struct node* node_ = nullptr;
    std::mt19937 random_{17};
};

}  // namespace tengine::test
