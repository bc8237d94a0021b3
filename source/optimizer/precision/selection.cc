// SPDX-License-Identifier: Apache-2.0
// Chooses nodes. The contract is in selection.h.
#include "optimizer/precision/selection.h"

#include <algorithm>
#include <cmath>

#include "base/maps.hpp"
#include "graph/graph.h"
#include "optimizer/pass.h"
#include "optimizer/precision/expression.h"

namespace tengine {
namespace {

class Selector
{
  public:
    Selector(const graph& graph, const tengine_quantization& how, Ranges& ranges)
        : graph_(graph),
          how_(how),
          ranges_(ranges),
          expressions_(graph),
          taken_(static_cast<size_t>(graph.node_num), false)
    {
    }

    // Selects products by a constant matrix, whose left operand is quantised in each run.
    Vector<QuantizedUnit> select_products()
    {
        for (int i = 0; i < graph_.node_num; ++i) {
            const node& node = node_at(i);
            const bool is_product =
                is_op(&node, "MatMul") || (is_op(&node, "Gemm") && is_plain_gemm(node));
            if (!is_product || node.core->keep_float || !has_matrix(node)) continue;
            QuantizedUnit unit = {QuantizedRole::kWeighted, {i}, {}, list_data_outputs(node)};
            unit.inputs.push_back(get_ir_node_input(&node, 0));
            if (is_chosen(unit)) units_.push_back(std::move(unit));
        }
        return std::move(units_);
    }

    Vector<QuantizedUnit> select()
    {
        for (int i = 0; i < graph_.node_num; ++i) {
            const QuantizedOperator* op = find_quantized_operator(*graph_.node_list[i]);
            if (const Expression* expression = expressions_.find(i))
                add({QuantizedRole::kFunction, expression->nodes, {expression->source}, {}});
            else if (op && op->role != QuantizedRole::kFunction &&
                     op->role != QuantizedRole::kNone && !expressions_.has(i) &&
                     !taken_[static_cast<size_t>(i)])
                consider(i, *op);
        }
        return std::move(units_);
    }

  private:
    const node& node_at(int index) const { return *graph_.node_list[index]; }

    void consider(int index, const QuantizedOperator& op)
    {
        QuantizedUnit unit;
        unit.role = op.role;
        unit.nodes = {index};
        if (has_bias_behind(index)) unit.nodes.push_back(find_reader(index));
        const int reader = op.takes_activation ? find_reader(unit.nodes.back()) : -1;
        if (is_activation(reader, unit.nodes.back())) unit.nodes.push_back(reader);
        unit.inputs = list_data_inputs(node_at(index), op);
        for (const int node : unit.nodes)
            taken_[static_cast<size_t>(node)] = true;
        if (suits_quantization(node_at(index))) add(std::move(unit));
    }

    void add(QuantizedUnit unit)
    {
        unit.outputs = list_data_outputs(node_at(unit.nodes.back()));
        const bool is_kept = std::any_of(unit.nodes.begin(), unit.nodes.end(), [this](int node) {
            return node_at(node).core->keep_float;
        });
        if (is_kept || !has_data(unit) || !is_worth(unit) || !is_chosen(unit)) return;
        quantized_.insert(unit.outputs.begin(), unit.outputs.end());
        units_.push_back(std::move(unit));
    }

    // The only reader of the result, -1 if there is none.
    int find_reader(int index) const
    {
        const tensor* result = get_ir_node_output(&node_at(index), 0);
        const bool is_alone =
            result && result->consumer_num == 1 && !is_ir_graph_output(&graph_, result->index);
        return is_alone ? result->consumer[0] : -1;
    }

    // Whether the node is a Relu or Clip of the result of `before`.
    bool is_activation(int index, int before) const
    {
        if (index < 0 || expressions_.has(index) ||
            get_ir_node_input(&node_at(index), 0) != get_ir_node_output(&node_at(before), 0))
            return false;
        const QuantizedOperator* op = find_quantized_operator(node_at(index));
        return op && op->role == QuantizedRole::kActivation;
    }

    // Whether the node is a MatMul by a constant matrix, followed by an Add of one value for each
    // of its columns.
    bool has_bias_behind(int index) const
    {
        const node& product = node_at(index);
        const int reader = is_op(&product, "MatMul") ? find_reader(index) : -1;
        const tensor* weight = get_ir_node_input(&product, 1);
        if (reader < 0 || !weight || weight->tensor_type != TENSOR_TYPE_CONST ||
            weight->dim_num != 2)
            return false;
        const node& sum = node_at(reader);
        if (!is_op(&sum, "Add") || expressions_.has(reader)) return false;
        const bool is_first = get_ir_node_input(&sum, 0) == get_ir_node_output(&product, 0);
        const tensor* bias = get_ir_node_input(&sum, is_first ? 1 : 0);
        return bias && bias->tensor_type == TENSOR_TYPE_CONST &&
               bias->data_type == TENGINE_DT_FP32 && bias->dim_num == 1 &&
               bias->dims[0] == weight->dims[1];
    }

    static bool has_matrix(const node& product)
    {
        const tensor* x = get_ir_node_input(&product, 0);
        const tensor* weight = get_ir_node_input(&product, 1);
        return x && weight && x->tensor_type != TENSOR_TYPE_CONST &&
               weight->tensor_type == TENSOR_TYPE_CONST && weight->data_type == TENGINE_DT_FP32 &&
               weight->dim_num == 2 && weight->elem_num > 0;
    }

    // Whether all data are fp32, and some are not constant.
    bool has_data(const QuantizedUnit& unit)
    {
        bool is_computed = false;
        for (const tensor* input : unit.inputs) {
            if (!input) return false;
            const bool is_constant = input->tensor_type == TENSOR_TYPE_CONST;
            is_computed = is_computed || !is_constant;
            if (is_constant ? input->data_type != TENGINE_DT_FP32 : !ranges_.has(*input))
                return false;
        }
        return is_computed &&
               std::all_of(unit.outputs.begin(), unit.outputs.end(),
                           [this](const tensor* output) { return output && ranges_.has(*output); });
    }

    static bool stands_alone(const QuantizedUnit& unit)
    {
        return unit.role == QuantizedRole::kWeighted || unit.role == QuantizedRole::kArithmetic;
    }

    bool is_worth(const QuantizedUnit& unit) const
    {
        return stands_alone(unit) ||
               std::all_of(unit.inputs.begin(), unit.inputs.end(), [this](const tensor* input) {
                   return input->tensor_type == TENSOR_TYPE_CONST || quantized_.count(input) != 0;
               });
    }

    bool is_chosen(const QuantizedUnit& unit) const
    {
        if (!how_.choose) return true;
        Vector<const char*> names, operators;
        for (const int node : unit.nodes) {
            names.push_back(node_at(node).name);
            operators.push_back(get_ir_node_op(&node_at(node)));
        }
        const tengine_quantized_layer layer = {names.data(), operators.data(),
                                               static_cast<int>(names.size()),
                                               unit.outputs[0]->name, stands_alone(unit) ? 1 : 0};
        return how_.choose(how_.user, &layer) != 0;
    }

    const graph& graph_;
    const tengine_quantization& how_;
    Ranges& ranges_;
    const Expressions expressions_;
    Vector<bool> taken_;            // nodes that belong to a unit, or are reserved for one
    Set<const tensor*> quantized_;  // results of units
    Vector<QuantizedUnit> units_;
};

}  // namespace

bool Ranges::has(const tensor& value)
{
    const auto [entry, is_new] = known_.try_emplace(value.index);
    Answer& answer = entry->second;
    if (!is_new) return answer.is_known;
    Range& range = answer.range;
    answer.is_known = how_.get_range(how_.user, value.name, &range.low, &range.high) != 0;
    if (answer.is_known && status_ == TENGINE_OK &&
        !(std::isfinite(range.low) && std::isfinite(range.high) && range.low <= range.high))
        status_ = tengine_error_set(TENGINE_EINVAL,
                                    "the range of tensor '%s' is %g to %g, expected "
                                    "finite numbers in ascending order",
                                    value.name, range.low, range.high);
    return answer.is_known;
}

int select_units(const graph& graph, const tengine_quantization& how, Ranges& ranges,
                 Vector<QuantizedUnit>* out_units)
{
    Selector selector(graph, how, ranges);
    *out_units = how.dynamic ? selector.select_products() : selector.select();
    return ranges.status();
}

}  // namespace tengine
