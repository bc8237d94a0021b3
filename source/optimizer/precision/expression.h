// SPDX-License-Identifier: Apache-2.0
// Functions of one tensor, element by element, of any number of nodes: x Sigmoid(x), or x (1 +
// Erf(x / 1.414)) / 2. In int8 each is one table, so a quantiser puts no pairs inside.
// elementwise_rules.cc makes the table.
#pragma once

#include "base/maps.hpp"
#include "optimizer/precision/quantized_operator.h"

namespace tengine {

struct Expression
{
    Vector<int> nodes;         // in the order of the graph; the last one writes the result
    tensor* source = nullptr;  // the tensor it is a function of
};

class Expressions
{
  public:
    // Nodes with keep_float belong to no expression, nor does a Relu or Clip that belongs to the
    // node before it.
    explicit Expressions(const graph& graph);

    // Whether the node belongs to an expression.
    bool has(int node) const { return sources_.count(node) != 0; }
    // The expression whose result the node writes, or null.
    const Expression* find(int node) const;

  private:
    void trace_sources();
    tensor* find_source(const node& node) const;
    tensor* source_of(tensor* value) const;
    bool belongs_to_another(const node& node) const;
    bool is_inner(const tensor& result, const tensor* source) const;
    bool add_results();
    void collect(int last);

    const graph& graph_;
    Map<int, tensor*> sources_;   // by node
    Set<const tensor*> results_;  // tensors that others read, and which are sources for these
    Map<int, Expression> expressions_;
    Set<int> collected_;  // nodes inside of these
};

}  // namespace tengine
