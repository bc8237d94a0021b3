// SPDX-License-Identifier: Apache-2.0
// A graph whose inner values can be read after a run.
#pragma once

#include <cstddef>
#include <string>
#include <unordered_map>
#include <vector>

#include "quantize/float_model.h"
#include "quantize/samples.h"

namespace tengine::tools {

struct FloatView
{
    const float* values = nullptr;  // nullptr: the tensor is of another type
    size_t number = 0;
    std::vector<int> shape;
};

// Names of a graph's outputs, in its order.
std::vector<std::string> output_names(graph_t graph);

class Network
{
  public:
    // `tensors`: results of nodes that are to be read besides the model's outputs; names of others
    // are ignored. They become outputs of the graph, which must outlive the object. Every function
    // throws Failure.
    Network(graph_t graph, const std::vector<std::string>& tensors, int threads);

    // `sample` must live as long as views are read.
    void run(const Sample& sample);

    // After run(): an input, a model's output or one of `tensors`; valid until the next run.
    FloatView view(const std::string& tensor) const;

  private:
    void set_outputs(const std::vector<std::string>& tensors);
    // Throws Failure when there is none.
    tensor_t find_tensor(const std::string& name) const;

    graph_t graph_;
    std::unordered_map<std::string, tensor_t> tensors_;  // the first of each name
    int threads_;
    bool is_prepared_ = false;
    std::vector<std::vector<int>> shapes_;  // the inputs', as prepared
};

}  // namespace tengine::tools
