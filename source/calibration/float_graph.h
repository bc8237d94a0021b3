// SPDX-License-Identifier: Apache-2.0
// The graph that is to be quantised, and the graphs that quantize.h makes of it.
#pragma once

#include <memory>

#include "base/maps.hpp"
#include "calibration/range.h"
#include "tengine/quantize.h"

namespace tengine::calibration {

// Keeps the present failure of the thread, which destroying may clear.
struct DestroyGraph
{
    void operator()(void* graph) const;
};
using GraphPointer = std::unique_ptr<void, DestroyGraph>;

// real = scale x (stored - zero_point)
struct Quantization
{
    float scale = 1;
    int zero_point = 0;
};

// Nodes that are quantised as one.
struct Layer
{
    Vector<String> nodes;
    String op;                  // "Conv+Relu" with its activation
    String tensor;              // the first result
    bool stands_alone = false;  // others are quantised only next to these

    const String& name() const { return nodes[0]; }
};

struct QuantizedGraph
{
    GraphPointer graph;
    Vector<Layer> layers;
    Map<String, Quantization> quantizations;  // by tensor, also constants
    // The dequantised tensor in `graph` of each quantised tensor with a range.
    Map<String, String> dequantized;
    Set<String> kept;  // nodes that the patterns match
};

struct Scales
{
    int per_channel = 0;
    int unsigned_activations = 0;
};

// The request to quantize.h.
struct Request
{
    bool dynamic = false;  // ranges are found in each run; only keep_float is then set
    Scales scales;
    Vector<String> keep_float;              // patterns
    Map<String, Range> ranges;              // by tensor; others stay in float
    const String* only = nullptr;           // name of the one layer to quantise
    const Set<String>* in_float = nullptr;  // names of layers that stay in float
};

// All functions fail as the C API does.

// The tensors whose ranges the library asks for.
TENGINE_MUST_USE int list_calibrated(graph_t graph, Request request, Vector<String>* out_tensors);

TENGINE_MUST_USE int quantize_graph(graph_t graph, const Request& request,
                                    QuantizedGraph* out_quantized);

// The graph as it is quantised, in float.
TENGINE_MUST_USE int copy_in_float(graph_t graph, GraphPointer* out_graph);

// The one of these scales with most work on the devices of `graph`.
TENGINE_MUST_USE int choose_scales(graph_t graph, const Request& request,
                                   const Vector<Scales>& candidates,
                                   tengine_quantization_choice* out_choice);

// TENGINE_EINVAL for a quantised graph: a second quantisation would only lose accuracy.
TENGINE_MUST_USE int refuse_quantized(graph_t graph);

int count_batch_norms(graph_t graph);

// The type of most of its floats, "fp32"; "" without any.
String float_type(graph_t graph);

// "; the bodies of If 'gate' stay in float": the end of a reason for quantising nothing; "" if the
// graph has no bodies.
String bodies_in_float(graph_t graph);

}  // namespace tengine::calibration
