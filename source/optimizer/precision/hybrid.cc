// SPDX-License-Identifier: Apache-2.0
#include "optimizer/precision/hybrid.h"

#include <algorithm>

#include "base/containers.hpp"
#include "graph/graph.h"
#include "operator/operator.h"
#include "optimizer/pass.h"
#include "optimizer/precision/late_bytes.h"
#include "optimizer/precision/product_bias.h"

namespace tengine {

// x * weight + bias: a MatMul, with the Add after it, or a Gemm.
struct Hybrid::Product
{
    node* first;
    node* last;      // that has the result
    tensor* weight;  // depth x columns, or the transpose
    tensor* bias;    // a number for each column, or null
    bool is_transposed;

    int columns() const { return weight->dims[is_transposed ? 0 : 1]; }
};

// An operator that quantises its left operand in each run.
struct Hybrid::Form
{
    const char *domain, *op;
};

namespace {

// Whether each column has a finite scale.
bool is_weight(const tensor* value)
{
    return value && value->tensor_type == TENSOR_TYPE_CONST &&
           value->data_type == TENGINE_DT_FP32 && value->dim_num == 2 && value->elem_num > 0 &&
           is_finite(*value);
}

}  // namespace

bool Hybrid::find_product(node& node, Product* out_product) const
{
    if (node.core->keep_float || node.dynamic_shape) return false;
    const bool is_gemm = is_op(&node, "Gemm");
    if (!is_gemm && !is_op(&node, "MatMul")) return false;
    *out_product = {&node, &node, get_ir_node_input(&node, 1), nullptr, false};
    const tensor* x = get_ir_node_input(&node, 0);
    if (x->data_type != TENGINE_DT_FP32 || x->tensor_type == TENSOR_TYPE_CONST || x->dim_num < 2 ||
        !is_weight(out_product->weight))
        return false;
    if (!is_gemm) {
        auto* sum = find_product_sum(rewriter_.graph(), *get_ir_node_output(&node, 0),
                                     out_product->columns(), &out_product->bias);
        if (sum) out_product->last = sum;
        return true;
    }
    out_product->is_transposed = get_ir_node_int(&node, "transB", 0) != 0;
    out_product->bias = get_ir_node_input(&node, 2);
    return get_ir_node_int(&node, "transA", 0) == 0 && get_ir_node_float(&node, "alpha", 1) == 1 &&
           get_ir_node_float(&node, "beta", 1) == 1 &&
           is_product_bias(out_product->bias, out_product->columns());
}

// A matrix in int8, and its scales; all preparations share those of a constant of the model. Both
// are null when out of memory.
Hybrid::Matrix Hybrid::make_matrix(const tensor& weight, int axis, const Vector<int>& dims,
                                   const Vector<int>& scale_dims)
{
    static const char kinds[3] = {};  // int8 values, late ones, scales
    const String name = weight.name;
    const tensor* origin = rewriter_.find_late_origin(weight);
    ir_late_values_t late =
        describe_bytes(weight, axis, static_cast<int>(dims.size()) == weight.dim_num);
    ir_pack_key_t key = {};
    key.constants[0] = weight.data;
    std::copy_n(late.sizes, 2, key.sizes);
    const auto add = [&](const char* suffix, int data_type, const Vector<int>& of, int kind,
                         void (*fill)(void*, void*)) {
        key.kind = is_ir_model_constant(&weight) ? &kinds[kind] : nullptr;
        return rewriter_.add_shared_constant(name + suffix, data_type, of, key, fill, &late);
    };
    Matrix made;
    made.scales = add("_scale", TENGINE_DT_FP32, scale_dims, 2, [](void* memory, void* values) {
        find_scales(*static_cast<ir_late_values_t*>(values), static_cast<float*>(memory));
    });
    if (!made.scales) return {};
    if (!origin) {
        made.bytes = add("_bytes", data_type_, dims, 0, [](void* memory, void* values) {
            make_bytes(static_cast<ir_late_values_t*>(values), nullptr, false, memory);
        });
        return made;
    }
    late.origin = origin->index;
    key.kind = &kinds[1];
    made.bytes = rewriter_.add_late_constant(name + "_bytes", data_type_, dims, key, late);
    drop_ir_constant(&rewriter_.graph(), &weight);
    return made;
}

bool Hybrid::rewrite(const Product& product, const Form& form)
{
    node& last = *product.last;
    tensor* result = get_ir_node_output(&last, 0);
    NodeDraft draft = {form.domain, form.op,
                       last.name,   last.core->source_index,
                       {},          {String(result->name) + ".hybrid"}};
    const int columns = product.columns();
    const int depth = static_cast<int>(product.weight->elem_num) / columns;
    const Matrix matrix =
        make_matrix(*product.weight, product.is_transposed ? 0 : 1, {depth, columns}, {columns});
    if (!matrix.bytes) return false;
    // int8 has no zero points.
    draft.inputs = {get_ir_node_input(product.first, 0), matrix.bytes, matrix.scales, nullptr,
                    product.bias};
    node* made = rewriter_.add_device_node(draft);
    if (!made || !has_same_shape(*result, *get_ir_node_output(made, 0))) return false;
    graph& graph = rewriter_.graph();
    if (product.first != product.last) destroy_ir_node(&graph, product.first);
    destroy_ir_node(&graph, product.last);
    rewriter_.fail(set_ir_node_output_tensor(made, 0, result));
    return true;
}

namespace {

bool is_matrix_of_gates(const tensor* value)
{
    return value && value->tensor_type == TENSOR_TYPE_CONST &&
           value->data_type == TENGINE_DT_FP32 && value->dim_num == 3 && value->elem_num > 0 &&
           is_finite(*value);
}

// The rows of the matrices of all directions.
tensor list_rows(const tensor& matrices)
{
    tensor rows = matrices;
    rows.dim_num = 2;
    rows.dims[0] = matrices.dims[0] * matrices.dims[1];
    rows.dims[1] = matrices.dims[2];
    return rows;
}

bool is_lstm(const node& node)
{
    return is_op(&node, "LSTM") && !node.core->keep_float && !node.dynamic_shape &&
           get_ir_node_input(&node, 0)->tensor_type != TENSOR_TYPE_CONST &&
           is_matrix_of_gates(get_ir_node_input(&node, 1)) &&
           is_matrix_of_gates(get_ir_node_input(&node, 2));
}

}  // namespace

bool Hybrid::rewrite_lstm(node& lstm)
{
    NodeDraft draft = {"tengine", "RowQuantizeLSTM", lstm.name, lstm.core->source_index, {}, {}};
    draft.like = &lstm;
    Matrix matrices[2];
    for (int i = 0; i < 2; ++i) {
        const tensor& weight = *get_ir_node_input(&lstm, 1 + i);
        matrices[i] = make_matrix(list_rows(weight), 0, {weight.dims, weight.dims + weight.dim_num},
                                  {weight.dims[0], weight.dims[1]});
        if (!matrices[i].bytes) return false;
    }
    for (int i = 0; i < 8; ++i)
        draft.inputs.push_back(get_ir_node_input(&lstm, i));
    for (int i = 0; i < 2; ++i) {
        draft.inputs[static_cast<size_t>(i) + 1] = matrices[i].bytes;
        draft.inputs.push_back(matrices[i].scales);
    }
    for (int i = 0; i < lstm.output_num; ++i)
        draft.outputs.push_back(String(lstm.name) + ".hybrid" + to_string(i));
    node* made = rewriter_.add_device_node(draft);
    if (!made) return false;
    Vector<tensor*> results;
    for (int i = 0; i < lstm.output_num; ++i)
        results.push_back(get_ir_node_output(&lstm, i));
    destroy_ir_node(&rewriter_.graph(), &lstm);
    for (size_t i = 0; i < results.size(); ++i)
        if (results[i])
            rewriter_.fail(set_ir_node_output_tensor(made, static_cast<int>(i), results[i]));
    return true;
}

void Hybrid::rewrite_product(node& node)
{
    // Forms with a scale for each row precede those with one scale.
    static constexpr Form kForms[] = {{"tengine", "RowQuantizeMatMul"},
                                      {"com.microsoft", "DynamicQuantizeMatMul"}};
    Product product;
    if (!find_product(node, &product)) return;
    for (const Form& form : kForms) {
        rewriter_.begin();
        if (rewrite(product, form)) return;
        rewriter_.take_back();
        if (rewriter_.status() < 0) return;
    }
}

int Hybrid::run()
{
    const int node_num = rewriter_.graph().node_num;  // added nodes are not visited
    for (int i = 0; i < node_num; ++i) {
        node* node = rewriter_.graph().node_list[i];
        if (!node) continue;
        if (is_lstm(*node)) {
            rewriter_.begin();
            if (!rewrite_lstm(*node)) rewriter_.take_back();
        } else {
            rewrite_product(*node);
        }
        TENGINE_RETURN_IF_ERROR(rewriter_.status());
    }
    return TENGINE_OK;
}

}  // namespace tengine
