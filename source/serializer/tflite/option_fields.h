// SPDX-License-Identifier: Apache-2.0
// Single fields of an operator's options, which the schema does not have. Absent ones have their
// default; a function returns false where a field is not inside of the file.
#pragma once

#include "serializer/tflite/reading.h"

namespace tengine::tflite {

class OptionFields
{
  public:
    OptionFields(const FileImage& image, const file::Options* options)
        : table_(reinterpret_cast<const flatbuffers::Table*>(options)),
          verifier_(reinterpret_cast<const uint8_t*>(image.bytes()), image.size())
    {
    }

    template <class Value>
    bool read_number(uint16_t field, Value otherwise, Value* out_value) const
    {
        *out_value = otherwise;
        if (!table_) return true;
        if (!table_->VerifyField<Value>(verifier_, place_of(field), sizeof(Value))) return false;
        *out_value = table_->GetField<Value>(place_of(field), otherwise);
        return true;
    }

    // A string ends at its first 0.
    bool read_text(uint16_t field, std::string_view* out_text) const
    {
        const flatbuffers::String* text = nullptr;
        if (!read_pointer(field, &text) || (text && !verifier_.VerifyString(text))) return false;
        *out_text = text_of(text);
        *out_text = out_text->substr(0, out_text->find('\0'));
        return true;
    }

    // *out_list is null where the file has none.
    template <class Value>
    bool read_list(uint16_t field, const flatbuffers::Vector<Value>** out_list) const
    {
        return read_pointer(field, out_list) && (!*out_list || verifier_.VerifyVector(*out_list));
    }

  private:
    static flatbuffers::voffset_t place_of(uint16_t field)
    {
        return static_cast<flatbuffers::voffset_t>((field + 2) * sizeof(uint16_t));
    }

    template <class Pointer>
    bool read_pointer(uint16_t field, const Pointer** out_pointer) const
    {
        *out_pointer = nullptr;
        if (!table_) return true;
        if (!table_->VerifyOffset(verifier_, place_of(field))) return false;
        *out_pointer = table_->GetPointer<const Pointer*>(place_of(field));
        return true;
    }

    const flatbuffers::Table* table_;
    mutable flatbuffers::Verifier verifier_;
};

}  // namespace tengine::tflite
