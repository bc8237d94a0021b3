// SPDX-License-Identifier: Apache-2.0
// A model that is reduced to one of its nodes, for layers.cc.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "model.h"
#include "tengine/inspect.h"
#include "tensor_file/tensor.h"
#include "verify/graph_of_case.h"
#include "verify/target.h"

namespace tengine::tools {

// An option of contexts in which states are fed and read as other tensors.
constexpr const char* kStatesAreInputs = "model.states=0";

// Values of a model's tensors by name.
using Values = std::map<std::string, Tensor>;

// A tensor that a node reads.
struct LayerInput
{
    std::string name;
    bool is_variable = false;  // depends on the model's inputs, so that it is fed
    bool is_initializer = false;
};

// A node that computes, or several that are treated as one.
struct Layer
{
    std::string name;
    std::string op;
    std::vector<LayerInput> inputs;  // without those that are absent
    std::vector<std::string> outputs;
    std::vector<std::string> ends;  // names of the nodes that write these

    bool is_variable() const;
};

// The layers of a graph in the order of its file.
std::vector<Layer> list_layers(graph_t graph);

// The values of all layers in the model with these inputs, and those of its initializers: computed
// by the plain kernels of the CPU. Throws Failure.
Values compute_values(const std::string& path, const ModelOptions& inputs);

// The node of a layer in integers that decides on the layer.
struct IntegerWork
{
    std::string op;
    // Results may differ by a step: an accumulator was rounded, or a table was computed in floats.
    bool is_rounded = false;
    Placement placement;
};

// A layer as a graph of its own: the model with other inputs and outputs.
class LayerGraph
{
  public:
    // `values` must outlive it: they are lent to the graph. Throws Failure, as all functions do.
    LayerGraph(const std::string& path, const Target& target, const Values& values);

    // From now on the graph is this layer, fed with the values, or with those in `changed`, which
    // must live as long as this layer is run. Prepares it.
    void cut(const Layer& layer, const Values& changed = {});

    // The placement of the prepared layer. The multiplications are those of the node that runs.
    Placement placement() const;
    // The operator that decides about errors: that of the nodes which round, or the first if none
    // does. A layer with several of them, or whose result is clipped, as TensorFlow Lite's have,
    // has its own, `layer_op`.
    std::string op(const std::string& layer_op) const;

    // For a prepared layer between quantised tensors: whether nothing in it is computed in floats,
    // and the node that rounds, or if none does, the first that the device does not run.
    bool is_in_integers() const;
    IntegerWork integer_work() const;

    // The layer's results.
    std::vector<Tensor> run();

    // Writes the present graph as an ONNX model into the folder. Returns the path.
    std::string save(const std::filesystem::path& folder, const std::string& name) const;

  private:
    const Tensor& value_of(const std::string& name, const Values& changed) const;
    void lend(const std::string& name, const Values& changed);
    void restore();
    std::string refusal_of(size_t index, const tengine_execution_node& node) const;

    std::string path_;
    Target target_;
    const Values& values_;
    std::vector<std::string> lent_constants_;
    Model model_;
};

}  // namespace tengine::tools
