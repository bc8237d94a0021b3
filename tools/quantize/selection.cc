// SPDX-License-Identifier: Apache-2.0
// Chooses nodes and shares scales. The contract is in selection.h.
#include "quantize/selection.h"

#include <fnmatch.h>

#include <algorithm>

#include "tensor_file/failure.h"

namespace tengine::tools {
namespace {

using ::onnx::GraphProto;
using ::onnx::NodeProto;

constexpr QuantizedRole kWeighted = QuantizedRole::kWeighted;
constexpr QuantizedRole kArithmetic = QuantizedRole::kArithmetic;
constexpr QuantizedRole kActivation = QuantizedRole::kActivation;
constexpr QuantizedRole kPassThrough = QuantizedRole::kPassThrough;

constexpr QuantizedOperator kOperators[] = {
    {"Conv", kWeighted, 2, true},
    {"ConvTranspose", kWeighted, 2, true},
    {"Gemm", kWeighted, 2, true},
    {"MatMul", kWeighted, 2, true},
    {"Add", kArithmetic, 2, true},
    {"Mul", kArithmetic, 2, true},
    {"AveragePool", kArithmetic, 1, false},
    {"GlobalAveragePool", kArithmetic, 1, false},
    {"Relu", kActivation, 1, false},
    {"Clip", kActivation, 1, false},
    {"Concat", kPassThrough, 0, false},
    {"MaxPool", kPassThrough, 1, false},
    {"GlobalMaxPool", kPassThrough, 1, false},
    {"Reshape", kPassThrough, 1, false},
    {"Flatten", kPassThrough, 1, false},
    {"Squeeze", kPassThrough, 1, false},
    {"Unsqueeze", kPassThrough, 1, false},
    {"Transpose", kPassThrough, 1, false},
    {"Identity", kPassThrough, 1, false},
    {"Slice", kPassThrough, 1, false},
    {"Split", kPassThrough, 1, false},
    {"Gather", kPassThrough, 1, false},
    {"DepthToSpace", kPassThrough, 1, false},
    {"SpaceToDepth", kPassThrough, 1, false},
};

const QuantizedOperator* find_operator(const NodeProto& node)
{
    if (!node.domain().empty() && node.domain() != "ai.onnx") return nullptr;
    for (const QuantizedOperator& op : kOperators)
        if (node.op_type() == op.name) return &op;
    return nullptr;
}

std::vector<std::string> data_inputs(const NodeProto& node, const QuantizedOperator& op)
{
    const int number =
        op.data_inputs == 0 ? node.input_size() : std::min(op.data_inputs, node.input_size());
    return {node.input().begin(), node.input().begin() + number};
}

// MaxPool's indices and what else is not data come second; a Split has nothing but data.
std::vector<std::string> data_outputs(const NodeProto& node)
{
    if (node.op_type() == "Split") return {node.output().begin(), node.output().end()};
    return {node.output(0)};
}

// Factors other than 1 are not in the arithmetic of int8 kernels.
bool is_plain(const NodeProto& node)
{
    return node.op_type() != "Gemm" ||
           (float_attribute(node, "alpha", 1) == 1 && float_attribute(node, "beta", 1) == 1 &&
            int_attribute(node, "transA", 0) == 0);
}

// The Relu or Clip that alone reads the node's result, or the node itself.
int find_last(const GraphProto& graph, const GraphIndex& index, int node, bool takes_activation)
{
    const std::string& output = graph.node(node).output(0);
    const auto consumers = index.consumers.find(output);
    if (!takes_activation || consumers == index.consumers.end() || consumers->second.size() != 1 ||
        index.outputs.count(output) != 0)
        return node;
    const NodeProto& next = graph.node(consumers->second[0]);
    const QuantizedOperator* op = find_operator(next);
    const bool fits = op != nullptr && op->role == kActivation && input_of(next, 0) == output;
    return fits ? consumers->second[0] : node;
}

class Selector
{
  public:
    Selector(const GraphProto& graph, const GraphIndex& index,
             const std::map<std::string, Histogram>& histograms, const std::set<std::string>& kept)
        : graph_(graph), index_(index), histograms_(histograms), kept_(kept)
    {
    }

    std::vector<QuantizedUnit> select()
    {
        for (int i = 0; i < graph_.node_size(); ++i) {
            const QuantizedOperator* op = find_operator(graph_.node(i));
            if (op != nullptr && taken_.count(i) == 0) consider(i, *op);
        }
        return std::move(units_);
    }

  private:
    void consider(int i, const QuantizedOperator& op)
    {
        const NodeProto& node = graph_.node(i);
        QuantizedUnit unit;
        unit.op = &op;
        unit.node = i;
        unit.last = find_last(graph_, index_, i, op.takes_activation);
        unit.inputs = data_inputs(node, op);
        unit.outputs = data_outputs(graph_.node(unit.last));
        taken_.insert(unit.last);
        const bool is_kept =
            kept_.count(node.name()) != 0 || kept_.count(graph_.node(unit.last).name()) != 0;
        if (is_kept || !is_plain(node) || !has_data(unit) || !is_worth(unit)) return;
        quantized_.insert(unit.outputs.begin(), unit.outputs.end());
        units_.push_back(std::move(unit));
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
        if (unit.op->role == kWeighted || unit.op->role == kArithmetic) return true;
        return std::all_of(unit.inputs.begin(), unit.inputs.end(),
                           [this](const std::string& input) {
                               return index_.is_constant(input) || quantized_.count(input) != 0;
                           });
    }

    const GraphProto& graph_;
    const GraphIndex& index_;
    const std::map<std::string, Histogram>& histograms_;
    const std::set<std::string>& kept_;
    std::set<int> taken_;              // nodes that belong to a unit or were its activation
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

Range range_of_constant(const ::onnx::TensorProto& tensor)
{
    Histogram histogram;
    const std::vector<float> values = float_values(tensor);
    if (!histogram.add(values.data(), values.size()))
        throw Failure("constant '" + tensor.name() + "' has values that are not finite");
    return {histogram.least(), histogram.greatest()};
}

}  // namespace

std::vector<std::string> tensors_to_calibrate(const GraphProto& graph, const GraphIndex& index)
{
    std::set<std::string> tensors;
    for (const NodeProto& node : graph.node()) {
        const QuantizedOperator* op = find_operator(node);
        if (op == nullptr) continue;
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
            const bool is_weight = unit.op->role == kWeighted && i == 1 && index.is_constant(input);
            if (is_weight) continue;
            tensors[input] =
                index.is_constant(input)
                    ? range_of_constant(graph.initializer(index.initializers.at(input)))
                    : ranges.at(input);
            if (unit.op->role == kPassThrough) classes.join(input, unit.outputs[0]);
        }
        for (const std::string& output : unit.outputs) {
            tensors[output] = ranges.at(output);
            if (unit.op->role == kPassThrough) classes.join(output, unit.outputs[0]);
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
