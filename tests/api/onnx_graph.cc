// SPDX-License-Identifier: Apache-2.0
#include "onnx_graph.h"

namespace tengine::onnx {

std::string value(const std::string& name, int type, const std::vector<int>& dims)
{
    Message shape;
    for (const int dim : dims)
        shape.bytes(1, dim < 0 ? Message().bytes(2, "n").text()
                               : Message().number(1, static_cast<uint64_t>(dim)).text());
    const std::string tensor =
        Message().number(1, static_cast<uint64_t>(type)).bytes(2, shape.text()).text();
    return Message().bytes(1, name).bytes(2, Message().bytes(1, tensor).text()).text();
}

std::string tensor(const std::string& name, int type, const std::vector<int>& dims,
                   const std::string& bytes)
{
    Message tensor;
    for (const int dim : dims)
        tensor.number(1, static_cast<uint64_t>(dim));
    return tensor.number(2, static_cast<uint64_t>(type)).bytes(8, name).bytes(9, bytes).text();
}

std::string number_attribute(const std::string& name, int64_t number)
{
    return Message().bytes(1, name).number(3, static_cast<uint64_t>(number)).number(20, 2).text();
}

std::string graph_attribute(const std::string& name, const std::string& graph)
{
    return Message().bytes(1, name).bytes(6, graph).number(20, 5).text();
}

std::string node(const std::string& op, const Names& inputs, const Names& outputs,
                 const Names& attributes)
{
    Message node;
    for (const std::string& input : inputs)
        node.bytes(1, input);
    for (const std::string& output : outputs)
        node.bytes(2, output);
    const size_t dot = op.rfind('.');
    node.bytes(4, op.substr(dot + 1));
    for (const std::string& attribute : attributes)
        node.bytes(5, attribute);
    if (dot != std::string::npos) node.bytes(7, op.substr(0, dot));
    return node.text();
}

std::string graph(const Names& nodes, const Names& inputs, const Names& outputs,
                  const Names& constants)
{
    Message graph;
    for (const std::string& node : nodes)
        graph.bytes(1, node);
    graph.bytes(2, "g");
    for (const std::string& constant : constants)
        graph.bytes(5, constant);
    for (const std::string& input : inputs)
        graph.bytes(11, input);
    for (const std::string& output : outputs)
        graph.bytes(12, output);
    return graph.text();
}

graph_t load(const std::string& contents, context_t context, int opset)
{
    const auto import = [](const char* domain, int version) {
        return Message().bytes(1, domain).number(2, static_cast<uint64_t>(version)).text();
    };
    const std::string model = Message()
                                  .number(1, 8)
                                  .bytes(8, import("", opset))
                                  .bytes(8, import("com.microsoft", 1))
                                  .bytes(7, contents)
                                  .text();
    return create_graph(context, "onnx:m", model.data(), static_cast<int>(model.size()));
}

}  // namespace tengine::onnx
