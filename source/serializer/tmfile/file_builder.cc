// SPDX-License-Identifier: Apache-2.0
#include "serializer/tmfile/file_builder.h"

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

uint32_t FileBuilder::add_string(std::string_view text)
{
    const size_t offset = bytes_.size();
    append(text.data(), text.size());
    append("", 1);
    return add(StringRecord{static_cast<uint32_t>(text.size() + 1), static_cast<uint32_t>(offset)});
}

}  // namespace tengine::tmfile
