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

namespace {

// ValueInfoProto of a float tensor.
std::string make_value_info(const std::string& name, const std::vector<std::string>& names)
{
    Message dimensions;
    for (const std::string& free : names)
        dimensions.bytes(1, free.empty() ? "" : Message().bytes(2, free).text());
    if (names.empty()) dimensions.bytes(1, Message().number(1, 4).text());
    const std::string shape = dimensions.text();
    const std::string tensor_type = Message().number(1, 1).bytes(2, shape).text();
    const std::string type = Message().bytes(1, tensor_type).text();
    return Message().bytes(1, name).bytes(2, type).text();
}

}  // namespace

std::string make_unary_model(const std::string& op, const std::vector<std::string>& names)
{
    const std::string node =
        Message().bytes(1, "x").bytes(2, "y").bytes(3, "n").bytes(4, op).text();
    const std::string graph = Message()
                                  .bytes(1, node)
                                  .bytes(2, "g")
                                  .bytes(11, make_value_info("x", names))
                                  .bytes(12, make_value_info("y", {}))
                                  .text();
    const std::string opset = Message().bytes(1, "").number(2, 13).text();
    return Message().number(1, 8).bytes(8, opset).bytes(7, graph).text();
}

}  // namespace tengine
