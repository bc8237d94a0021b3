// SPDX-License-Identifier: Apache-2.0
#include "optimizer/precision/dynamic_chain.h"

#include <algorithm>

#include "graph/graph.h"
#include "operator/operator.h"
#include "optimizer/pass.h"
#include "optimizer/precision/product_bias.h"
#include "optimizer/precision/quantization.h"

namespace tengine {

struct DynamicChains::Chain
{
    node* quantize;       // DynamicQuantizeLinear
    Vector<node*> nodes;  // MatMulInteger first, the last has the result
    tensor* scale;        // of the columns, or of all; null before it is found
    bool has_input_scale;
    tensor* bias;  // or null

    node& product() const { return *nodes[0]; }
    const tensor& matrix() const { return *get_ir_node_input(nodes[0], 1); }
    const tensor& result() const { return *get_ir_node_output(nodes.back(), 0); }
};

namespace {

bool is_constant_of(const tensor* value, int columns)
{
    return is_constant(value, TENGINE_DT_FP32) && value->dim_num <= 1 &&
           (value->elem_num == 1 || value->elem_num == columns);
}

const tensor* other_input(const node& two, const tensor* one)
{
    return get_ir_node_input(&two, get_ir_node_input(&two, 0) == one ? 1 : 0);
}

}  // namespace

bool DynamicChains::may_be_in(const graph& graph)
{
    return std::any_of(graph.node_list, graph.node_list + graph.node_num,
                       [](const node* node) { return is_op(node, "MatMulInteger"); });
}

// A factor of the accumulators: the scale of the input, that of the matrix, or the product of both.
bool DynamicChains::take_scale(tensor* factor, Chain* chain) const
{
    const tensor* input_scale = get_ir_node_output(chain->quantize, 1);
    if (factor == input_scale && !chain->has_input_scale) {
        chain->has_input_scale = true;
        return true;
    }
    if (chain->scale) return false;
    if (!is_constant_of(factor, chain->matrix().dims[1])) {
        const node* both = producer_of(rewriter_.graph(), factor);
        if (chain->has_input_scale || !is_op(both, "Mul")) return false;
        const bool is_first = get_ir_node_input(both, 0) == input_scale;
        if (!is_first && get_ir_node_input(both, 1) != input_scale) return false;
        factor = get_ir_node_input(both, is_first ? 1 : 0);
        if (!is_constant_of(factor, chain->matrix().dims[1])) return false;
        chain->has_input_scale = true;
    }
    chain->scale = factor;
    return true;
}

bool DynamicChains::find_scales(const tensor& converted, Chain* chain) const
{
    const graph& graph = rewriter_.graph();
    const tensor* value = &converted;
    while (!chain->scale || !chain->has_input_scale) {
        node* mul = find_only_reader(graph, *value);
        if (!is_op(mul, "Mul") || !take_scale(const_cast<tensor*>(other_input(*mul, value)), chain))
            return false;
        chain->nodes.push_back(mul);
        value = get_ir_node_output(mul, 0);
    }
    return true;
}

bool DynamicChains::find_chain(node& product, Chain* out_chain) const
{
    if (!is_op(&product, "MatMulInteger")) return false;
    const graph& graph = rewriter_.graph();
    const tensor* bytes = get_ir_node_input(&product, 0);
    const tensor* matrix = get_ir_node_input(&product, 1);
    node* quantize = producer_of(graph, bytes);
    if (!is_op(quantize, "DynamicQuantizeLinear") || matrix->tensor_type != TENSOR_TYPE_CONST ||
        matrix->dim_num != 2 || get_ir_node_input(&product, 2) != get_ir_node_output(quantize, 2))
        return false;
    *out_chain = {quantize, {&product}, nullptr, false, nullptr};
    const tensor* sums = get_ir_node_output(&product, 0);
    node* cast = find_only_reader(graph, *sums);
    if (!is_op(cast, "Cast") || get_ir_node_output(cast, 0)->data_type != TENGINE_DT_FP32)
        return false;
    out_chain->nodes.push_back(cast);
    if (!find_scales(*get_ir_node_output(cast, 0), out_chain)) return false;
    node* sum = find_product_sum(graph, out_chain->result(), matrix->dims[1], &out_chain->bias);
    if (sum) out_chain->nodes.push_back(sum);
    return has_same_shape(*sums, out_chain->result());
}

bool DynamicChains::is_for_a_better_device(const node& product) const
{
    for (size_t i = 0; candidates_.at(i) != device_; ++i)
        if (candidates_.takes(candidates_.at(i), product)) return true;
    return false;
}

bool DynamicChains::merge(const Chain& chain)
{
    const node &product = chain.product(), &quantize = *chain.quantize;
    tensor* bytes = get_ir_node_output(&quantize, 0);
    tensor* zero_points = get_ir_node_input(&product, 3);
    tensor* matrix = get_ir_node_input(&product, 1);
    tensor* result = get_ir_node_output(chain.nodes.back(), 0);
    NodeDraft draft = {"com.microsoft",
                       "DynamicQuantizeMatMul",
                       product.name,
                       product.core->source_index,
                       {get_ir_node_input(&quantize, 0), matrix, chain.scale, zero_points},
                       {String(result->name) + ".dynamic"}};
    if (!find_only_reader(rewriter_.graph(), *bytes)) {
        draft.op = "MatMulIntegerToFloat";
        draft.inputs = {bytes,
                        matrix,
                        get_ir_node_output(&quantize, 1),
                        chain.scale,
                        get_ir_node_output(&quantize, 2),
                        zero_points};
    }
    draft.inputs.push_back(chain.bias);
    node* made = rewriter_.add_device_node(draft);
    if (!made || !has_same_shape(*result, *get_ir_node_output(made, 0))) return false;
    for (node* gone : chain.nodes)
        destroy_ir_node(&rewriter_.graph(), gone);
    rewriter_.fail(set_ir_node_output_tensor(made, 0, result));
    return true;
}

int DynamicChains::run()
{
    const int node_num = rewriter_.graph().node_num;  // added nodes are not visited
    for (int i = 0; i < node_num; ++i) {
        node* node = rewriter_.graph().node_list[i];
        Chain chain;
        if (!node || !find_chain(*node, &chain) || is_for_a_better_device(*node)) continue;
        rewriter_.begin();
        if (!merge(chain)) rewriter_.take_back();
        TENGINE_RETURN_IF_ERROR(rewriter_.status());
    }
    return TENGINE_OK;
}

}  // namespace tengine
