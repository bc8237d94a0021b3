// SPDX-License-Identifier: Apache-2.0
// Tensor values kept in files beside the model. Such a file must lie in the model's folder or
// below it: a location that is absolute, has "..", or leaves the folder through a symbolic link is
// refused.
#pragma once

#include <cstdint>
#include <string>

#include "onnx/onnx.pb.h"
#include "tengine/error.h"

namespace tengine {

class ExternalData
{
  public:
    // `folder` of the model; "" for a model in memory, which has none and so no external data.
    explicit ExternalData(std::string folder) : folder_(std::move(folder)) {}
    ~ExternalData();
    ExternalData(const ExternalData&) = delete;
    ExternalData& operator=(const ExternalData&) = delete;

    // Opens what the tensor refers to and checks that it holds exactly `bytes` for it. `owner`
    // names the tensor in error sentences.
    TENGINE_MUST_USE int open(const ::onnx::TensorProto& tensor, size_t bytes,
                              const std::string& owner);
    // Reads the bytes of the tensor opened last.
    TENGINE_MUST_USE int read(void* out_values, size_t bytes, const std::string& owner) const;

  private:
    TENGINE_MUST_USE int open_file(const std::string& location, const std::string& owner);
    void close();

    std::string folder_;
    std::string location_;  // the file that is open
    int descriptor_ = -1;
    uint64_t size_ = 0;
    uint64_t offset_ = 0;  // of the tensor opened last
};

}  // namespace tengine
