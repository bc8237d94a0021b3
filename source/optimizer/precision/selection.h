// SPDX-License-Identifier: Apache-2.0
// The choice of a quantiser in a float graph: the nodes that are quantised, by the table in
// quantized_operator.h, and the scales of their tensors. qdq_graph.h inserts the pairs.
#pragma once

#include "base/maps.hpp"
#include "optimizer/precision/quantized_operator.h"
#include "tengine/quantize.h"

namespace tengine {

// Nodes that are quantised as one: there are no pairs inside.
struct QuantizedUnit
{
    QuantizedRole role = QuantizedRole::kNone;
    // The node of the operator and those that are merged into it: the addition of a bias to a
    // MatMul, a Relu or Clip. A function of one tensor has all its nodes.
    Vector<int> nodes;
    Vector<tensor*> inputs;   // data, in the node's order, also constants
    Vector<tensor*> outputs;  // the last node's
};

// low <= high
struct Range
{
    double low = 0;
    double high = 0;
};

// The ranges of tensors; the program is asked once for each.
class Ranges
{
  public:
    explicit Ranges(const tengine_quantization& how) : how_(how) {}

    // Whether the tensor has a range.
    bool has(const tensor& value);
    // The range of a tensor that has one.
    const Range& at(const tensor& value) const { return known_.at(value.index).range; }

    // EINVAL when a range is not finite, or its ends are in the wrong order.
    int status() const { return status_; }

  private:
    struct Answer
    {
        bool is_known = false;
        Range range;
    };

    const tengine_quantization& how_;
    Map<int32_t, Answer> known_;  // by the tensor's index
    int status_ = TENGINE_OK;
};

// Units in the order of the graph, which must be compact and sorted: all that have ranges and that
// the program chooses; with how.dynamic, products by a constant matrix. A node with keep_float, or
// whose bias or activation has it, stays in float.
int select_units(const graph& graph, const tengine_quantization& how, Ranges& ranges,
                 Vector<QuantizedUnit>* out_units);

struct TensorQuantization
{
    bool is_quantized = false;
    Quantization by;
};

// scale_sharing.cc: the quantisation in `data_type` of every tensor that units read or write as
// data. Tensors that pass-through nodes connect share one, of the smallest range that holds theirs.
// EINVAL when a constant has a value that is not finite.
int quantize_tensors(const graph& graph, const Vector<QuantizedUnit>& units, const Ranges& ranges,
                     int data_type, Vector<TensorQuantization>* out_quantizations);

}  // namespace tengine
