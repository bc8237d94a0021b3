// SPDX-License-Identifier: Apache-2.0
// A model in the file that the library writes for an opset, and helpers that make the models for
// tests of such files.
#pragma once

#include <string>
#include <vector>

#include "serializer/onnx_builder.h"

namespace tengine::test {

// A model after saving to a file for `opset` and loading; 0: the default opset.
class Written
{
  public:
    Written(OnnxBuilder builder, int opset);

    // Returns the first node of the operator.
    const onnx::NodeProto& node(const std::string& op) const;
    // The values of an initialiser.
    template <class Type>
    std::vector<Type> values(const std::string& name) const
    {
        const std::string bytes = raw_data(name);
        std::vector<Type> list(bytes.size() / sizeof(Type));
        bytes.copy(reinterpret_cast<char*>(list.data()), bytes.size());
        return list;
    }
    int opset() const { return static_cast<int>(model.opset_import(0).version()); }

    int status = 0;
    std::string message;
    onnx::ModelProto model;

  private:
    void write(struct graph* graph, const std::string& path);
    std::string raw_data(const std::string& name) const;
};

// Makes x, of `dims`, and y; the caller adds the nodes.
OnnxBuilder model_of(int opset, const Dims& dims, int type = onnx::TensorProto::FLOAT);
// Adds an initialiser of int64.
void add_list(OnnxBuilder* builder, const std::string& name, const Dims& values);
// Returns null if the node does not have it.
const onnx::AttributeProto* find_attribute(const onnx::NodeProto& node, const std::string& name);
Dims ints_of(const onnx::NodeProto& node, const std::string& name);    // {}: it does not have it
int64_t int_of(const onnx::NodeProto& node, const std::string& name);  // -1: it does not have it

}  // namespace tengine::test
