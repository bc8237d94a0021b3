// SPDX-License-Identifier: Apache-2.0
// Reads ONNX models and brings them into one form. The contract is in onnx_model.h.
#include "quantize/onnx_model.h"

#include <climits>
#include <cstring>

#include "tensor_file/failure.h"
#include "tensor_file/tensor_file.h"
#include "tensor_file/tensor_proto.h"

namespace tengine::tools {
namespace {

using ::onnx::GraphProto;
using ::onnx::ModelProto;
using ::onnx::NodeProto;
using ::onnx::TensorProto;

constexpr int64_t kFirstOpset = 10;     // has QuantizeLinear
constexpr int64_t kFirstIrVersion = 4;  // initialisers need not be inputs

void check_model(const ModelProto& model)
{
    if (!model.has_graph()) throw Failure("this is no ONNX model");
    const int64_t opset = opset_of(model);
    if (opset < kFirstOpset)
        throw Failure("the model is of opset " + std::to_string(opset) +
                      ", QuantizeLinear came with 10; convert the model first");
    for (const NodeProto& node : model.graph().node()) {
        if (node.output_size() == 0)
            throw Failure("node '" + node.name() + "' (" + node.op_type() + ") has no outputs");
    }
    for (const TensorProto& tensor : model.graph().initializer()) {
        if (tensor.data_location() == TensorProto::EXTERNAL)
            throw Failure("the data of '" + tensor.name() +
                          "' is in another file; save the model as one file first");
    }
}

// The same names as the library's reader gives, so that reports and --keep-float speak of the same
// nodes as `tengine inspect`.
void name_nodes(GraphProto* graph)
{
    std::set<std::string> taken;
    for (const auto& input : graph->input())
        taken.insert(input.name());
    std::vector<NodeProto*> nameless;
    std::vector<int> indices;
    for (int i = 0; i < graph->node_size(); ++i) {
        NodeProto* node = graph->mutable_node(i);
        if (!node->name().empty() && taken.insert(node->name()).second) continue;
        nameless.push_back(node);
        indices.push_back(i);
    }
    for (size_t i = 0; i < nameless.size(); ++i) {
        const std::string& base =
            nameless[i]->name().empty() ? nameless[i]->op_type() : nameless[i]->name();
        std::string name = base + "_" + std::to_string(indices[i]);
        while (!taken.insert(name).second)
            name += "_";
        nameless[i]->set_name(name);
    }
}

const TensorProto* constant_of(const NodeProto& node)
{
    if (node.op_type() != "Constant") return nullptr;
    for (const auto& attribute : node.attribute()) {
        if (attribute.name() == "value" && attribute.has_t() &&
            attribute.t().data_location() != TensorProto::EXTERNAL)
            return &attribute.t();
    }
    return nullptr;
}

// Exporters write a weight that two nodes share as Identity of the other one.
void take_constants(GraphProto* graph)
{
    const GraphIndex index(*graph);
    std::map<std::string, int> constants = index.initializers;
    google::protobuf::RepeatedPtrField<NodeProto> others;
    for (NodeProto& node : *graph->mutable_node()) {
        const TensorProto* value = constant_of(node);
        const auto source = constants.find(input_of(node, 0));
        const bool is_copy = node.op_type() == "Identity" && source != constants.end();
        if (value == nullptr && is_copy) value = &graph->initializer(source->second);
        if (value == nullptr) {
            *others.Add() = node;
            continue;
        }
        TensorProto copy = *value;
        copy.set_name(node.output(0));
        constants[node.output(0)] = graph->initializer_size();
        *graph->add_initializer() = copy;
    }
    graph->mutable_node()->Swap(&others);
}

void drop_constant_inputs(GraphProto* graph)
{
    const GraphIndex index(*graph);
    for (int i = graph->input_size() - 1; i >= 0; --i) {
        if (index.is_constant(graph->input(i).name())) graph->mutable_input()->DeleteSubrange(i, 1);
    }
}

template <typename Element>
std::vector<Element> values_of(const TensorProto& tensor, int data_type)
{
    if (tensor.data_type() != data_type)
        throw Failure("constant '" + tensor.name() + "' is of another type than expected");
    try {
        const Tensor decoded = decode_tensor_proto(tensor.SerializeAsString());
        std::vector<Element> values(decoded.element_number());
        if (!values.empty()) std::memcpy(values.data(), decoded.bytes.data(), decoded.bytes.size());
        return values;
    } catch (const Failure& failure) {
        throw Failure("constant '" + tensor.name() + "': " + failure.what());
    }
}

}  // namespace

ModelProto read_model(const std::string& path)
{
    ModelProto model;
    const std::string content = read_file(path);
    try {
        if (!model.ParseFromString(content)) throw Failure("this is no ONNX model");
        check_model(model);
    } catch (const Failure& failure) {
        throw Failure("'" + path + "': " + failure.what());
    }
    name_nodes(model.mutable_graph());
    take_constants(model.mutable_graph());
    drop_constant_inputs(model.mutable_graph());
    drop_unused_initializers(model.mutable_graph());
    model.set_ir_version(std::max(model.ir_version(), kFirstIrVersion));
    return model;
}

std::string model_bytes(const ModelProto& model)
{
    if (model.ByteSizeLong() > INT_MAX)
        throw Failure("the model has more than " + std::to_string(INT_MAX) + " bytes");
    return model.SerializeAsString();
}

int64_t opset_of(const ModelProto& model)
{
    for (const auto& opset : model.opset_import()) {
        if (opset.domain().empty() || opset.domain() == "ai.onnx") return opset.version();
    }
    return 1;
}

void drop_unused_initializers(GraphProto* graph)
{
    const GraphIndex index(*graph);
    google::protobuf::RepeatedPtrField<TensorProto> used;
    for (TensorProto& tensor : *graph->mutable_initializer()) {
        if (index.consumers.count(tensor.name()) != 0 || index.outputs.count(tensor.name()) != 0)
            used.Add()->Swap(&tensor);
    }
    graph->mutable_initializer()->Swap(&used);
}

GraphIndex::GraphIndex(const GraphProto& graph)
{
    for (const auto& input : graph.input())
        names.insert(input.name());
    for (int i = 0; i < graph.initializer_size(); ++i) {
        initializers[graph.initializer(i).name()] = i;
        names.insert(graph.initializer(i).name());
    }
    for (int i = 0; i < graph.node_size(); ++i) {
        for (const std::string& input : graph.node(i).input())
            if (!input.empty()) consumers[input].push_back(i);
        for (const std::string& output : graph.node(i).output()) {
            if (output.empty()) continue;
            producers[output] = i;
            names.insert(output);
        }
    }
    for (const auto& output : graph.output())
        outputs.insert(output.name());
}

int64_t int_attribute(const NodeProto& node, const std::string& name, int64_t otherwise)
{
    for (const auto& attribute : node.attribute())
        if (attribute.name() == name) return attribute.i();
    return otherwise;
}

float float_attribute(const NodeProto& node, const std::string& name, float otherwise)
{
    for (const auto& attribute : node.attribute())
        if (attribute.name() == name) return attribute.f();
    return otherwise;
}

std::string text_attribute(const NodeProto& node, const std::string& name,
                           const std::string& otherwise)
{
    for (const auto& attribute : node.attribute())
        if (attribute.name() == name) return attribute.s();
    return otherwise;
}

std::vector<int64_t> ints_attribute(const NodeProto& node, const std::string& name)
{
    for (const auto& attribute : node.attribute())
        if (attribute.name() == name) return {attribute.ints().begin(), attribute.ints().end()};
    return {};
}

std::string input_of(const NodeProto& node, int index)
{
    return index < node.input_size() ? node.input(index) : "";
}

bool is_float(const TensorProto& tensor)
{
    return tensor.data_type() == TensorProto::FLOAT;
}

std::vector<float> float_values(const TensorProto& tensor)
{
    return values_of<float>(tensor, TensorProto::FLOAT);
}

std::vector<int64_t> int64_values(const TensorProto& tensor)
{
    return values_of<int64_t>(tensor, TensorProto::INT64);
}

}  // namespace tengine::tools
