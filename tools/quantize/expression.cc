// SPDX-License-Identifier: Apache-2.0
// Traces each tensor back to what it is a function of. The contract is in expression.h.
#include "quantize/expression.h"

#include <algorithm>

#include "quantize/quantized_operator.h"

namespace tengine::tools {
namespace {

using ::onnx::GraphProto;
using ::onnx::NodeProto;

bool is_elementwise(const NodeProto& node)
{
    const QuantizedOperator* op = find_quantized_operator(node);
    return op != nullptr &&
           (op->role == QuantizedRole::kFunction || op->role == QuantizedRole::kActivation ||
            node.op_type() == "Add" || node.op_type() == "Mul");
}

}  // namespace

// What an expression shows to others must be in int8, so it cannot be inside of another one: then
// less is, and so on.
Expressions::Expressions(const GraphProto& graph, const GraphIndex& index,
                         const std::set<std::string>& kept)
    : graph_(graph), index_(index)
{
    do {
        trace_sources(kept);
    } while (add_results());
    for (const auto& [node, source] : sources_)
        if (results_.count(graph_.node(node).output(0)) != 0) collect(node);
}

const Expression* Expressions::find(int node) const
{
    const auto found = expressions_.find(node);
    return found == expressions_.end() ? nullptr : &found->second;
}

void Expressions::trace_sources(const std::set<std::string>& kept)
{
    sources_.clear();
    for (int i = 0; i < graph_.node_size(); ++i) {
        const NodeProto& node = graph_.node(i);
        if (kept.count(node.name()) != 0 || !is_elementwise(node) || belongs_to_another(node))
            continue;
        const std::string source = find_source(node);
        if (!source.empty()) sources_[i] = source;
    }
}

// The one tensor that the node's inputs are functions of, or "". Two inputs that are that tensor
// itself make a sum or a product of quantised tensors like others.
std::string Expressions::find_source(const NodeProto& node) const
{
    std::string source;
    int number = 0;
    bool is_composed = false;
    for (const std::string& input : node.input()) {
        if (input.empty() || is_single_constant(input)) continue;
        const std::string own = source_of(input);
        if (index_.is_constant(input) || (number > 0 && own != source)) return "";
        is_composed = is_composed || own != input;
        source = own;
        ++number;
    }
    return number > 1 && !is_composed ? "" : source;
}

std::string Expressions::source_of(const std::string& tensor) const
{
    const auto producer = index_.producers.find(tensor);
    if (producer == index_.producers.end() || results_.count(tensor) != 0) return tensor;
    const auto found = sources_.find(producer->second);
    return found == sources_.end() ? tensor : found->second;
}

bool Expressions::is_single_constant(const std::string& tensor) const
{
    const auto found = index_.initializers.find(tensor);
    if (found == index_.initializers.end()) return false;
    const auto& dims = graph_.initializer(found->second).dims();
    return std::all_of(dims.begin(), dims.end(), [](int64_t extent) { return extent == 1; });
}

bool Expressions::belongs_to_another(const NodeProto& node) const
{
    const QuantizedOperator* op = find_quantized_operator(node);
    const auto producer = index_.producers.find(input_of(node, 0));
    if (op->role != QuantizedRole::kActivation || producer == index_.producers.end()) return false;
    const NodeProto& before = graph_.node(producer->second);
    const QuantizedOperator* other = find_quantized_operator(before);
    return other != nullptr && other->takes_activation && sources_.count(producer->second) == 0 &&
           index_.consumers.at(before.output(0)).size() == 1 &&
           index_.outputs.count(before.output(0)) == 0;
}

// Tensors that are read outside of their expression. Returns whether there are new ones.
bool Expressions::add_results()
{
    bool is_new = false;
    for (const auto& [node, source] : sources_) {
        const std::string& output = graph_.node(node).output(0);
        const auto consumers = index_.consumers.find(output);
        bool is_inner = consumers != index_.consumers.end() && index_.outputs.count(output) == 0;
        for (size_t i = 0; is_inner && i < consumers->second.size(); ++i) {
            const auto other = sources_.find(consumers->second[i]);
            is_inner = other != sources_.end() && other->second == source;
        }
        if (!is_inner) is_new = results_.insert(output).second || is_new;
    }
    return is_new;
}

// A node inside of several belongs to the first.
void Expressions::collect(int last)
{
    Expression expression;
    expression.source = sources_.at(last);
    std::set<int> found = {last};
    std::vector<int> open = {last};
    while (!open.empty()) {
        const NodeProto& node = graph_.node(open.back());
        open.pop_back();
        for (const std::string& input : node.input()) {
            if (source_of(input) == input) continue;
            const int producer = index_.producers.at(input);
            if (found.insert(producer).second) open.push_back(producer);
        }
    }
    for (const int node : found)
        if (node == last || collected_.insert(node).second) expression.nodes.push_back(node);
    expressions_[last] = std::move(expression);
}

}  // namespace tengine::tools
