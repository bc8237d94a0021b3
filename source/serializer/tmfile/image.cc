// SPDX-License-Identifier: Apache-2.0
#include "serializer/tmfile/image.h"

#include <cstring>

namespace tengine::tmfile {

Image::~Image()
{
    unmap_file(&file_);
    unmap_file(&zeroes_);
    if (owned_) free_memory(bytes_);
}

int Image::map(const char* path)
{
    // Programs may write to the buffer of a constant.
    TENGINE_RETURN_IF_ERROR(map_file(path, true, &file_));
    path_ = path;
    bytes_ = file_.bytes;
    size_ = file_.size;
    is_mapped_ = true;
    return TENGINE_OK;
}

int Image::read(const char* path)
{
    TENGINE_RETURN_IF_ERROR(read_whole_file(path, &file_));
    bytes_ = file_.bytes;
    size_ = file_.size;
    return TENGINE_OK;
}

void Image::view(const void* bytes, size_t size)
{
    bytes_ = static_cast<char*>(const_cast<void*>(bytes));
    size_ = size;
}

int Image::add_zeroes(size_t size, char** out_bytes)
{
    TENGINE_RETURN_IF_ERROR(map_zeroes(size, &zeroes_));
    *out_bytes = zeroes_.bytes;
    return TENGINE_OK;
}

bool Image::is_without_values(const void* bytes, size_t size) const
{
    if (size == 0 || !is_in_mapped_file(&zeroes_, bytes)) return false;
    const char* begin = static_cast<const char*>(bytes);
    return begin[0] == 0 && std::memcmp(begin, begin + 1, size - 1) == 0;
}

ir_data_place_t Image::locate(const void* data) const
{
    if (is_in_mapped_file(&zeroes_, data)) return IR_DATA_MAPPED;
    if (is_in_mapped_file(&file_, data)) return is_mapped_ ? IR_DATA_MAPPED : IR_DATA_LIBRARY;
    const mapped_file_t block = {bytes_, size_};
    return owned_ && is_in_mapped_file(&block, data) ? IR_DATA_LIBRARY : IR_DATA_PROGRAM;
}

}  // namespace tengine::tmfile
