// SPDX-License-Identifier: Apache-2.0
// The bytes of a loaded tmfile, in which the graph's constants lie, and their owner. Lives
// in graph->serializer_privacy.
#pragma once

#include <sys/stat.h>

#include "base/containers.hpp"
#include "base/mapped_file.h"
#include "serializer/serializer.h"
#include "tengine/ir.h"

namespace tengine::tmfile {

class Image : public Allocated
{
  public:
    Image() = default;
    ~Image();
    Image(const Image&) = delete;
    Image& operator=(const Image&) = delete;

    // The bytes of a file, which programs may write to, as to the buffer of any constant.
    TENGINE_MUST_USE int open(const char* path, file_use_t use);
    // Bytes of the caller; they are only read.
    void view(const void* bytes, size_t size);
    // From now on the bytes of view() are freed with the image, by free_memory().
    void own() { owned_ = true; }

    // The file's, "" for a model in memory.
    const String& path() const { return path_; }
    char* bytes() const { return bytes_; }
    size_t size() const { return size_; }

    // Memory for the constants that the file has no values for: zeroes, once per image.
    TENGINE_MUST_USE int add_zeroes(size_t size, char** out_bytes);
    // Whether `bytes` lie in add_zeroes()' memory and are zero still.
    bool is_without_values(const void* bytes, size_t size) const;

    ir_data_place_t locate(const void* data) const;
    // Whether this is the file that open() was given, by whatever name.
    bool is_of(const struct stat& file) const;
    // As check_mapped_file().
    TENGINE_MUST_USE int check() const { return check_mapped_file(&file_); }

  private:
    TENGINE_MUST_USE int use(int descriptor, const char* path, file_use_t use);

    String path_;
    struct stat origin_ = {};  // the file's; no model is of device 0, inode 0
    mapped_file_t file_ = {nullptr, 0};
    mapped_file_t zeroes_ = {nullptr, 0};
    char* bytes_ = nullptr;
    size_t size_ = 0;
    bool owned_ = false;
    bool is_mapped_ = false;
};

// The image of a graph that was loaded from a tmfile; NULL for all others.
const Image* find_image(const struct graph& graph);

}  // namespace tengine::tmfile
