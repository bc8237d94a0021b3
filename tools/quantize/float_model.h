// SPDX-License-Identifier: Apache-2.0
// The model that is to be quantised.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tengine/c_api.h"
#include "tensor_file/tensor.h"

namespace tengine::tools {

struct DestroyGraph
{
    void operator()(void* graph) const { destroy_graph(graph); }
};
using GraphPointer = std::unique_ptr<void, DestroyGraph>;

// Gives the inputs of a graph the shapes of `inputs`. Throws Failure.
void set_input_shapes(graph_t graph, const std::vector<Tensor>& inputs);

class FloatModel
{
  public:
    // Loads `path` for these devices, best first. `inputs`: shapes for a model whose format needs
    // them. Every function throws Failure.
    FloatModel(const std::string& path, const std::vector<Tensor>& inputs,
               const std::vector<std::string>& devices = {});

    // An option of the context, which the graphs made of the model have too.
    void set_option(const std::string& key, const std::string& value) const;

    graph_t graph() const { return graph_.get(); }
    const std::string& path() const { return path_; }

  private:
    struct DestroyContext
    {
        void operator()(void* context) const { destroy_context(context); }
    };

    std::string path_;
    std::unique_ptr<void, DestroyContext> context_;
    GraphPointer graph_;
};

}  // namespace tengine::tools
