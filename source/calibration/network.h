// SPDX-License-Identifier: Apache-2.0
// A graph whose inner values can be read after a run.
#pragma once

#include "base/maps.hpp"
#include "calibration/sample.h"

namespace tengine::calibration {

struct FloatView
{
    const float* values = nullptr;  // nullptr: the tensor is of another type
    size_t number = 0;
    Vector<int> shape;
};

// Names of a graph's outputs, in its order.
Vector<String> output_names(graph_t graph);

// The functions fail as the C API does.
class Network
{
  public:
    // `graph` must outlive the object.
    Network(graph_t graph, int threads);

    // Makes results of nodes that are to be read besides the model's outputs outputs of the graph;
    // names of others are ignored.
    TENGINE_MUST_USE int show(const Vector<String>& tensors);

    // `sample` must live as long as views are read.
    TENGINE_MUST_USE int run(const Sample& sample);

    // After run(): an input, a model's output or one of the shown tensors; valid until the next
    // run.
    TENGINE_MUST_USE int view(const String& tensor, FloatView* out_view) const;

  private:
    TENGINE_MUST_USE int lend(const tengine_sample_input& input, bool is_new_shape);
    TENGINE_MUST_USE int find_tensor(const String& name, tensor_t* out_tensor) const;

    graph_t graph_;
    Map<String, tensor_t> tensors_;  // the first of each name
    int threads_;
    bool is_prepared_ = false;
    Vector<Vector<int>> shapes_;  // the inputs', as prepared
};

}  // namespace tengine::calibration
