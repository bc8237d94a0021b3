// SPDX-License-Identifier: Apache-2.0
// Protobuf's wire format, one level deep. Protobuf itself parses the levels below.
#include "serializer/onnx/wire.h"

#include <climits>
#include <cstdint>
#include <google/protobuf/io/coded_stream.h>

namespace tengine {
namespace {

enum WireType : uint32_t
{
    kVarint = 0,
    kFixed64 = 1,
    kLengthDelimited = 2,
    kFixed32 = 5
};

class Cursor
{
  public:
    explicit Cursor(Bytes bytes) : bytes_(bytes) {}

    bool at_end() const { return position_ == bytes_.size(); }
    size_t position() const { return position_; }

    bool read_varint(uint64_t* out)
    {
        *out = 0;
        for (unsigned shift = 0; shift < 64 && !at_end(); shift += 7) {
            const auto byte = static_cast<uint8_t>(bytes_[position_++]);
            *out |= static_cast<uint64_t>(byte & 0x7f) << shift;
            if (byte < 0x80) return true;
        }
        return false;
    }

    bool read_bytes(uint64_t count, Bytes* out)
    {
        if (count > bytes_.size() - position_) return false;
        *out = bytes_.substr(position_, count);
        position_ += count;
        return true;
    }

    // The value of a field; for length-delimited ones without the length. Groups are refused: no
    // ONNX message has them.
    bool read_value(uint32_t wire_type, Bytes* out)
    {
        uint64_t number = 0;
        switch (wire_type) {
            case kVarint:
                return read_varint(&number);
            case kFixed64:
                return read_bytes(8, out);
            case kFixed32:
                return read_bytes(4, out);
            case kLengthDelimited:
                return read_varint(&number) && read_bytes(number, out);
            default:
                return false;
        }
    }

  private:
    Bytes bytes_;
    size_t position_ = 0;
};

int merge(const Encoded& part, google::protobuf::MessageLite* message)
{
    if (part.bytes.empty()) return TENGINE_OK;
    if (part.bytes.size() > INT_MAX)
        return tengine_error_set(
            TENGINE_ELIMIT,
            "bytes %zu to %zu of the ONNX model exceed %d, protobuf's limit of "
            "a message without its weights: save these as external data",
            part.offset, part.offset + part.bytes.size(), INT_MAX);
    google::protobuf::io::CodedInputStream input(
        reinterpret_cast<const uint8_t*>(part.bytes.data()), static_cast<int>(part.bytes.size()));
    if (message->MergePartialFromCodedStream(&input) && input.ConsumedEntireMessage())
        return TENGINE_OK;
    return tengine_error_set(TENGINE_EFORMAT,
                             "not an ONNX model, or damaged between bytes %zu and %zu: a message "
                             "there is truncated, malformed or nested deeper than %d levels",
                             part.offset, part.offset + part.bytes.size(),
                             google::protobuf::io::CodedInputStream::GetDefaultRecursionLimit());
}

Encoded slice(const Encoded& whole, size_t begin, size_t end)
{
    return {whole.bytes.substr(begin, end - begin), whole.offset + begin};
}

}  // namespace

int split_message(const Encoded& encoded, int number, google::protobuf::MessageLite* rest,
                  std::vector<Encoded>* out_payloads)
{
    const uint64_t wanted = static_cast<uint64_t>(number) << 3 | kLengthDelimited;
    Cursor cursor(encoded.bytes);
    size_t rest_begin = 0;  // fields from here on are not merged yet
    while (!cursor.at_end()) {
        const size_t begin = cursor.position();
        uint64_t tag = 0;
        Bytes value;
        if (!cursor.read_varint(&tag) || tag >> 3 == 0 || tag > UINT32_MAX ||
            !cursor.read_value(tag & 7, &value))
            return tengine_error_set(TENGINE_EFORMAT,
                                     "not an ONNX model, or damaged: the field at byte %zu is "
                                     "malformed or reaches beyond the end at byte %zu",
                                     encoded.offset + begin, encoded.offset + encoded.bytes.size());
        if (tag != wanted) continue;
        // Protobuf defines the concatenation of messages as their merge.
        TENGINE_RETURN_IF_ERROR(merge(slice(encoded, rest_begin, begin), rest));
        rest_begin = cursor.position();
        out_payloads->push_back(slice(encoded, rest_begin - value.size(), rest_begin));
    }
    return merge(slice(encoded, rest_begin, encoded.bytes.size()), rest);
}

}  // namespace tengine
