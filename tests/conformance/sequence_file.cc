// SPDX-License-Identifier: Apache-2.0
#include "conformance/sequence_file.h"

#include <fstream>
#include <sstream>

#include "tensor_file/failure.h"
#include "tensor_file/tensor_proto.h"

namespace tengine::conformance {
namespace {

using tools::Failure;

// Field numbers of onnx-data.proto.
constexpr uint64_t kSequenceTensors = 3;
constexpr uint64_t kOptionalTensor = 3, kOptionalSequence = 5;

// Reads the fields of a message one by one.
class Reader
{
  public:
    explicit Reader(const std::string& message) : message_(message) {}

    // Returns false at the end. `out_text` is empty for a field without text.
    bool next(uint64_t* out_field, std::string* out_text)
    {
        if (place_ >= message_.size()) return false;
        const uint64_t key = read_number();
        *out_field = key >> 3;
        out_text->clear();
        if ((key & 7) == 0) {
            read_number();
        } else if ((key & 7) == 2) {
            const uint64_t size = read_number();
            if (size > message_.size() - place_) throw Failure("a sequence's file is cut short");
            *out_text = message_.substr(place_, size);
            place_ += size;
        } else {
            throw Failure("a sequence's file has a field that is not understood");
        }
        return true;
    }

  private:
    uint64_t read_number()
    {
        uint64_t number = 0;
        for (int shift = 0; shift < 64; shift += 7) {
            if (place_ >= message_.size()) throw Failure("a sequence's file is cut short");
            const auto byte = static_cast<unsigned char>(message_[place_++]);
            number |= uint64_t{byte & 0x7fU} << shift;
            if (byte < 0x80) return number;
        }
        throw Failure("a sequence's file has a number that is too long");
    }

    const std::string& message_;
    size_t place_ = 0;
};

Sequence decode_sequence(const std::string& message)
{
    Sequence sequence;
    Reader reader(message);
    uint64_t field = 0;
    std::string text;
    while (reader.next(&field, &text))
        if (field == kSequenceTensors)
            sequence.elements.push_back(tools::decode_tensor_proto(text));
    return sequence;
}

Sequence decode_optional(const std::string& message)
{
    Sequence sequence;
    sequence.is_absent = true;
    Reader reader(message);
    uint64_t field = 0;
    std::string text;
    while (reader.next(&field, &text)) {
        if (field == kOptionalTensor) sequence = {{tools::decode_tensor_proto(text)}, false};
        if (field == kOptionalSequence) sequence = decode_sequence(text);
    }
    return sequence;
}

}  // namespace

Sequence read_sequence(const std::string& path, bool is_optional)
{
    std::ifstream file(path, std::ios::binary);
    if (!file) throw Failure("'" + path + "' cannot be read");
    std::stringstream content;
    content << file.rdbuf();
    return is_optional ? decode_optional(content.str()) : decode_sequence(content.str());
}

}  // namespace tengine::conformance
