// SPDX-License-Identifier: Apache-2.0
// A tiny writer of ONNX models, so that tests of memory models need no file.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tengine {

// A protobuf message under construction: fields by number, as onnx.proto gives them.
class Message
{
  public:
    Message& number(int field, uint64_t value);
    Message& bytes(int field, const std::string& value);
    const std::string& text() const { return text_; }

  private:
    void varint(uint64_t value);
    std::string text_;
};

// Returns the ValueInfoProto of a tensor of ONNX's type `data_type`, by default float. Its
// dimensions: a name for a free one, "" for one without a name; without any it is [4].
std::string make_value_info(const std::string& name, const std::vector<std::string>& names = {},
                            int data_type = 1);
// NodeProto.
std::string make_node(const std::string& op, const std::vector<std::string>& inputs,
                      const std::string& output, const std::string& name);
// Returns a model of opset 13 with these.
std::string make_model(const std::vector<std::string>& nodes,
                       const std::vector<std::string>& inputs, const std::string& output);

// StringStringEntryProto.
std::string make_property(const std::string& key, const std::string& value);

// Opset 13: input "x" and output "y", float; one node y = <op>(x). The input's dimensions are
// make_value_info()'s.
std::string make_unary_model(const std::string& op, const std::vector<std::string>& names = {});

// y = Relu(x), with the node "relu", of "rows" x "columns", and everything that a model can say
// about itself (tengine/metadata.h). y is declared as "results" x a free dimension.
std::string make_documented_model();

}  // namespace tengine
