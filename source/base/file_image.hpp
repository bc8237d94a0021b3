// SPDX-License-Identifier: Apache-2.0
// The bytes of a model's file, in which the constants of its graphs lie: instances share one image.
#pragma once

#include <atomic>
#include <sys/stat.h>

#include "base/containers.hpp"
#include "base/mapped_file.h"

namespace tengine {

class FileImage : public Allocated
{
  public:
    FileImage() = default;
    ~FileImage();
    FileImage(const FileImage&) = delete;
    FileImage& operator=(const FileImage&) = delete;

    // The bytes of a file, which programs may write to, as to the buffer of any constant.
    TENGINE_MUST_USE int open(const char* path, file_use_t use);
    // Uses bytes of the caller, which are only read.
    void view(const void* bytes, size_t size);
    // The image frees the bytes of view() with free_memory().
    void own() { owned_ = true; }

    // Another graph has the image; a graph has it no longer: whether it was the last. Any thread.
    void join() { ++graph_num_; }
    TENGINE_MUST_USE bool leave() { return --graph_num_ == 0; }

    // The path of the file, "" for a model in memory.
    const String& path() const { return path_; }
    char* bytes() const { return bytes_; }
    size_t size() const { return size_; }

    // Memory for constants without values in the file: zeroes, once per image.
    TENGINE_MUST_USE int add_zeroes(size_t size, char** out_bytes);
    // Whether `bytes` are in add_zeroes()' memory and still zero.
    bool is_without_values(const void* bytes, size_t size) const;

    ir_data_place_t locate(const void* data) const;
    // Whether open() was given this file, under any name.
    bool is_of(const struct stat& file) const;
    // As check_mapped_file().
    TENGINE_MUST_USE int check() const { return check_mapped_file(&file_); }

  private:
    TENGINE_MUST_USE int use(int descriptor, const char* path, file_use_t use);

    String path_;
    struct stat origin_ = {};  // of the file; no model is of device 0, inode 0
    mapped_file_t file_ = {nullptr, 0};
    mapped_file_t zeroes_ = {nullptr, 0};
    char* bytes_ = nullptr;
    size_t size_ = 0;
    bool owned_ = false;
    bool is_mapped_ = false;
    std::atomic<int> graph_num_{1};
};

}  // namespace tengine
