// SPDX-License-Identifier: Apache-2.0
// A FlexBuffer that is a map, read from bytes that may be anything. FlexBuffers' own verifier lets
// keys leave the buffer, so each read is checked here.
// https://flatbuffers.dev/internals (FlexBuffers) describes the bytes.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/containers.hpp"

namespace tengine::tflite {

class FlexMap
{
  public:
    enum class Kind
    {
        kOther,  // null, maps, vectors of mixed kinds, and what is not inside the bytes
        kInt,
        kFloat,
        kText,
        kInts,
        kFloats,
        kTexts
    };

    struct Entry
    {
        std::string_view name;
        Kind kind = Kind::kOther;
        Vector<int64_t> ints;  // one for a scalar, as in the lists below
        Vector<double> floats;
        Vector<std::string_view> texts;
    };

    FlexMap(const uint8_t* bytes, size_t size) : bytes_(bytes), size_(size) { find_root(); }

    bool is_map() const { return width_ != 0; }
    size_t size() const { return number_; }
    // Entry `index` in the order of the names, which is that of the bytes.
    Entry get(size_t index) const;

  private:
    struct Value
    {
        size_t place = 0;  // of the number or offset
        size_t parent_width = 0;
        uint8_t packed = 0;  // type and width of what an offset leads to
    };

    void find_root();
    bool read_unsigned(size_t place, size_t width, uint64_t* out_value) const;
    bool read_number(const Value& value, int type, size_t width, Entry* entry) const;
    bool follow(size_t place, size_t width, size_t* out_target) const;
    bool read_key(size_t place, std::string_view* out_key) const;
    bool read_text(size_t place, size_t width, std::string_view* out_text) const;
    bool count_elements(size_t place, size_t width, size_t* out_number) const;
    bool read_value(const Value& value, Entry* entry) const;
    bool read_vector(int type, size_t place, size_t width, Entry* entry) const;
    bool read_element(int type, const Value& value, Entry* entry) const;

    const uint8_t* bytes_;
    size_t size_;
    size_t map_ = 0;    // place of the values
    size_t width_ = 0;  // of a value; 0: not a map
    size_t number_ = 0;
    size_t keys_ = 0;
    size_t key_width_ = 0;
};

}  // namespace tengine::tflite
