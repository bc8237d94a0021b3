// SPDX-License-Identifier: Apache-2.0
// Runs a model file through the public C API, for the tests of this folder.
#pragma once

#include <string>
#include <vector>

#include "tensor_file/tensor.h"

namespace tengine::models {

// Returns the path of a file that is not part of the tree; it may be absent.
std::string shared_data(const std::string& name);

// False if the file is absent. Then the test should skip: GTEST_SKIP() << absent(path). That names
// only the folder, since scripts/test counts equal reasons.
bool exists(const std::string& path);
std::string absent(const std::string& path);

// Whether this processor is emulated and the network has 4 billion multiply-accumulates or more,
// which then take more than a minute. Then the test should skip.
bool takes_too_long(const std::string& network);

// The graph of the ONNX model `path`, which has one input and one output.
class ModelRun
{
  public:
    explicit ModelRun(const std::string& path);
    ~ModelRun();
    ModelRun(const ModelRun&) = delete;
    ModelRun& operator=(const ModelRun&) = delete;

    // Returns the shape as the file has it; an unknown dimension is -1.
    std::vector<int> input_shape() const;

    // Returns the output for this input. Prepares the graph if the shape is not that of the last
    // call. Throws tools::Failure with the library's message.
    tools::Tensor run(tools::Tensor input);

  private:
    void* graph_;
    std::vector<int> prepared_;
};

}  // namespace tengine::models
