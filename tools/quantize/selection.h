// SPDX-License-Identifier: Apache-2.0
// Which nodes compute in int8, as a table of operators and the rules around it, and which tensors
// that quantises. The pairs are written in qdq_model.h.
#pragma once

#include <map>
#include <onnx/onnx.pb.h>
#include <set>
#include <string>
#include <vector>

#include "quantize/histogram.h"
#include "quantize/onnx_model.h"
#include "quantize/range.h"

namespace tengine::tools {

// What an operator does with int8.
enum class QuantizedRole
{
    kWeighted,     // multiplies by input 1, which is usually constant; input 2 is the bias
    kArithmetic,   // computes new values, with a scale of their own
    kActivation,   // the same, but is worth it only behind a quantised node
    kPassThrough,  // moves or selects values, with one scale on both sides; worth it as the former
};

struct QuantizedOperator
{
    const char* name;
    QuantizedRole role;
    int data_inputs;        // the first so many inputs are data; 0: all are
    bool takes_activation;  // a Relu or Clip behind it becomes part of it
};

// A node that is quantised, with the Relu or Clip behind it that belongs to it.
struct QuantizedUnit
{
    const QuantizedOperator* op = nullptr;
    int node = 0;                      // index in the graph
    int last = 0;                      // that of the Relu or Clip, or `node`
    std::vector<std::string> inputs;   // data, in the node's order, also constants
    std::vector<std::string> outputs;  // of the last node
};

// Tensors that nodes of the table read and write as data: what calibration has to look at.
std::vector<std::string> tensors_to_calibrate(const ::onnx::GraphProto& graph,
                                              const GraphIndex& index);

// Units in the order of the graph. `histograms` tells which tensors are fp32. A node whose name is
// in `kept`, or whose activation's is, stays in float.
std::vector<QuantizedUnit> select_units(const ::onnx::GraphProto& graph, const GraphIndex& index,
                                        const std::map<std::string, Histogram>& histograms,
                                        const std::set<std::string>& kept);

// The quantisation of every tensor that units read or write as data. Tensors that pass-through
// nodes connect get one, of the smallest range that holds theirs.
std::map<std::string, Quantization> quantize_tensors(const ::onnx::GraphProto& graph,
                                                     const GraphIndex& index,
                                                     const std::vector<QuantizedUnit>& units,
                                                     const std::map<std::string, Range>& ranges);

// Names of the nodes that `patterns` name, in which * stands for any characters and ? for one.
// Throws Failure for a pattern that fits none.
std::set<std::string> match_nodes(const ::onnx::GraphProto& graph,
                                  const std::vector<std::string>& patterns);

}  // namespace tengine::tools
