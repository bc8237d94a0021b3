// SPDX-License-Identifier: Apache-2.0
// A model in memory, run by the library so that the values between its nodes can be read.
#pragma once

#include <cstddef>
#include <memory>
#include <onnx/onnx.pb.h>
#include <string>
#include <vector>

#include "quantize/samples.h"
#include "tengine/c_api.h"

namespace tengine::tools {

struct FloatView
{
    const float* values = nullptr;  // nullptr: the tensor is of another type
    size_t number = 0;
    std::vector<int> shape;
};

class Network
{
  public:
    // `tensors`: results of nodes that are to be read besides the model's outputs; names of others
    // are ignored. Every function throws Failure.
    Network(const ::onnx::ModelProto& model, const std::vector<std::string>& tensors, int threads);

    // `sample` must live as long as views are read.
    void run(const Sample& sample);

    // After run(): an input, a model's output or one of `tensors`; valid until the next run.
    FloatView view(const std::string& tensor) const;

  private:
    struct DestroyContext
    {
        void operator()(void* context) const { destroy_context(context); }
    };
    struct DestroyGraph
    {
        void operator()(void* graph) const { destroy_graph(graph); }
    };

    void set_outputs(const std::vector<std::string>& tensors);

    int threads_;
    bool is_prepared_ = false;
    std::vector<std::vector<int>> shapes_;  // of the inputs, as prepared
    std::unique_ptr<void, DestroyContext> context_;
    std::unique_ptr<void, DestroyGraph> graph_;
};

}  // namespace tengine::tools
