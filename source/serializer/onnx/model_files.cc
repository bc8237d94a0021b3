// SPDX-License-Identifier: Apache-2.0
#include "serializer/onnx/model_files.h"

#include <unistd.h>

#include <algorithm>
#include <iterator>

namespace tengine {

bool ModelFile::add_view(size_t begin, size_t end)
{
    if (!is_mapped) return false;
    const auto next = views.lower_bound(begin);
    if (next != views.end() && next->first < end) return false;
    if (next != views.begin() && std::prev(next)->second > begin) return false;
    views.emplace_hint(next, begin, end);
    return true;
}

ModelFiles::~ModelFiles()
{
    for (auto& [path, file] : files_)
        unmap_file(&file.bytes);
}

int ModelFiles::fill(int descriptor, const std::string& path, ModelFile* file)
{
    size_t size = 0;
    TENGINE_RETURN_IF_ERROR(find_file_size(descriptor, path.c_str(), &size));
    if (options_.use == FILE_IS_COPIED_IF_SMALL && size <= MOST_COPIED_BYTES - copied_bytes_) {
        const int status = copy_open_file(descriptor, path.c_str(), &file->bytes);
        file->is_copy = status == TENGINE_OK;
        copied_bytes_ += file->is_copy ? size : 0;
        if (status != TENGINE_ENOTSUP) return status;
        tengine_error_clear();
    }
    return map_open_file(descriptor, path.c_str(), true, &file->bytes);
}

int ModelFiles::map(int descriptor, const std::string& path, ModelFile** out_file)
{
    *out_file = &files_[path];
    return (*out_file)->bytes.bytes ? TENGINE_OK : fill(descriptor, path, *out_file);
}

int ModelFiles::open_model(const std::string& path, ModelFile** out_file)
{
    ModelFile& file = files_[path];
    *out_file = &file;
    file.is_mapped = options_.use != FILE_IS_READ;
    int descriptor;
    TENGINE_RETURN_IF_ERROR(open_to_read(path.c_str(), &descriptor));
    struct stat origin;
    if (fstat(descriptor, &origin) == 0) add_origin(origin);
    const int status = file.is_mapped ? fill(descriptor, path, &file)
                                      : read_open_file(descriptor, path.c_str(), &file.bytes);
    close(descriptor);
    return status;
}

void ModelFiles::add_origin(const struct stat& file)
{
    if (!has_origin(file)) origins_.emplace_back(file.st_dev, file.st_ino);
}

void ModelFiles::add_origins(const ModelFiles& others)
{
    origins_.insert(origins_.end(), others.origins_.begin(), others.origins_.end());
}

bool ModelFiles::has_origin(const struct stat& file) const
{
    return std::find(origins_.begin(), origins_.end(), std::pair(file.st_dev, file.st_ino)) !=
           origins_.end();
}

void ModelFiles::unmap_unviewed()
{
    for (auto file = files_.begin(); file != files_.end();) {
        if (!file->second.views.empty()) {
            ++file;
        } else {
            unmap_file(&file->second.bytes);
            file = files_.erase(file);
        }
    }
}

const ModelFile* ModelFiles::find(const void* address) const
{
    const auto found = std::find_if(files_.begin(), files_.end(), [=](const auto& entry) {
        return is_in_mapped_file(&entry.second.bytes, address);
    });
    return found == files_.end() ? nullptr : &found->second;
}

int ModelFiles::check() const
{
    for (const auto& [path, file] : files_)
        TENGINE_RETURN_IF_ERROR(check_mapped_file(&file.bytes));
    return TENGINE_OK;
}

}  // namespace tengine
