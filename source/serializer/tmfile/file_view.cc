// SPDX-License-Identifier: Apache-2.0
#include "serializer/tmfile/file_view.h"

#include "base/containers.hpp"

namespace tengine::tmfile {

int FileView::read_words(uint32_t offset, size_t size, const String& what, void* out_bytes) const
{
    if (offset == 0) return tengine_error_set(TENGINE_EFORMAT, "%s is missing", what.c_str());
    if (offset % sizeof(uint32_t) != 0)
        return tengine_error_set(TENGINE_EFORMAT, "%s is at byte %u, expected a multiple of 4",
                                 what.c_str(), offset);
    if (offset > size_ || size > size_ - offset)
        return tengine_error_set(TENGINE_EFORMAT,
                                 "%s has %zu bytes from byte %u on, the file ends at %zu",
                                 what.c_str(), size, offset, size_);
    std::memcpy(out_bytes, bytes_ + offset, size);
    return TENGINE_OK;
}

int FileView::read_vector(uint32_t offset, size_t entry_bytes, const String& what,
                          VectorView* out_vector) const
{
    *out_vector = VectorView();
    if (offset == 0) return TENGINE_OK;
    uint32_t count = 0;
    TENGINE_RETURN_IF_ERROR(read(offset, what, &count));
    const size_t room = (size_ - offset - sizeof(count)) / entry_bytes;
    if (count > room)
        return tengine_error_set(TENGINE_EFORMAT,
                                 "%s has %u entries at byte %u, the file has room for %zu",
                                 what.c_str(), count, offset, room);
    *out_vector = VectorView(bytes_ + offset + sizeof(count), count);
    return TENGINE_OK;
}

int FileView::find_bytes(uint32_t offset, uint32_t size, const String& what,
                         const char** out_bytes) const
{
    if (offset > size_ || size > size_ - offset)
        return tengine_error_set(TENGINE_EFORMAT,
                                 "%s has %u bytes from byte %u on, the file ends at %zu",
                                 what.c_str(), size, offset, size_);
    *out_bytes = bytes_ + offset;
    return TENGINE_OK;
}

int FileView::read_string(uint32_t offset, const String& what, std::string_view* out_string) const
{
    *out_string = {};
    if (offset == 0) return TENGINE_OK;
    uint32_t record[2];  // size, offset of the characters
    TENGINE_RETURN_IF_ERROR(read(offset, what, &record));
    const char* letters = nullptr;
    TENGINE_RETURN_IF_ERROR(find_bytes(record[1], record[0], what, &letters));
    *out_string = std::string_view(letters, strnlen(letters, record[0]));
    return TENGINE_OK;
}

}  // namespace tengine::tmfile
