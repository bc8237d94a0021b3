// SPDX-License-Identifier: Apache-2.0
// A tmfile under construction: records, strings and vectors, one after the other. Gaps are zero,
// and nothing depends on uninitialised memory.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>
#include <utility>

#include "base/containers.hpp"
#include "base/maps.hpp"

namespace tengine::tmfile {

class FileBuilder
{
  public:
    // Appends a record. Returns its offset, or 0 once the file is too large for its offsets; all
    // further calls then do nothing. Records and vectors start at multiples of 4.
    template <class Record>
    uint32_t add(const Record& record)
    {
        return add_aligned(&record, sizeof(record), sizeof(uint32_t));
    }
    // Appends count and entries.
    template <class Value>
    uint32_t add_vector(const Value* values, size_t number)
    {
        const auto count = static_cast<uint32_t>(number);
        const uint32_t offset = add(count);
        if (number > 0) append(values, number * sizeof(Value));
        return offset;
    }
    template <class Value>
    uint32_t add_vector(const Vector<Value>& values)
    {
        return add_vector(values.data(), values.size());
    }
    // Appends the characters with a NUL, then the string's record.
    uint32_t add_string(std::string_view text);
    uint32_t add_aligned(const void* bytes, size_t size, size_t alignment);
    // The same for bytes that records only refer to: with keep_once(), equal ones are there once.
    uint32_t add_data(const void* bytes, size_t size, size_t alignment);
    void keep_once() { keeps_once_ = true; }

    template <class Record>
    void overwrite(uint32_t offset, const Record& record)
    {
        std::memcpy(bytes_.data() + offset, &record, sizeof(record));
    }

    // The bytes from `offset` on.
    std::string_view view_from(uint32_t offset) const
    {
        return {bytes_.data() + offset, bytes_.size() - offset};
    }

    bool is_too_large() const { return is_too_large_; }
    Vector<char> take() { return std::move(bytes_); }

  private:
    void append(const void* bytes, size_t size);

    struct Data
    {
        uint32_t offset;
        size_t size;
    };

    const Data* find_data(uint64_t hash, const void* bytes, size_t size, size_t alignment) const;

    Vector<char> bytes_;
    Map<uint64_t, Vector<Data>> data_;  // by their hash
    bool keeps_once_ = false;
    bool is_too_large_ = false;
};

}  // namespace tengine::tmfile
