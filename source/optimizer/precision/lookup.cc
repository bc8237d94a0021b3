// SPDX-License-Identifier: Apache-2.0
#include "optimizer/precision/lookup.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "base/maps.hpp"
#include "graph/graph.h"
#include "module/module.h"
#include "optimizer/pass.h"

namespace tengine {
namespace {

// A graph of the function's nodes, which are evaluated one by one as constants.
class TableMaker
{
  public:
    explicit TableMaker(graph& scratch) : rewriter_(scratch, nullptr, nobody_) {}

    int run(const Formula& formula, const Quantization& from, const Quantization& to,
            Int8Table* out_table)
    {
        Int8Table bytes;
        std::iota(bytes.begin(), bytes.end(), uint8_t{0});
        tensor* value = rewriter_.add_constant("bytes", from.data_type, {256}, bytes.data());
        TENGINE_RETURN_IF_ERROR(rescale("DequantizeLinear", value, from, &value));
        for (const tensor* source : formula.sources)
            values_[source] = value;
        for (const node* operation : formula.nodes)
            TENGINE_RETURN_IF_ERROR(compute(*operation, &value));
        TENGINE_RETURN_IF_ERROR(rescale("QuantizeLinear", value, to, &value));
        if (!is_byte(value->data_type) || value->elem_num != 256) return TENGINE_EOPERATOR;
        std::memcpy(out_table->data(), value->data, out_table->size());
        return TENGINE_OK;
    }

  private:
    int evaluate(const NodeDraft& draft, tensor** out_value)
    {
        node* made = rewriter_.add_node(draft);
        TENGINE_RETURN_IF_ERROR(rewriter_.status());
        if (!made) return TENGINE_EOPERATOR;
        *out_value = get_ir_node_output(made, 0);
        return evaluate_node(*made);
    }

    int rescale(const char* op, tensor* value, Quantization by, tensor** out_value)
    {
        // Constants of another graph cannot be inputs here.
        by.scale_tensor = by.zero_point_tensor = nullptr;
        tensor* scale = get_scale(rewriter_, by, op);
        tensor* zero_point = get_zero_point(rewriter_, by, op);
        return evaluate({"", op, op, -1, {value, scale, zero_point}, {op}}, out_value);
    }

    int compute(const node& operation, tensor** out_value)
    {
        NodeDraft draft = {get_ir_node_domain(&operation),
                           get_ir_node_op(&operation),
                           operation.name,
                           -1,
                           {},
                           {"value"},
                           &operation};
        for (int i = 0; i < operation.input_num; ++i) {
            const tensor* input = get_ir_node_input(&operation, i);
            const auto known = values_.find(input);
            tensor* used = known != values_.end() ? known->second : nullptr;
            if (input && !used)
                used = rewriter_.add_constant(input->name, input->data_type, {}, input->data);
            draft.inputs.push_back(used);
        }
        TENGINE_RETURN_IF_ERROR(evaluate(draft, out_value));
        values_[get_ir_node_output(&operation, 0)] = *out_value;
        return TENGINE_OK;
    }

    Candidates nobody_;
    Rewriter rewriter_;
    Map<const tensor*, tensor*> values_;  // by the graph's tensors
};

}  // namespace

int make_table(const graph& graph, const Formula& formula, const Quantization& from,
               const Quantization& to, Int8Table* out_table)
{
    GraphPointer scratch(create_ir_graph(graph.attribute->context));
    if (!scratch) return tengine_error_code();
    scratch->core->run_options = *graph.run_options;
    return TableMaker(*scratch).run(formula, from, to, out_table);
}

bool is_identity(const Int8Table& table)
{
    for (size_t i = 0; i < table.size(); ++i)
        if (table[i] != i) return false;
    return true;
}

}  // namespace tengine
