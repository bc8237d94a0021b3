// SPDX-License-Identifier: Apache-2.0
// Which nodes compute in int8: the rules around the table in quantized_operator.h, and which
// tensors that quantises. The pairs are written in qdq_model.h.
#pragma once

#include <map>
#include <onnx/onnx.pb.h>
#include <set>
#include <string>
#include <vector>

#include "quantize/histogram.h"
#include "quantize/onnx_model.h"
#include "quantize/quantized_operator.h"
#include "quantize/range.h"

namespace tengine::tools {

// What is quantised as one: there are no pairs inside.
struct QuantizedUnit
{
    const QuantizedOperator* op = nullptr;
    // The node of the operator and what belongs to it: the addition of a bias to a MatMul, a Relu
    // or Clip. Of a function of one tensor, every node.
    std::vector<int> nodes;
    std::vector<std::string> inputs;   // data, in the node's order, also constants
    std::vector<std::string> outputs;  // of the last node
};

// Tensors that nodes of the table read and write as data: what calibration has to look at. Nodes
// whose names are in `kept` stay in float, so others cannot be one unit with them.
std::vector<std::string> tensors_to_calibrate(const ::onnx::GraphProto& graph,
                                              const GraphIndex& index,
                                              const std::set<std::string>& kept);

// Units in the order of the graph. `histograms` tells which tensors are fp32. A node whose name is
// in `kept`, or whose bias's or activation's is, stays in float.
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
