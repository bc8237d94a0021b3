// SPDX-License-Identifier: Apache-2.0
#include "optimizer/precision/hybrid.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/containers.hpp"
#include "graph/graph.h"
#include "operator/operator.h"
#include "optimizer/pass.h"
#include "optimizer/precision/weights.h"

namespace tengine {

// x * weight + bias, of a MatMul, with the Add after it, or of a Gemm.
struct Hybrid::Product
{
    node* first;
    node* last;      // that has the result
    tensor* weight;  // depth x columns, or the transpose of that
    tensor* bias;    // a number for each column, or null
    bool is_transposed;

    int columns() const { return weight->dims[is_transposed ? 0 : 1]; }
};

namespace {

// With a scale for each column that is a number.
bool is_weight(const tensor* value)
{
    return value && value->tensor_type == TENSOR_TYPE_CONST &&
           value->data_type == TENGINE_DT_FP32 && value->dim_num == 2 && value->elem_num > 0 &&
           std::all_of(value->f32, value->f32 + value->elem_num,
                       [](float element) { return std::isfinite(element); });
}

bool is_bias(const tensor* value, int columns)
{
    return !value ||
           (value->tensor_type == TENSOR_TYPE_CONST && value->data_type == TENGINE_DT_FP32 &&
            value->dim_num == 1 && value->elem_num == columns);
}

bool has_same_shape(const tensor& a, const tensor& b)
{
    return a.shape_set && b.shape_set && a.dim_num == b.dim_num &&
           std::equal(a.dims, a.dims + a.dim_num, b.dims);
}

// The values of a weight as bytes, found when they are first asked for.
class LateBytes
{
  public:
    LateBytes(const tensor& weight, int axis) : weight_(weight), axis_(axis) {}

    const WeightBytes& get()
    {
        if (!bytes_) bytes_ = quantize_weight_values(weight_, axis_, nullptr, 1);
        return *bytes_;
    }
    // Depth x columns.
    void copy_bytes(int8_t* to)
    {
        const int64_t columns = weight_.dims[axis_], depth = weight_.dims[1 - axis_];
        for (int64_t k = 0; k < depth; ++k)
            for (int64_t i = 0; i < columns; ++i)
                *to++ =
                    get().bytes[static_cast<size_t>(axis_ == 1 ? k * columns + i : i * depth + k)];
    }

  private:
    const tensor& weight_;
    const int axis_;
    std::optional<WeightBytes> bytes_;
};

}  // namespace

// The only reader of a MatMul's result may add a bias.
void Hybrid::find_sum(Product* product) const
{
    const graph& graph = rewriter_.graph();
    tensor* result = get_ir_node_output(product->first, 0);
    if (result->consumer_num != 1 || is_ir_graph_output(&graph, result->index)) return;
    node* reader = get_ir_graph_node(&graph, result->consumer[0]);
    if (!is_op(reader, "Add") || reader->core->keep_float) return;
    tensor* bias = get_ir_node_input(reader, get_ir_node_input(reader, 0) == result ? 1 : 0);
    const tensor* sum = get_ir_node_output(reader, 0);
    if (bias == result || !bias || !is_bias(bias, product->columns()) ||
        !has_same_shape(*result, *sum))
        return;
    product->bias = bias;
    product->last = reader;
}

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
        find_sum(out_product);
        return true;
    }
    out_product->is_transposed = get_ir_node_int(&node, "transB", 0) != 0;
    out_product->bias = get_ir_node_input(&node, 2);
    return get_ir_node_int(&node, "transA", 0) == 0 && get_ir_node_float(&node, "alpha", 1) == 1 &&
           get_ir_node_float(&node, "beta", 1) == 1 &&
           is_bias(out_product->bias, out_product->columns());
}

// The weights in bytes, with their scales; of a constant of the model all preparations share them.
bool Hybrid::make_weights(const Product& product, Vector<tensor*>* inputs)
{
    const tensor& weight = *product.weight;
    const int columns = product.columns();
    const int depth = static_cast<int>(weight.elem_num / columns);
    LateBytes late(weight, product.is_transposed ? 0 : 1);
    static const char kinds[2] = {};  // of the bytes, of the scales
    ir_pack_key_t key = {};
    key.constants[0] = weight.data;
    key.sizes[0] = product.is_transposed;
    const auto add = [&](const char* suffix, int data_type, const Vector<int>& dims, int kind,
                         void (*fill)(void*, void*)) {
        key.kind = is_ir_model_constant(&weight) ? &kinds[kind] : nullptr;
        tensor* made = rewriter_.add_shared_constant(String(weight.name) + suffix, data_type, dims,
                                                     key, fill, &late);
        inputs->push_back(made);
        return made != nullptr;
    };
    return add("_bytes", data_type_, {depth, columns}, 0,
               [](void* memory, void* bytes) {
                   static_cast<LateBytes*>(bytes)->copy_bytes(static_cast<int8_t*>(memory));
               }) &&
           add("_scale", TENGINE_DT_FP32, {columns}, 1, [](void* memory, void* bytes) {
               const Vector<float>& scales = static_cast<LateBytes*>(bytes)->get().scales;
               std::copy(scales.begin(), scales.end(), static_cast<float*>(memory));
           });
}

bool Hybrid::rewrite(const Product& product)
{
    node& last = *product.last;
    tensor* result = get_ir_node_output(&last, 0);
    NodeDraft draft = {"com.microsoft",
                       "DynamicQuantizeMatMul",
                       last.name,
                       last.core->source_index,
                       {get_ir_node_input(product.first, 0)},
                       {String(result->name) + ".hybrid"}};
    if (!make_weights(product, &draft.inputs)) return false;
    draft.inputs.push_back(nullptr);  // int8 without zero points
    draft.inputs.push_back(product.bias);
    node* made = rewriter_.add_device_node(draft);
    if (!made || !has_same_shape(*result, *get_ir_node_output(made, 0))) return false;
    graph& graph = rewriter_.graph();
    if (product.first != product.last) destroy_ir_node(&graph, product.first);
    destroy_ir_node(&graph, product.last);
    rewriter_.fail(set_ir_node_output_tensor(made, 0, result));
    return true;
}

int Hybrid::run()
{
    const int node_num = rewriter_.graph().node_num;  // what is added needs no look
    for (int i = 0; i < node_num; ++i) {
        node* node = rewriter_.graph().node_list[i];
        Product product;
        if (!node || !find_product(*node, &product)) continue;
        rewriter_.begin();
        if (!rewrite(product)) rewriter_.take_back();
        TENGINE_RETURN_IF_ERROR(rewriter_.status());
    }
    return TENGINE_OK;
}

}  // namespace tengine
