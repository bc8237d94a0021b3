// SPDX-License-Identifier: Apache-2.0
// Finds for each tensor the one that it is a function of. The contract is in expression.h.
#include "optimizer/precision/expression.h"

#include <algorithm>

#include "base/maps.hpp"
#include "graph/graph.h"
#include "optimizer/pass.h"
#include "optimizer/precision/quantization.h"

namespace tengine {
namespace {

bool is_elementwise(const node& node)
{
    const QuantizedOperator* op = find_quantized_operator(node);
    return op && (op->role == QuantizedRole::kFunction || op->role == QuantizedRole::kActivation ||
                  is_op(&node, "Add") || is_op(&node, "Mul"));
}

}  // namespace

// Results that nodes outside an expression read must be int8, so the nodes that compute them are
// not inside another expression. This may add further results, and so on.
Expressions::Expressions(const graph& graph) : graph_(graph)
{
    do {
        trace_sources();
    } while (add_results());
    for (const auto& [node, source] : sources_)
        if (results_.count(get_ir_node_output(graph_.node_list[node], 0)) != 0) collect(node);
}

const Expression* Expressions::find(int node) const
{
    const auto found = expressions_.find(node);
    return found == expressions_.end() ? nullptr : &found->second;
}

void Expressions::trace_sources()
{
    sources_.clear();
    for (int i = 0; i < graph_.node_num; ++i) {
        const node& node = *graph_.node_list[i];
        if (node.core->keep_float || !get_ir_node_output(&node, 0) || !is_elementwise(node) ||
            belongs_to_another(node))
            continue;
        if (tensor* source = find_source(node)) sources_[i] = source;
    }
}

// The tensor that all the node's inputs are functions of, or null. If two inputs are that tensor
// itself, the node is an Add or Mul of quantised tensors.
tensor* Expressions::find_source(const node& node) const
{
    tensor* source = nullptr;
    int number = 0;
    bool is_composed = false;
    for (int i = 0; i < node.input_num; ++i) {
        tensor* input = get_ir_node_input(&node, i);
        if (!input || (is_constant(input) && input->elem_num == 1)) continue;
        tensor* own = source_of(input);
        if (is_constant(input) || (number > 0 && own != source)) return nullptr;
        is_composed = is_composed || own != input;
        source = own;
        ++number;
    }
    return number > 1 && !is_composed ? nullptr : source;
}

tensor* Expressions::source_of(tensor* value) const
{
    if (value->producer < 0 || results_.count(value) != 0) return value;
    const auto found = sources_.find(value->producer);
    return found == sources_.end() ? value : found->second;
}

bool Expressions::belongs_to_another(const node& node) const
{
    const tensor* input = get_ir_node_input(&node, 0);
    const struct node* before = producer_of(graph_, input);
    if (!before || find_quantized_operator(node)->role != QuantizedRole::kActivation) return false;
    const QuantizedOperator* other = find_quantized_operator(*before);
    return other && other->takes_activation && sources_.count(before->index) == 0 &&
           input->consumer_num == 1 && !is_ir_graph_output(&graph_, input->index);
}

// Whether only nodes of the same source read `result`.
bool Expressions::is_inner(const tensor& result, const tensor* source) const
{
    const auto is_reader_inner = [&](int32_t reader) {
        const auto other = sources_.find(reader);
        return other != sources_.end() && other->second == source;
    };
    return result.consumer_num > 0 && !is_ir_graph_output(&graph_, result.index) &&
           std::all_of(result.consumer, result.consumer + result.consumer_num, is_reader_inner);
}

// Adds tensors that are read outside their expression. Returns whether there are new ones.
bool Expressions::add_results()
{
    bool is_new = false;
    for (const auto& [node, source] : sources_) {
        const tensor* result = get_ir_node_output(graph_.node_list[node], 0);
        if (!is_inner(*result, source)) is_new = results_.insert(result).second || is_new;
    }
    return is_new;
}

// A node inside several expressions belongs to the first.
void Expressions::collect(int last)
{
    Expression expression;
    expression.source = sources_.at(last);
    Set<int> found = {last};
    Vector<int> open = {last};
    while (!open.empty()) {
        const node& node = *graph_.node_list[open.back()];
        open.pop_back();
        for (int i = 0; i < node.input_num; ++i) {
            tensor* input = get_ir_node_input(&node, i);
            if (!input || source_of(input) == input) continue;
            if (found.insert(input->producer).second) open.push_back(input->producer);
        }
    }
    for (const int node : found)
        if (node == last || collected_.insert(node).second) expression.nodes.push_back(node);
    expressions_[last] = std::move(expression);
}

}  // namespace tengine
