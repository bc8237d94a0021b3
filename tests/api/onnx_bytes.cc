// SPDX-License-Identifier: Apache-2.0
// Protobuf's wire format: a key (field number and wire type), then a varint or counted bytes.
#include "onnx_bytes.h"

namespace tengine {

void Message::varint(uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        text_.push_back(static_cast<char>((value & 0x7f) | 0x80));
    text_.push_back(static_cast<char>(value));
}

Message& Message::number(int field, uint64_t value)
{
    varint(static_cast<uint64_t>(field) << 3);
    varint(value);
    return *this;
}

Message& Message::bytes(int field, const std::string& value)
{
    varint(static_cast<uint64_t>(field) << 3 | 2);
    varint(value.size());
    text_ += value;
    return *this;
}

std::string make_value_info(const std::string& name, const std::vector<std::string>& names,
                            int data_type)
{
    Message dimensions;
    for (const std::string& free : names)
        dimensions.bytes(1, free.empty() ? "" : Message().bytes(2, free).text());
    if (names.empty()) dimensions.bytes(1, Message().number(1, 4).text());
    const std::string shape = dimensions.text();
    const std::string tensor_type =
        Message().number(1, static_cast<uint64_t>(data_type)).bytes(2, shape).text();
    const std::string type = Message().bytes(1, tensor_type).text();
    return Message().bytes(1, name).bytes(2, type).text();
}

std::string make_node(const std::string& op, const std::vector<std::string>& inputs,
                      const std::string& output, const std::string& name)
{
    Message node;
    for (const std::string& input : inputs)
        node.bytes(1, input);
    return node.bytes(2, output).bytes(3, name).bytes(4, op).text();
}

std::string make_model(const std::vector<std::string>& nodes,
                       const std::vector<std::string>& inputs, const std::string& output)
{
    Message graph;
    for (const std::string& node : nodes)
        graph.bytes(1, node);
    graph.bytes(2, "g");
    for (const std::string& input : inputs)
        graph.bytes(11, input);
    graph.bytes(12, output);
    const std::string opset = Message().bytes(1, "").number(2, 13).text();
    return Message().number(1, 8).bytes(8, opset).bytes(7, graph.text()).text();
}

std::string make_unary_model(const std::string& op, const std::vector<std::string>& names)
{
    return make_model({make_node(op, {"x"}, "y", "n")}, {make_value_info("x", names)},
                      make_value_info("y"));
}

std::string make_property(const std::string& key, const std::string& value)
{
    return Message().bytes(1, key).bytes(2, value).text();
}

std::string make_documented_model()
{
    const std::string node =
        make_node("Relu", {"x"}, "y", "relu") + Message().bytes(6, "clamps").text();
    const std::string graph = Message()
                                  .bytes(1, node)
                                  .bytes(2, "g")
                                  .bytes(10, "a graph")
                                  .bytes(11, make_value_info("x", {"rows", "columns"}))
                                  .bytes(12, make_value_info("y", {"results", ""}))
                                  .text();
    return Message()
        .number(1, 8)
        .bytes(2, "pytorch")
        .bytes(3, "2.4.0")
        .bytes(4, "org.example")
        .number(5, 7)
        .bytes(6, "under a licence")
        .bytes(7, graph)
        .bytes(8, Message().bytes(1, "").number(2, 13).text())
        .bytes(8, Message().bytes(1, "com.microsoft").number(2, 1).text())
        .bytes(14, make_property("labels", "cat,dog"))
        .bytes(14, make_property("size", "2"))
        .text();
}

}  // namespace tengine
