// SPDX-License-Identifier: Apache-2.0
// Models made by hand. The contract is in quantize_model.h.
#include "tools/quantize_model.h"

#include "tensor_file/tensor_file.h"

namespace tengine::program {
namespace {

void set_value(::onnx::ValueInfoProto* value, const std::string& name,
               const std::vector<int64_t>& shape)
{
    value->set_name(name);
    auto* type = value->mutable_type()->mutable_tensor_type();
    type->set_elem_type(::onnx::TensorProto::FLOAT);
    if (shape.empty()) return;
    for (const int64_t extent : shape)
        type->mutable_shape()->add_dim()->set_dim_value(extent);
}

}  // namespace

ModelMaker::ModelMaker(const std::vector<int64_t>& shape, int64_t opset)
{
    model.set_ir_version(7);
    model.add_opset_import()->set_version(opset);
    model.mutable_graph()->set_name("test");
    add_input("x", shape);
    set_value(model.mutable_graph()->add_output(), "y", {});
}

void ModelMaker::add_input(const std::string& name, const std::vector<int64_t>& shape)
{
    set_value(model.mutable_graph()->add_input(), name, shape);
}

void ModelMaker::constant(const std::string& name, const std::vector<int64_t>& shape,
                          const std::vector<float>& values)
{
    auto* tensor = model.mutable_graph()->add_initializer();
    tensor->set_name(name);
    tensor->set_data_type(::onnx::TensorProto::FLOAT);
    for (const int64_t extent : shape)
        tensor->add_dims(extent);
    tensor->set_raw_data(values.data(), values.size() * sizeof(float));
}

void ModelMaker::integers(const std::string& name, const std::vector<int64_t>& values)
{
    auto* tensor = model.mutable_graph()->add_initializer();
    tensor->set_name(name);
    tensor->set_data_type(::onnx::TensorProto::INT64);
    tensor->add_dims(static_cast<int64_t>(values.size()));
    tensor->set_raw_data(values.data(), values.size() * sizeof(int64_t));
}

::onnx::NodeProto* ModelMaker::node(const std::string& type, const std::vector<std::string>& inputs,
                                    const std::string& output)
{
    auto* node = model.mutable_graph()->add_node();
    node->set_op_type(type);
    node->set_name(output);
    for (const std::string& input : inputs)
        node->add_input(input);
    node->add_output(output);
    return node;
}

std::string ModelMaker::write(const std::string& folder) const
{
    const std::string path = folder + "/model.onnx";
    tools::write_file(path, model.SerializeAsString());
    return path;
}

void set_ints(::onnx::NodeProto* node, const std::string& name, const std::vector<int64_t>& values)
{
    auto* attribute = node->add_attribute();
    attribute->set_name(name);
    attribute->set_type(::onnx::AttributeProto::INTS);
    for (const int64_t value : values)
        attribute->add_ints(value);
}

void set_int(::onnx::NodeProto* node, const std::string& name, int64_t value)
{
    auto* attribute = node->add_attribute();
    attribute->set_name(name);
    attribute->set_type(::onnx::AttributeProto::INT);
    attribute->set_i(value);
}

::onnx::ModelProto load_model(const std::string& path)
{
    ::onnx::ModelProto model;
    model.ParseFromString(tools::read_file(path));
    return model;
}

::onnx::NodeProto producer(const ::onnx::ModelProto& model, const std::string& tensor)
{
    for (const auto& node : model.graph().node())
        if (node.output(0) == tensor) return node;
    return {};
}

::onnx::TensorProto initializer(const ::onnx::ModelProto& model, const std::string& name)
{
    for (const auto& tensor : model.graph().initializer())
        if (tensor.name() == name) return tensor;
    return {};
}

int count_nodes(const ::onnx::ModelProto& model, const std::string& type)
{
    int number = 0;
    for (const auto& node : model.graph().node())
        number += node.op_type() == type ? 1 : 0;
    return number;
}

float scale_of(const ::onnx::ModelProto& model, const ::onnx::NodeProto& node)
{
    return elements<float>(initializer(model, node.input(1))).at(0);
}

int zero_point_of(const ::onnx::ModelProto& model, const ::onnx::NodeProto& node)
{
    const ::onnx::TensorProto zero_point = initializer(model, node.input(2));
    return zero_point.data_type() == ::onnx::TensorProto::UINT8
               ? int{elements<uint8_t>(zero_point).at(0)}
               : int{elements<int8_t>(zero_point).at(0)};
}

}  // namespace tengine::program
