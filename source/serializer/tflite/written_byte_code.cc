// SPDX-License-Identifier: Apache-2.0
// DISPATCH_OP as LiteRT writes it: the options are a map whose numbers have 64 bits.
#include <algorithm>
#include <cstring>
#include <string_view>

#include "flatbuffers/flexbuffers.h"
#include "graph/graph.h"
#include "serializer/tflite/writing.h"

namespace tengine::tflite {
namespace {

constexpr size_t kStampRoom = 125;  // of the maker and of the chip, each with a NUL

bool has_same_bytes(const struct tensor& a, const struct tensor& b)
{
    const size_t size = get_ir_tensor_bytes(&a);
    return size == get_ir_tensor_bytes(&b) &&
           (a.data == b.data || std::memcmp(a.data, b.data, size) == 0);
}

void put_text(const char* text, uint8_t* room)
{
    const std::string_view given(text);
    std::copy_n(given.begin(), std::min(given.size(), kStampRoom - 1), room);
}

}  // namespace

Vector<uint8_t> ByteCodes::add(const struct node& node)
{
    const struct tensor* bytes = get_ir_node_input(&node, node.input_num - 1);
    auto known = std::find_if(codes_.begin(), codes_.end(), [&](const Code& code) {
        return has_same_bytes(*code.bytes, *bytes);
    });
    if (known == codes_.end()) {
        codes_.push_back({bytes, trailing_.add(bytes->data, get_ir_tensor_bytes(bytes))});
        known = codes_.end() - 1;
    }
    const char* maker = get_ir_node_text(&node, "manufacturer", "");
    if (*maker && stamp_.empty()) {
        stamp_.resize(2 * kStampRoom);
        put_text(maker, stamp_.data());
        put_text(get_ir_node_text(&node, "soc_model", ""), stamp_.data() + kStampRoom);
    }
    flexbuffers::Builder map;
    map.ForceMinimumBitWidth(flexbuffers::BIT_WIDTH_64);
    const size_t start = map.StartMap();
    map.UInt("bytecode_size", get_ir_tensor_bytes(bytes));
    map.UInt("bytecode_offset", known->place);
    map.String("name", get_ir_node_text(&node, "name", ""));
    map.EndMap(start);
    map.Finish();
    return {map.GetBuffer().begin(), map.GetBuffer().end()};
}

}  // namespace tengine::tflite
