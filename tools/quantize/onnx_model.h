// SPDX-License-Identifier: Apache-2.0
// An ONNX file as its message, in the form the quantiser works on. Batch normalisation is folded in
// batch_norm.h.
#pragma once

#include <cstdint>
#include <map>
#include <onnx/onnx.pb.h>
#include <set>
#include <string>
#include <vector>

namespace tengine::tools {

// Reads a model. Every node then has a name of its own, the one by which the library knows it;
// constants that are nodes (Constant, and Identity of a constant) have become initialisers, and no
// initialiser can be overridden as an input. Throws Failure: no ONNX file, an opset before 10, data
// in other files.
::onnx::ModelProto read_model(const std::string& path);

// The bytes of a model's file. Throws Failure if there are more than an int counts.
std::string model_bytes(const ::onnx::ModelProto& model);

// Version of ONNX's own operators that the model is written in.
int64_t opset_of(const ::onnx::ModelProto& model);

// Drops initialisers that nothing reads.
void drop_unused_initializers(::onnx::GraphProto* graph);

// Who writes and who reads a tensor; numbers are indices in the graph, which must not change while
// the index is used.
struct GraphIndex
{
    explicit GraphIndex(const ::onnx::GraphProto& graph);

    std::map<std::string, int> producers;
    std::map<std::string, std::vector<int>> consumers;
    std::map<std::string, int> initializers;
    std::set<std::string> outputs;  // of the graph
    std::set<std::string> names;    // every tensor's

    bool is_constant(const std::string& tensor) const { return initializers.count(tensor) != 0; }
};

int64_t int_attribute(const ::onnx::NodeProto& node, const std::string& name, int64_t otherwise);
float float_attribute(const ::onnx::NodeProto& node, const std::string& name, float otherwise);
std::string text_attribute(const ::onnx::NodeProto& node, const std::string& name,
                           const std::string& otherwise);
// Empty where it is left out.
std::vector<int64_t> ints_attribute(const ::onnx::NodeProto& node, const std::string& name);

// Input `index` of a node, "" where it is left out.
std::string input_of(const ::onnx::NodeProto& node, int index);

// Elements of an fp32 or int64 tensor. Throws Failure if it is damaged or of another type.
std::vector<float> float_values(const ::onnx::TensorProto& tensor);
std::vector<int64_t> int64_values(const ::onnx::TensorProto& tensor);

bool is_float(const ::onnx::TensorProto& tensor);

// A tensor of `Element`s, which `data_type` names.
template <typename Element>
::onnx::TensorProto make_proto(const std::string& name, int data_type,
                               const std::vector<int64_t>& dims, const std::vector<Element>& values)
{
    ::onnx::TensorProto tensor;
    tensor.set_name(name);
    tensor.set_data_type(data_type);
    for (const int64_t extent : dims)
        tensor.add_dims(extent);
    tensor.set_raw_data(values.data(), values.size() * sizeof(Element));
    return tensor;
}

}  // namespace tengine::tools
