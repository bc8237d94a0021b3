// SPDX-License-Identifier: Apache-2.0
#include "optimizer/precision/fuser.h"

#include <algorithm>
#include <cstring>

#include "base/containers.hpp"
#include "graph/graph.h"
#include "optimizer/pass.h"

namespace tengine {
namespace {

Vector<node*> list_consumers(const graph& graph, const tensor& value)
{
    Vector<node*> consumers;
    for (int i = 0; i < value.consumer_num; ++i) {
        node* consumer = get_ir_graph_node(&graph, value.consumer[i]);
        if (std::find(consumers.begin(), consumers.end(), consumer) == consumers.end())
            consumers.push_back(consumer);
    }
    return consumers;
}

// Whether the node quantises `value`, and its parameters.
bool is_quantizer_of(const tensor& value, const node& node, Quantization* out_quantization)
{
    return is_op(&node, "QuantizeLinear") && get_ir_node_input(&node, 0) == &value &&
           read_quantization(node, out_quantization);
}

bool has_dims(const tensor& value, const Vector<int>& dims)
{
    return std::equal(dims.begin(), dims.end(), value.dims, value.dims + value.dim_num);
}

// A Relu or Clip whose bounds are constants.
bool is_clamp(const node& node)
{
    if (is_op(&node, "Relu")) return true;
    if (!is_op(&node, "Clip")) return false;
    for (int i = 1; i < node.input_num; ++i) {
        const tensor* bound = get_ir_node_input(&node, i);
        if (bound && bound->tensor_type != TENSOR_TYPE_CONST) return false;
    }
    return true;
}

}  // namespace

// ---- results ----

// Quantisers that disagree leave the tensor without an integer form.
bool Fuser::find_quantizer(const tensor& value, Result* out_result) const
{
    Quantization by;
    for (node* consumer : list_consumers(graph(), value)) {
        if (!is_quantizer_of(value, *consumer, &by)) continue;
        if (out_result->quantize && !is_same(by, out_result->by)) return false;
        if (out_result->quantize) continue;
        out_result->quantize = consumer;
        out_result->by = by;
    }
    return out_result->quantize || read_calibration(value, data_type_, &out_result->by);
}

bool Fuser::find_direct_result(tensor* value, Result* out_result) const
{
    *out_result = {};
    out_result->value = value;
    return value->data_type == TENGINE_DT_FP32 && find_quantizer(*value, out_result);
}

bool Fuser::find_result(const node& node, int index, Result* out_result) const
{
    tensor* value = get_ir_node_output(&node, index);
    if (!value) return false;
    if (find_direct_result(value, out_result)) return true;
    if (value->consumer_num != 1 || is_ir_graph_output(&graph(), value->index)) return false;
    struct node* clamp = get_ir_graph_node(&graph(), value->consumer[0]);
    if (!is_clamp(*clamp) || clamp->core->keep_float || get_ir_node_input(clamp, 0) != value ||
        !find_direct_result(get_ir_node_output(clamp, 0), out_result))
        return false;
    out_result->clamp = clamp;
    return true;
}

// Whether some reader becomes an integer node, or passes quantised elements on to one. A bound on
// how far: graphs may be long.
bool Fuser::is_wanted_in_bytes(const tensor& value, int depth) const
{
    constexpr int kFarthest = 8;
    Result result;
    for (const node* consumer : list_consumers(graph(), value)) {
        if (!find_fuse_rule(*consumer) || consumer->core->keep_float) continue;
        if (find_result(*consumer, 0, &result)) return true;
        const tensor* next = get_ir_node_output(consumer, 0);
        const bool passes_on = is_movement(*consumer) || is_op(consumer, "MatMul");
        if (passes_on && depth < kFarthest && is_wanted_in_bytes(*next, depth + 1)) return true;
    }
    return false;
}

bool Fuser::find_moved_result(const node& node, int index, const Quantization& by,
                              Result* out_result) const
{
    if (find_result(node, index, out_result)) return true;
    tensor* value = get_ir_node_output(&node, index);
    if (!value || value->data_type != TENGINE_DT_FP32 || !is_wanted_in_bytes(*value, 0))
        return false;
    *out_result = {value, by, nullptr, nullptr};
    return true;
}

// ---- building ----

tensor* Fuser::add(const char* domain, const char* op, const node& origin,
                   const Vector<tensor*>& inputs, const Result& result, int group)
{
    NodeDraft draft = {domain,      op,
                       origin.name, origin.core->source_index,
                       inputs,      {String(result.value->name) + "_quantized"},
                       &origin};
    if (group > 0) draft.ints = {{"group", group}};
    tensor* made = rewriter_.add_device_tensor(draft);
    return made && made->data_type == result.by.data_type ? made : nullptr;
}

tensor* Fuser::look_up(const Operand& operand, const Quantization& to, const Formula& formula,
                       const String& name, const node& origin)
{
    Int8Table table;
    const int status = make_table(graph(), formula, operand.by, to, &table);
    if (status == TENGINE_ENOMEM) rewriter_.fail(status);
    return status < 0 ? nullptr : add_table(operand, to, table, name, origin);
}

tensor* Fuser::add_table(const Operand& operand, const Quantization& to, const Int8Table& table,
                         const String& name, const node& origin)
{
    if (operand.by.data_type == to.data_type && is_identity(table)) return operand.bytes;
    tensor* constant = rewriter_.add_constant(name + "_table", to.data_type, {256}, table.data());
    return rewriter_.add_device_tensor({"tengine",
                                        "Lookup",
                                        name,
                                        origin.core->source_index,
                                        {operand.bytes, constant},
                                        {name + "_quantized"}});
}

tensor* Fuser::requantize(const Operand& operand, const Quantization& to, const node& origin)
{
    if (is_same(operand.by, to)) return operand.bytes;
    return look_up(operand, to, {}, String(operand.bytes->name) + "_requantize", origin);
}

tensor* Fuser::find_shaped(tensor* bytes, const Vector<int>& dims)
{
    if (has_dims(*bytes, dims)) return bytes;
    const node* before = producer_of(graph(), bytes);
    tensor* input = before ? get_ir_node_input(before, 0) : nullptr;
    if (is_op(before, "Reshape") && has_dims(*input, dims)) return input;
    const node* shape = producer_of(graph(), input);
    if (!before || std::strcmp(get_ir_node_op(before), "Lookup") != 0 || !is_op(shape, "Reshape") ||
        !has_dims(*get_ir_node_input(shape, 0), dims))
        return nullptr;
    return rewriter_.add_device_tensor({"tengine",
                                        "Lookup",
                                        before->name,
                                        before->core->source_index,
                                        {get_ir_node_input(shape, 0), get_ir_node_input(before, 1)},
                                        {String(bytes->name) + "_before"}});
}

tensor* Fuser::reshape(tensor* bytes, const Vector<int>& dims, const node& origin)
{
    if (!bytes) return nullptr;
    if (tensor* shaped = find_shaped(bytes, dims)) return shaped;
    const String name = String(bytes->name) + "_reshape";
    tensor* shape = rewriter_.add_list(name + "_shape", Vector<int64_t>(dims.begin(), dims.end()));
    return rewriter_.add_device_tensor(
        {"", "Reshape", name, origin.core->source_index, {bytes, shape}, {name + "d"}});
}

// ---- replacing ----

// An output of the graph keeps its own tensor, so an existing quantised tensor cannot become it.
bool Fuser::can_hand_over(const Result& result, const tensor& bytes) const
{
    if (!result.quantize || !rewriter_.is_older(bytes)) return true;
    return !is_ir_graph_output(&graph(), get_ir_node_output(result.quantize, 0)->index);
}

// The tensor that holds the quantised result from now on: that of its QuantizeLinear, which has the
// model's name and may be an output of the graph, unless it existed before.
tensor* Fuser::hand_over(Result& result, tensor* bytes)
{
    if (!result.quantize) return bytes;
    tensor* quantized = get_ir_node_output(result.quantize, 0);
    destroy_ir_node(&graph(), result.quantize);
    if (rewriter_.is_older(*bytes)) {
        rewriter_.fail(replace_ir_tensor_uses(&graph(), quantized, bytes));
        return bytes;
    }
    node* writer = producer_of(graph(), bytes);
    int index = 0;
    while (get_ir_node_output(writer, index) != bytes)
        ++index;
    rewriter_.fail(replace_ir_tensor_uses(&graph(), bytes, quantized));
    rewriter_.fail(set_ir_node_output_tensor(writer, index, quantized));
    return quantized;
}

// Further QuantizeLinear nodes of the same kind would make the same tensor.
void Fuser::share_bytes(const Result& result, tensor* bytes)
{
    Quantization by;
    for (node* consumer : list_consumers(graph(), *result.value)) {
        if (!is_quantizer_of(*result.value, *consumer, &by) || !is_same(by, result.by)) continue;
        tensor* quantized = get_ir_node_output(consumer, 0);
        if (is_ir_graph_output(&graph(), quantized->index)) continue;
        rewriter_.fail(replace_ir_tensor_uses(&graph(), quantized, bytes));
        destroy_ir_node(&graph(), consumer);
    }
}

void Fuser::serve_float_readers(Result& result, tensor* bytes)
{
    tensor* value = result.value;
    if (value->consumer_num == 0 && !is_ir_graph_output(&graph(), value->index)) return;
    const String name = value->name;
    node* made = rewriter_.add_node(
        {"",
         "DequantizeLinear",
         name + "_DequantizeLinear",
         -1,
         {bytes, get_scale(rewriter_, result.by, name), get_zero_point(rewriter_, result.by, name)},
         {name + "_dequantized"}});
    if (made) rewriter_.fail(set_ir_node_output_tensor(made, 0, value));
}

tensor* Fuser::clamp(const Result& result, tensor* bytes)
{
    if (!bytes || !result.clamp) return bytes;
    const Formula formula = {{get_ir_node_input(result.clamp, 0)}, {result.clamp}};
    return look_up({bytes, result.by}, result.by, formula, result.clamp->name, *result.clamp);
}

bool Fuser::finish(node& origin, Vector<Result>& results, Vector<tensor*> bytes)
{
    for (size_t i = 0; i < results.size(); ++i) {
        bytes[i] = clamp(results[i], bytes[i]);
        if (!bytes[i] || !can_hand_over(results[i], *bytes[i])) return false;
    }
    if (rewriter_.status() < 0) return false;
    for (size_t i = 0; i < results.size(); ++i) {
        bytes[i] = hand_over(results[i], bytes[i]);
        share_bytes(results[i], bytes[i]);
        if (results[i].clamp) destroy_ir_node(&graph(), results[i].clamp);
    }
    destroy_ir_node(&graph(), &origin);
    for (size_t i = 0; i < results.size(); ++i)
        serve_float_readers(results[i], bytes[i]);
    return rewriter_.status() >= 0;
}

bool Fuser::finish(node& origin, Result& result, tensor* bytes)
{
    Vector<Result> results = {result};
    return finish(origin, results, {bytes});
}

bool Fuser::replace_quantizer(Result& result, tensor* bytes)
{
    if (!bytes || rewriter_.status() < 0 || !can_hand_over(result, *bytes)) return false;
    hand_over(result, bytes);
    return rewriter_.status() >= 0;
}

bool fuse_by_first(Fuser& fuser, node& node, std::initializer_list<FuseRule> rules)
{
    for (const FuseRule rule : rules) {
        if (rule(fuser, node)) return true;
        fuser.rewriter().take_back();
    }
    return false;
}

// ---- the walk ----

bool Fuser::rewrite(node& node)
{
    const FuseRule rule = find_fuse_rule(node);
    return rule && rule(*this, node);
}

int Fuser::run()
{
    const int node_num = graph().node_num;  // added nodes need no look
    for (int i = 0; i < node_num; ++i) {
        node* node = graph().node_list[i];
        if (!node || node->core->keep_float || node->dynamic_shape) continue;
        rewriter_.begin();
        if (!rewrite(*node)) rewriter_.take_back();
        TENGINE_RETURN_IF_ERROR(rewriter_.status());
    }
    return TENGINE_OK;
}

}  // namespace tengine
