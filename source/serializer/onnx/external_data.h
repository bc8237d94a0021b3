// SPDX-License-Identifier: Apache-2.0
// Tensor values in files beside the model. Such a file must lie in the model's folder or below it:
// a location that is absolute, has "..", or leaves the folder through a symbolic link is refused,
// and with the option model.refuse_hard_links a file that has a second name.
#pragma once

#include <cstdint>
#include <string>

#include "onnx/onnx.pb.h"
#include "serializer/onnx/model_files.h"
#include "tengine/error.h"

namespace tengine {

class ExternalData
{
  public:
    // The `folder` of the model, and the mapped files.
    ExternalData(std::string folder, ModelFiles* files) : folder_(std::move(folder)), files_(files)
    {
    }
    // A model in memory has no folder and so no external data.
    ExternalData() = default;
    ~ExternalData();
    ExternalData(const ExternalData&) = delete;
    ExternalData& operator=(const ExternalData&) = delete;

    // Opens the file that the tensor refers to and checks that it holds exactly `bytes` for it.
    // `owner` names the tensor in messages.
    TENGINE_MUST_USE int open(const ::onnx::TensorProto& tensor, size_t bytes,
                              const std::string& owner);
    // The values of the tensor opened last in the mapped file, which stays mapped. NULL when they
    // are not at a multiple of `alignment`, overlap those of another constant, or the file cannot
    // or must not be mapped: then read() copies them.
    char* view(size_t alignment);
    // Copies the values of the tensor opened last.
    TENGINE_MUST_USE int read(void* out_values, size_t bytes, const std::string& owner) const;

  private:
    TENGINE_MUST_USE int open_file(const std::string& location, const std::string& owner);
    void close();

    std::string folder_;
    ModelFiles* files_ = nullptr;
    std::string location_;  // the file that is open
    std::string path_;      // its path, without symbolic links
    int descriptor_ = -1;
    uint64_t size_ = 0;
    uint64_t offset_ = 0;  // of the tensor opened last
    size_t bytes_ = 0;
};

}  // namespace tengine
