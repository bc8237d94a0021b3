// SPDX-License-Identifier: Apache-2.0
// A model as it is in the file that the library writes for an opset, and helpers that make the
// models for tests of such files.
#pragma once

#include <string>
#include <vector>

#include "serializer/onnx_builder.h"

namespace tengine::test {

// A model after a journey through a file for `opset`; 0: none is asked for.
class Written
{
  public:
    Written(OnnxBuilder builder, int opset);

    // The first of the operator.
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

// x, of `dims`, and y; the nodes are to be added.
OnnxBuilder model_of(int opset, const Dims& dims, int type = onnx::TensorProto::FLOAT);
// An initialiser of int64.
void add_list(OnnxBuilder* builder, const std::string& name, const Dims& values);
// null: the node does not have it.
const onnx::AttributeProto* find_attribute(const onnx::NodeProto& node, const std::string& name);
Dims ints_of(const onnx::NodeProto& node, const std::string& name);    // {}: the same
int64_t int_of(const onnx::NodeProto& node, const std::string& name);  // -1: the same

}  // namespace tengine::test
