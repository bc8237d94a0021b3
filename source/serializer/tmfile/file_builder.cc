// SPDX-License-Identifier: Apache-2.0
#include "serializer/tmfile/file_builder.h"

#include "base/text_hash.h"
#include "serializer/tmfile/format.h"

namespace tengine::tmfile {

void FileBuilder::append(const void* bytes, size_t size)
{
    if (is_too_large_ || size > UINT32_MAX - bytes_.size()) {
        is_too_large_ = true;
        return;
    }
    const char* begin = static_cast<const char*>(bytes);
    bytes_.insert(bytes_.end(), begin, begin + size);
}

uint32_t FileBuilder::add_aligned(const void* bytes, size_t size, size_t alignment)
{
    while (!is_too_large_ && bytes_.size() % alignment != 0)
        append("", 1);  // a NUL
    const size_t offset = bytes_.size();
    append(bytes, size);
    return is_too_large_ ? 0 : static_cast<uint32_t>(offset);
}

const FileBuilder::Data* FileBuilder::find_data(uint64_t hash, const void* bytes, size_t size,
                                                size_t alignment) const
{
    const auto known = data_.find(hash);
    if (known == data_.end()) return nullptr;
    for (const Data& data : known->second)
        if (data.size == size && data.offset % alignment == 0 &&
            std::memcmp(bytes_.data() + data.offset, bytes, size) == 0)
            return &data;
    return nullptr;
}

uint32_t FileBuilder::add_data(const void* bytes, size_t size, size_t alignment)
{
    if (!keeps_once_ || size == 0 || is_too_large_) return add_aligned(bytes, size, alignment);
    const uint64_t hash = hash_bytes(HASH_START, bytes, size);
    if (const Data* known = find_data(hash, bytes, size, alignment)) return known->offset;
    const uint32_t offset = add_aligned(bytes, size, alignment);
    if (offset != 0) data_[hash].push_back({offset, size});
    return offset;
}

uint32_t FileBuilder::add_string(std::string_view text)
{
    const size_t offset = bytes_.size();
    append(text.data(), text.size());
    append("", 1);
    return add(StringRecord{static_cast<uint32_t>(text.size() + 1), static_cast<uint32_t>(offset)});
}

}  // namespace tengine::tmfile
