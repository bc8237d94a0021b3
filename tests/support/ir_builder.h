// SPDX-License-Identifier: Apache-2.0
// Builds small graphs for tests by tensor name: source graphs like those from files.
#pragma once

#include <cstring>
#include <initializer_list>
#include <string>
#include <vector>

#include "tengine/ir.h"

namespace tengine::test {

class IrBuilder
{
  public:
    // Registers everything init_tengine registers (once per process).
    explicit IrBuilder(context* context = nullptr);
    ~IrBuilder();
    IrBuilder(const IrBuilder&) = delete;
    IrBuilder& operator=(const IrBuilder&) = delete;

    // Adds an InputOp node and its tensor.
    tensor* input(const std::string& name, std::vector<int> dims, int data_type = 0);

    template <class T>
    tensor* constant(const std::string& name, std::vector<int> dims, const std::vector<T>& values,
                     int data_type)
    {
        tensor* made = constant_bytes(name, dims, data_type);
        if (!values.empty()) std::memcpy(made->data, values.data(), values.size() * sizeof(T));
        return made;
    }
    tensor* floats(const std::string& name, std::vector<int> dims, const std::vector<float>& values)
    {
        return constant(name, std::move(dims), values, TENGINE_DT_FP32);
    }
    tensor* ints(const std::string& name, const std::vector<int64_t>& values)
    {
        return constant(name, {static_cast<int>(values.size())}, values, TENGINE_DT_INT64);
    }

    // Adds a node of an ONNX operator, or one like "com.microsoft.QGemm", named like its first
    // output; creates the tensors that it names and that do not exist. An empty name is an absent
    // input or output. `opset` 0: the newest.
    node* add(const std::string& op, std::vector<std::string> inputs,
              std::vector<std::string> outputs, int opset = 0);

    void outputs(std::initializer_list<std::string> names);

    graph* get() { return graph_; }
    tensor* find(const std::string& name);

  private:
    tensor* constant_bytes(const std::string& name, const std::vector<int>& dims, int data_type);

    graph* graph_;
};

// Find a node or tensor of a graph by name; null if there is none.
node* find_node(const graph* graph, const std::string& name);
tensor* find_tensor(const graph* graph, const std::string& name);

// Makes the execution graph of `source` with default options; null (error set) on failure.
graph* make_execution_graph(graph* source);

}  // namespace tengine::test
