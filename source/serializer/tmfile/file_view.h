// SPDX-License-Identifier: Apache-2.0
// Reading of a hostile tmfile: no byte outside it is read, and all memory for its contents is
// charged to a budget. Errors name the record and its offset.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "base/containers.hpp"
#include "base/load_budget.hpp"
#include "tengine/error.h"

namespace tengine::tmfile {

// A vector in the file, in place. Entries need not be aligned.
class VectorView
{
  public:
    VectorView() = default;
    VectorView(const char* entries, uint32_t count) : entries_(entries), count_(count) {}

    uint32_t count() const { return count_; }
    template <class Value>
    Value get(uint32_t index) const
    {
        Value value;
        std::memcpy(&value, entries_ + index * sizeof(Value), sizeof(Value));
        return value;
    }
    uint32_t operator[](uint32_t index) const { return get<uint32_t>(index); }

  private:
    const char* entries_ = nullptr;
    uint32_t count_ = 0;
};

class FileView
{
  public:
    FileView(const char* bytes, size_t size) : bytes_(bytes), size_(size) {}

    size_t size() const { return size_; }

    // `what` names the record in messages: "node 3". All fail with TENGINE_EFORMAT. An offset of 0
    // means absent: read() fails, the others give an empty result.
    template <class Record>
    TENGINE_MUST_USE int read(uint32_t offset, const String& what, Record* out_record) const
    {
        return read_words(offset, sizeof(Record), what, out_record);
    }
    // The first `size` bytes of a record.
    TENGINE_MUST_USE int read_words(uint32_t offset, size_t size, const String& what,
                                    void* out_bytes) const;
    TENGINE_MUST_USE int read_vector(uint32_t offset, size_t entry_bytes, const String& what,
                                     VectorView* out_vector) const;
    // The characters before the first NUL.
    TENGINE_MUST_USE int read_string(uint32_t offset, const String& what,
                                     std::string_view* out_string) const;
    TENGINE_MUST_USE int find_bytes(uint32_t offset, uint32_t size, const String& what,
                                    const char** out_bytes) const;

  private:
    const char* bytes_;
    size_t size_;
};

}  // namespace tengine::tmfile
