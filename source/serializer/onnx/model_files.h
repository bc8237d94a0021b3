// SPDX-License-Identifier: Apache-2.0
// Files of a model: its own and those of external data. Those in which constants lie in place stay
// mapped while the graph lives, or copies of them; with the option model.map=0 none does.
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
    bool is_mapped = true;           // else plain memory that goes when the model is loaded
    std::map<size_t, size_t> views;  // where constants lie in it: first byte, first byte after

    // Takes these bytes for a constant. False when another has some of them, so that programs may
    // write to each without changing the other, and for files that are not mapped.
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

    // The bytes of an open file, unless there is one of this name already: as the options say, but
    // never in plain memory. Programs may write to them, as to those of any constant, which stay
    // private. Fails as map_open_file() and copy_open_file() do. *out_file lives until
    // unmap_unviewed() or as long as this.
    TENGINE_MUST_USE int map(int descriptor, const std::string& path, ModelFile** out_file);
    // The model itself, as the options say.
    TENGINE_MUST_USE int open_model(const std::string& path, ModelFile** out_file);
    // Notes that the model is made of this file, too.
    void add_origin(const struct stat& file);
    void add_origins(const ModelFiles& others);

    void unmap_unviewed();

    // The file in whose memory an address lies: a mapped file's, a copy's, or neither's.
    const ModelFile* find(const void* address) const;
    // Whether the model is made of this file.
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
