// SPDX-License-Identifier: Apache-2.0
#include "serializer/onnx/model_files.h"

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

int ModelFiles::map(int descriptor, const std::string& path, ModelFile** out_file)
{
    *out_file = &files_[path];
    if ((*out_file)->bytes.bytes) return TENGINE_OK;
    return map_open_file(descriptor, path.c_str(), true, &(*out_file)->bytes);
}

int ModelFiles::open_model(const std::string& path, ModelFile** out_file)
{
    ModelFile& file = files_[path];
    *out_file = &file;
    file.is_mapped = options_.map;
    return options_.map ? map_file(path.c_str(), true, &file.bytes)
                        : read_whole_file(path.c_str(), &file.bytes);
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

bool ModelFiles::contains(const void* address) const
{
    return std::any_of(files_.begin(), files_.end(), [=](const auto& entry) {
        return is_in_mapped_file(&entry.second.bytes, address);
    });
}

}  // namespace tengine
