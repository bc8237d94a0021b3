// SPDX-License-Identifier: Apache-2.0
// Reading of a hostile tmfile: no byte outside it is read, and all memory for its contents is
// charged to a budget. Errors name the record and its offset.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "base/containers.hpp"
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

// The memory that loading may allocate: a small multiple of the file's size, so that a small file
// that uses its records again and again cannot allocate much. The multiple for a large file exceeds
// a size_t of 32 bits.
class Budget
{
  public:
    explicit Budget(size_t file_size) : left_(kMultiple * file_size + kBase) {}

    // To be called before a block of `bytes` is allocated. TENGINE_ELIMIT when the budget is used
    // up.
    TENGINE_MUST_USE int charge(uint64_t bytes);

  private:
    static constexpr uint64_t kMultiple = 10;
    static constexpr uint64_t kBase = 4096;
    static constexpr uint64_t kBlockOverhead = 32;  // of the allocator, for an aligned block

    uint64_t left_;
};

// A name from a file for messages: without control characters, in quotes.
String quote(std::string_view name);

}  // namespace tengine::tmfile
