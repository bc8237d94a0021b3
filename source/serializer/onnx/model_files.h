// SPDX-License-Identifier: Apache-2.0
// Files of a model: its own and those of external data. Those in which constants lie in place stay
// mapped while the graph lives; with the option model.map=0 none does.
#pragma once

#include <map>
#include <string>

#include "base/mapped_file.h"

namespace tengine {

struct ModelFile
{
    mapped_file_t bytes = {nullptr, 0};
    bool is_mapped = true;           // else a copy that goes when the model is loaded
    std::map<size_t, size_t> views;  // where constants lie in it: first byte, first byte after

    // Takes these bytes for a constant. False when another has some of them, so that programs may
    // write to each without changing the other, and for files that are not mapped.
    bool add_view(size_t begin, size_t end);
};

// What a context says about files (docs/options.md).
struct FileOptions
{
    bool map = true;
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

    // Maps an open file, unless one of this name is mapped already. Programs may write to its
    // bytes, as to those of any constant, which stay private. Fails as map_open_file() does.
    // *out_file lives until unmap_unviewed() or as long as this.
    TENGINE_MUST_USE int map(int descriptor, const std::string& path, ModelFile** out_file);
    // The model itself, mapped or read as the options say.
    TENGINE_MUST_USE int open_model(const std::string& path, ModelFile** out_file);

    void unmap_unviewed();

    // Whether an address lies in one of the files.
    bool contains(const void* address) const;

  private:
    FileOptions options_;
    std::map<std::string, ModelFile> files_;  // by path
};

}  // namespace tengine
