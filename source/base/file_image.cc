// SPDX-License-Identifier: Apache-2.0
#include "base/file_image.hpp"

#include <unistd.h>

#include <cstring>

namespace tengine {

FileImage::~FileImage()
{
    unmap_file(&file_);
    unmap_file(&zeroes_);
    if (owned_) free_memory(bytes_);
}

int FileImage::use(int descriptor, const char* path, file_use_t use)
{
    size_t size = 0;
    TENGINE_RETURN_IF_ERROR(find_file_size(descriptor, path, &size));
    if (fstat(descriptor, &origin_) != 0)
        return tengine_error_set(TENGINE_EIO, "cannot read '%s'", path);
    if (use == FILE_IS_READ) return read_open_file(descriptor, path, &file_);
    if (use == FILE_IS_COPIED_IF_SMALL && size <= MOST_COPIED_BYTES) {
        const int status = copy_open_file(descriptor, path, &file_);
        if (status != TENGINE_ENOTSUP) return status;
        tengine_error_clear();
    }
    is_mapped_ = true;
    return map_open_file(descriptor, path, true, &file_);
}

int FileImage::open(const char* path, file_use_t use)
{
    int descriptor;
    TENGINE_RETURN_IF_ERROR(open_to_read(path, &descriptor));
    const int status = this->use(descriptor, path, use);
    close(descriptor);
    TENGINE_RETURN_IF_ERROR(status);
    path_ = path;
    bytes_ = file_.bytes;
    size_ = file_.size;
    return TENGINE_OK;
}

bool FileImage::is_of(const struct stat& file) const
{
    return origin_.st_dev == file.st_dev && origin_.st_ino == file.st_ino;
}

void FileImage::view(const void* bytes, size_t size)
{
    bytes_ = static_cast<char*>(const_cast<void*>(bytes));
    size_ = size;
}

int FileImage::add_zeroes(size_t size, char** out_bytes)
{
    TENGINE_RETURN_IF_ERROR(map_zeroes(size, &zeroes_));
    *out_bytes = zeroes_.bytes;
    return TENGINE_OK;
}

bool FileImage::is_without_values(const void* bytes, size_t size) const
{
    if (size == 0 || !is_in_mapped_file(&zeroes_, bytes)) return false;
    const char* begin = static_cast<const char*>(bytes);
    return begin[0] == 0 && std::memcmp(begin, begin + 1, size - 1) == 0;
}

ir_data_place_t FileImage::locate(const void* data) const
{
    if (is_in_mapped_file(&zeroes_, data)) return IR_DATA_MAPPED;
    if (is_in_mapped_file(&file_, data)) return is_mapped_ ? IR_DATA_MAPPED : IR_DATA_LIBRARY;
    const mapped_file_t block = {bytes_, size_};
    return owned_ && is_in_mapped_file(&block, data) ? IR_DATA_LIBRARY : IR_DATA_PROGRAM;
}

}  // namespace tengine
