// SPDX-License-Identifier: Apache-2.0
// Chooses nodes and shares scales. The contract is in selection.h.
#include "quantize/selection.h"

#include <fnmatch.h>

#include <algorithm>

#include "quantize/expression.h"
#include "tensor_file/failure.h"

namespace tengine::tools {
namespace {

using ::onnx::GraphProto;
using ::onnx::NodeProto;
using ::onnx::TensorProto;

constexpr QuantizedOperator kExpression = {"", QuantizedRole::kFunction, 1, false};

class Selector
{
  public:
    Selector(const GraphProto& graph, const GraphIndex& index,
             const std::map<std::string, Histogram>& histograms, const std::set<std::string>& kept)
        : graph_(graph),
          index_(index),
          histograms_(histograms),
          kept_(kept),
          expressions_(graph, index, kept)
    {
    }

    std::vector<QuantizedUnit> select()
    {
        for (int i = 0; i < graph_.node_size(); ++i) {
            const QuantizedOperator* op = find_quantized_operator(graph_.node(i));
            if (const Expression* expression = expressions_.find(i))
                add({&kExpression, expression->nodes, {expression->source}, {}});
            else if (op != nullptr && op->role != QuantizedRole::kFunction &&
                     !expressions_.has(i) && taken_.count(i) == 0)
                consider(i, *op);
        }
        return std::move(units_);
    }

  private:
    void consider(int i, const QuantizedOperator& op)
    {
        const NodeProto& node = graph_.node(i);
        QuantizedUnit unit;
        unit.op = &op;
        unit.nodes = {i};
        if (has_bias_behind(i)) unit.nodes.push_back(find_reader(i));
        const int reader = op.takes_activation ? find_reader(unit.nodes.back()) : -1;
        if (is_activation(reader, unit.nodes.back())) unit.nodes.push_back(reader);
        unit.inputs = data_inputs(node, op);
        taken_.insert(unit.nodes.begin(), unit.nodes.end());
        if (suits_int8(graph_, index_, node)) add(std::move(unit));
    }

    void add(QuantizedUnit unit)
    {
        unit.outputs = data_outputs(graph_.node(unit.nodes.back()));
        const bool is_kept = std::any_of(unit.nodes.begin(), unit.nodes.end(), [this](int node) {
            return kept_.count(graph_.node(node).name()) != 0;
        });
        if (is_kept || !has_data(unit) || !is_worth(unit)) return;
        quantized_.insert(unit.outputs.begin(), unit.outputs.end());
        units_.push_back(std::move(unit));
    }

    // The only node that reads the result, -1 if there is none such.
    int find_reader(int node) const
    {
        const std::string& output = graph_.node(node).output(0);
        const auto readers = index_.consumers.find(output);
        const bool is_alone = readers != index_.consumers.end() && readers->second.size() == 1 &&
                              index_.outputs.count(output) == 0;
        return is_alone ? readers->second[0] : -1;
    }

    // A Relu or Clip of the result of `before`.
    bool is_activation(int node, int before) const
    {
        if (node < 0 || expressions_.has(node) ||
            input_of(graph_.node(node), 0) != graph_.node(before).output(0))
            return false;
        const QuantizedOperator* op = find_quantized_operator(graph_.node(node));
        return op != nullptr && op->role == QuantizedRole::kActivation;
    }

    // A MatMul by a constant matrix, then an Add of one value for each of its columns.
    bool has_bias_behind(int node) const
    {
        const NodeProto& product = graph_.node(node);
        const int reader = product.op_type() == "MatMul" ? find_reader(node) : -1;
        const TensorProto* weight = find_constant(input_of(product, 1));
        if (reader < 0 || weight == nullptr || weight->dims_size() != 2) return false;
        const NodeProto& sum = graph_.node(reader);
        if (sum.op_type() != "Add" || expressions_.has(reader)) return false;
        const bool is_first = sum.input(0) == product.output(0);
        const TensorProto* bias = find_constant(sum.input(is_first ? 1 : 0));
        return bias != nullptr && is_float(*bias) && bias->dims_size() == 1 &&
               bias->dims(0) == weight->dims(1);
    }

    const TensorProto* find_constant(const std::string& name) const
    {
        const auto found = index_.initializers.find(name);
        return found == index_.initializers.end() ? nullptr : &graph_.initializer(found->second);
    }

    // Everything fp32, and something of it not constant.
    bool has_data(const QuantizedUnit& unit) const
    {
        bool is_computed = false;
        for (const std::string& input : unit.inputs) {
            const auto constant = index_.initializers.find(input);
            const bool is_constant = constant != index_.initializers.end();
            is_computed = is_computed || !is_constant;
            if (is_constant ? !is_float(graph_.initializer(constant->second))
                            : histograms_.count(input) == 0)
                return false;
        }
        return is_computed && std::all_of(unit.outputs.begin(), unit.outputs.end(),
                                          [this](const std::string& output) {
                                              return histograms_.count(output) != 0;
                                          });
    }

    bool is_worth(const QuantizedUnit& unit) const
    {
        if (unit.op->role == QuantizedRole::kWeighted ||
            unit.op->role == QuantizedRole::kArithmetic)
            return true;
        return std::all_of(unit.inputs.begin(), unit.inputs.end(),
                           [this](const std::string& input) {
                               return index_.is_constant(input) || quantized_.count(input) != 0;
                           });
    }

    const GraphProto& graph_;
    const GraphIndex& index_;
    const std::map<std::string, Histogram>& histograms_;
    const std::set<std::string>& kept_;
    const Expressions expressions_;
    std::set<int> taken_;              // nodes that belong to a unit or would
    std::set<std::string> quantized_;  // results of units
    std::vector<QuantizedUnit> units_;
};

// Sets of tensors with one scale: a forest in which each points to another of its set.
class Classes
{
  public:
    std::string root(const std::string& tensor)
    {
        std::string at = tensor;
        for (auto next = parents_.find(at); next != parents_.end(); next = parents_.find(at))
            at = next->second;
        return at;
    }

    void join(const std::string& a, const std::string& b)
    {
        const std::string root_a = root(a);
        const std::string root_b = root(b);
        if (root_a != root_b) parents_[root_a] = root_b;
    }

  private:
    std::map<std::string, std::string> parents_;
};

Range range_of_constant(const TensorProto& tensor)
{
    Histogram histogram;
    const std::vector<float> values = float_values(tensor);
    if (!histogram.add(values.data(), values.size()))
        throw Failure("constant '" + tensor.name() + "' has values that are not finite");
    return {histogram.least(), histogram.greatest()};
}

}  // namespace

std::vector<std::string> tensors_to_calibrate(const GraphProto& graph, const GraphIndex& index,
                                              const std::set<std::string>& kept)
{
    const Expressions expressions(graph, index, kept);
    std::set<std::string> tensors;
    for (int i = 0; i < graph.node_size(); ++i) {
        const NodeProto& node = graph.node(i);
        if (const Expression* expression = expressions.find(i)) {
            tensors.insert(expression->source);
            tensors.insert(node.output(0));
        }
        const QuantizedOperator* op = find_quantized_operator(node);
        if (op == nullptr || op->role == QuantizedRole::kFunction || expressions.has(i)) continue;
        for (const std::string& input : data_inputs(node, *op))
            if (!index.is_constant(input)) tensors.insert(input);
        for (const std::string& output : data_outputs(node))
            tensors.insert(output);
    }
    tensors.erase("");
    return {tensors.begin(), tensors.end()};
}

std::vector<QuantizedUnit> select_units(const GraphProto& graph, const GraphIndex& index,
                                        const std::map<std::string, Histogram>& histograms,
                                        const std::set<std::string>& kept)
{
    return Selector(graph, index, histograms, kept).select();
}

std::map<std::string, Quantization> quantize_tensors(const GraphProto& graph,
                                                     const GraphIndex& index,
                                                     const std::vector<QuantizedUnit>& units,
                                                     const std::map<std::string, Range>& ranges)
{
    Classes classes;
    std::map<std::string, Range> tensors;
    for (const QuantizedUnit& unit : units) {
        for (size_t i = 0; i < unit.inputs.size(); ++i) {
            const std::string& input = unit.inputs[i];
            const bool is_weight =
                unit.op->role == QuantizedRole::kWeighted && i == 1 && index.is_constant(input);
            if (is_weight) continue;
            tensors[input] =
                index.is_constant(input)
                    ? range_of_constant(graph.initializer(index.initializers.at(input)))
                    : ranges.at(input);
            if (unit.op->role == QuantizedRole::kPassThrough) classes.join(input, unit.outputs[0]);
        }
        for (const std::string& output : unit.outputs) {
            tensors[output] = ranges.at(output);
            if (unit.op->role == QuantizedRole::kPassThrough) classes.join(output, unit.outputs[0]);
        }
    }
    std::map<std::string, Range> shared;
    for (const auto& [tensor, range] : tensors) {
        Range& whole = shared[classes.root(tensor)];
        whole = {std::min(whole.low, range.low), std::max(whole.high, range.high)};
    }
    std::map<std::string, Quantization> quantizations;
    for (const auto& [tensor, range] : tensors)
        quantizations[tensor] = quantization_of(shared[classes.root(tensor)]);
    return quantizations;
}

std::set<std::string> match_nodes(const GraphProto& graph, const std::vector<std::string>& patterns)
{
    std::set<std::string> names;
    for (const std::string& pattern : patterns) {
        // Names of nodes often hold [ ] and \, which fnmatch would interpret.
        std::string escaped;
        for (const char letter : pattern)
            escaped += (letter == '[' || letter == '\\' ? "\\" : "") + std::string(1, letter);
        bool fits = false;
        for (const NodeProto& node : graph.node()) {
            if (fnmatch(escaped.c_str(), node.name().c_str(), 0) != 0) continue;
            names.insert(node.name());
            fits = true;
        }
        if (!fits)
            throw Failure("--keep-float '" + pattern +
                          "' fits no node; `tengine inspect` lists their names");
    }
    return names;
}

}  // namespace tengine::tools
