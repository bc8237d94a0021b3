// SPDX-License-Identifier: Apache-2.0
// Functions of one tensor, element by element, however many nodes they take: x Sigmoid(x), or
// x (1 + Erf(x / 1.414)) / 2. In int8 each is one table, so there are no pairs inside.
#pragma once

#include <map>
#include <onnx/onnx.pb.h>
#include <set>
#include <string>
#include <vector>

#include "quantize/onnx_model.h"

namespace tengine::tools {

struct Expression
{
    std::vector<int> nodes;  // in the order of the graph; the last one writes the result
    std::string source;      // what it is a function of
};

class Expressions
{
  public:
    // Nodes whose names are in `kept` belong to none, nor does a Relu or Clip that belongs to the
    // node before it.
    Expressions(const ::onnx::GraphProto& graph, const GraphIndex& index,
                const std::set<std::string>& kept);

    // Whether the node belongs to one.
    bool has(int node) const { return sources_.count(node) != 0; }
    // The one whose result the node writes, or null.
    const Expression* find(int node) const;

  private:
    void trace_sources(const std::set<std::string>& kept);
    std::string find_source(const ::onnx::NodeProto& node) const;
    std::string source_of(const std::string& tensor) const;
    bool is_single_constant(const std::string& tensor) const;
    bool belongs_to_another(const ::onnx::NodeProto& node) const;
    bool add_results();
    void collect(int last);

    const ::onnx::GraphProto& graph_;
    const GraphIndex& index_;
    std::map<int, std::string> sources_;  // by node
    std::set<std::string> results_;       // tensors that others read; a source is one for them
    std::map<int, Expression> expressions_;
    std::set<int> collected_;  // nodes inside of these
};

}  // namespace tengine::tools
