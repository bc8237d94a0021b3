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

// Opset 13: input "x" and output "y", float; one node y = <op>(x). The input's dimensions: a name
// for a free one, "" for one without; without any it is [4].
std::string make_unary_model(const std::string& op, const std::vector<std::string>& names = {});

}  // namespace tengine
