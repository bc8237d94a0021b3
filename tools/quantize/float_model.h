// SPDX-License-Identifier: Apache-2.0
// The model that is to be quantised, and the graphs that the library makes of it.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "quantize/range.h"
#include "tengine/quantize.h"
#include "tensor_file/tensor.h"

namespace tengine::tools {

struct DestroyGraph
{
    void operator()(void* graph) const { destroy_graph(graph); }
};
using GraphPointer = std::unique_ptr<void, DestroyGraph>;

// real = scale x (stored - zero_point)
struct Quantization
{
    float scale = 1;
    int zero_point = 0;
};

// Nodes that are quantised as one.
struct QuantizedLayer
{
    std::string name;    // the first node's
    std::string op;      // "Conv+Relu" with its activation
    std::string tensor;  // the first result
    int nodes = 0;
    bool stands_alone = false;  // others are quantised only next to these
};

struct QuantizedModel
{
    GraphPointer graph;
    std::vector<QuantizedLayer> layers;
    std::map<std::string, Quantization> quantizations;  // by tensor, also constants
    // The dequantised tensor in `graph` of each quantised tensor with a range.
    std::map<std::string, std::string> dequantized;
    std::set<std::string> kept;  // nodes that the patterns match
    bool has_unsigned_activations = false;
};

struct NodeCounts
{
    int folded = 0;  // batch normalisations, into convolutions
    int nodes = 0;   // after that
};

// The request to the library.
struct QuantizationRequest
{
    bool dynamic = false;  // ranges are found in each run; only keep_float and takes are then set
    bool per_tensor = false;
    bool unsigned_activations = false;
    std::vector<std::string> keep_float;                     // patterns
    std::map<std::string, Range> ranges;                     // by tensor; others stay in float
    std::function<bool(const QuantizedLayer& layer)> takes;  // empty: every layer
};

// Gives the inputs of a graph the shapes of `inputs`. Throws Failure.
void set_input_shapes(graph_t graph, const std::vector<Tensor>& inputs);

class FloatModel
{
  public:
    // `inputs`: shapes for a model whose format needs them. Every function throws Failure; this one
    // also when the model is quantised already.
    FloatModel(const std::string& path, const std::vector<Tensor>& inputs)
        : FloatModel(path, inputs, {})
    {
    }
    // Graphs are made for these devices, best first.
    FloatModel(const std::string& path, const std::vector<Tensor>& inputs,
               const std::vector<std::string>& devices);

    // An option of the context, which the graphs made of the model have too.
    void set_option(const std::string& key, const std::string& value) const;

    // The tensors whose ranges the library requests.
    std::vector<std::string> tensors_to_calibrate(QuantizationRequest request) const;

    QuantizedModel quantize(const QuantizationRequest& request) const;

    // The one of these requests with most work on devices. `inputs`: complete shapes, which the
    // graphs made of the model have from then on.
    tengine_quantization_choice choose(const std::vector<QuantizationRequest>& requests,
                                       const std::vector<Tensor>& inputs) const;

    // The model as it is quantised, in float.
    GraphPointer in_float() const;

    // The type of most of its floats, "fp32"; "" without any.
    std::string float_type() const;

    // "; the bodies of If 'gate' stay in float": the end of a reason for quantising nothing, if the
    // model has bodies.
    std::string bodies_in_float() const;

    NodeCounts count_nodes() const;

    // Operators of all nodes, by name, in the model as it is quantised.
    std::map<std::string, std::string> list_operators() const;

  private:
    struct DestroyContext
    {
        void operator()(void* context) const { destroy_context(context); }
    };

    void refuse_quantized() const;

    std::string path_;
    std::unique_ptr<void, DestroyContext> context_;
    GraphPointer graph_;
};

}  // namespace tengine::tools
