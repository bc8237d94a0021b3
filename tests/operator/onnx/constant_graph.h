// SPDX-License-Identifier: Apache-2.0
// Operators on constant inputs, for the tests of this folder. The passes evaluate such a graph, so
// that one call covers lowering, shape inference and the kernel.
#pragma once

#include <gtest/gtest.h>
#include <set>
#include <string>
#include <vector>

#include "device/cpu/shared/types.h"
#include "support/ir_builder.h"

namespace tengine::test {

class ConstantGraph
{
  public:
    ConstantGraph() = default;
    ~ConstantGraph() { destroy_ir_graph(execution_); }
    ConstantGraph(const ConstantGraph&) = delete;
    ConstantGraph& operator=(const ConstantGraph&) = delete;

    // Opset of the nodes added from now on; 0: the newest.
    int opset = 0;

    template <class T>
    void input(const std::string& name, std::vector<int> dims, const std::vector<T>& values)
    {
        builder_.constant(name, std::move(dims), values, cpu::data_type_of<T>());
    }
    // Adds any bytes, as in files.
    void bools(const std::string& name, std::vector<int> dims, const std::vector<uint8_t>& values)
    {
        builder_.constant(name, std::move(dims), values, TENGINE_DT_BOOL);
    }
    void texts(const std::string& name, std::vector<int> dims,
               const std::vector<std::string>& values);
    node* add(const std::string& op, std::vector<std::string> inputs,
              std::vector<std::string> outputs = {"y"})
    {
        return builder_.add(op, std::move(inputs), std::move(outputs), opset);
    }

    // Returns the evaluated tensor; null, with a test failure, if the passes fail.
    const tensor* evaluate(const std::string& name = "y");
    // Expects the passes to fail with `code` and a message that contains `part`.
    void expect_failure(int code, const std::string& part);

    IrBuilder& builder() { return builder_; }

  private:
    graph* prepare(const std::string& output);

    IrBuilder builder_;
    graph* execution_ = nullptr;
};

std::vector<int> dims_of(const tensor* value);

// Returns the elements, which must be of type T.
template <class T>
std::vector<T> values_of(const tensor* value)
{
    if (!value) return {};
    EXPECT_EQ(value->data_type, cpu::data_type_of<T>());
    const T* data = static_cast<const T*>(value->data);
    return {data, data + value->elem_num};
}

std::vector<std::string> texts_of(const tensor* value);

// Returns the elements of any float type, or the bytes of a bool tensor, as numbers.
std::vector<float> numbers_of(const tensor* value);

// Returns the names of all operators with this trait; those of other domains than ONNX's own begin
// with it.
std::set<std::string> list_operators(uint32_t trait);

}  // namespace tengine::test
