// SPDX-License-Identifier: Apache-2.0
// Small handmade ONNX models, for the tests of `tengine quantize`, and readers of its files.
#pragma once

#include <cstdint>
#include <onnx/onnx.pb.h>
#include <string>
#include <vector>

namespace tengine::program {

class ModelMaker
{
  public:
    // Makes one input "x" and one output "y", fp32.
    explicit ModelMaker(const std::vector<int64_t>& shape, int64_t opset = 13);

    void add_input(const std::string& name, const std::vector<int64_t>& shape);
    void constant(const std::string& name, const std::vector<int64_t>& shape,
                  const std::vector<float>& values);
    void integers(const std::string& name, const std::vector<int64_t>& values);
    // The node is named like its output.
    ::onnx::NodeProto* node(const std::string& type, const std::vector<std::string>& inputs,
                            const std::string& output);

    // Writes the model to the running test's folder `folder`; returns its path.
    std::string write(const std::string& folder) const;

    ::onnx::ModelProto model;
};

void set_ints(::onnx::NodeProto* node, const std::string& name, const std::vector<int64_t>& values);
void set_int(::onnx::NodeProto* node, const std::string& name, int64_t value);

::onnx::ModelProto load_model(const std::string& path);

// Return the node that writes `tensor`, and the constant of that name; missing ones are empty.
::onnx::NodeProto producer(const ::onnx::ModelProto& model, const std::string& tensor);
::onnx::TensorProto initializer(const ::onnx::ModelProto& model, const std::string& name);
int count_nodes(const ::onnx::ModelProto& model, const std::string& type);

// Return scale and zero point of a Quantize- or DequantizeLinear node; one value each.
float scale_of(const ::onnx::ModelProto& model, const ::onnx::NodeProto& node);
int zero_point_of(const ::onnx::ModelProto& model, const ::onnx::NodeProto& node);

template <typename Element>
std::vector<Element> elements(const ::onnx::TensorProto& tensor)
{
    const auto* begin = reinterpret_cast<const Element*>(tensor.raw_data().data());
    return {begin, begin + tensor.raw_data().size() / sizeof(Element)};
}

}  // namespace tengine::program
