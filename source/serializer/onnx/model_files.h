// SPDX-License-Identifier: Apache-2.0
// The files of a model: its own and those of external data. Files in which constants lie stay
// mapped, or copied, while the graph lives; with the option model.map=0 none is mapped.
#pragma once

#include <map>
#include <string>
#include <sys/stat.h>
#include <vector>

#include "base/mapped_file.h"

namespace tengine {

struct ModelFile
{
    mapped_file_t bytes = {nullptr, 0};
    bool is_copy = false;            // the copy of a small file
    bool is_mapped = true;           // else memory that is freed when the model is loaded
    std::map<size_t, size_t> views;  // constants that lie in it: first byte, end

    // Reserves these bytes for a constant. False when another constant overlaps them, so that
    // programs may write to each without changing the other, and for files that are not mapped.
    bool add_view(size_t begin, size_t end);
};

// The options of a context about files (docs/options.md).
struct FileOptions
{
    file_use_t use = FILE_IS_COPIED_IF_SMALL;
    bool refuse_hard_links = false;
};

class ModelFiles
{
  public:
    explicit ModelFiles(FileOptions options) : options_(options) {}
    ~ModelFiles();
    ModelFiles(const ModelFiles&) = delete;
    ModelFiles& operator=(const ModelFiles&) = delete;

    FileOptions options() const { return options_; }

    // The bytes of an open file, unless a file of this name is open already; mapped or copied as
    // the options say. Programs may write to them, as to those of any constant; writes stay
    // private. Fails as map_open_file() and copy_open_file() do. *out_file lives until
    // unmap_unviewed() or as long as this object.
    TENGINE_MUST_USE int map(int descriptor, const std::string& path, ModelFile** out_file);
    // Opens the model itself as the options say.
    TENGINE_MUST_USE int open_model(const std::string& path, ModelFile** out_file);
    // Records that the model consists of this file, too.
    void add_origin(const struct stat& file);
    void add_origins(const ModelFiles& others);

    void unmap_unviewed();

    // The file whose memory has an address; whether it is mapped, a copy, or neither.
    const ModelFile* find(const void* address) const;
    // Whether this file is one of the model's.
    bool has_origin(const struct stat& file) const;
    // As check_mapped_file(), for all files.
    TENGINE_MUST_USE int check() const;

  private:
    TENGINE_MUST_USE int fill(int descriptor, const std::string& path, ModelFile* file);

    FileOptions options_;
    size_t copied_bytes_ = 0;
    std::map<std::string, ModelFile> files_;  // by path
    std::vector<std::pair<dev_t, ino_t>> origins_;
};

}  // namespace tengine
