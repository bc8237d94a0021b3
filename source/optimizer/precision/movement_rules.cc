// SPDX-License-Identifier: Apache-2.0
// Rules for operators that only move or select values: they work on the quantised values. If the
// result is quantised in another way, a table follows (Concat: precedes).
#include <algorithm>
#include <cmath>

#include "base/containers.hpp"
#include "graph/graph.h"
#include "optimizer/pass.h"
#include "optimizer/precision/fuser.h"
#include "optimizer/precision/quantized_operator.h"

namespace tengine {
namespace {

bool is_used(const node& node, int index)
{
    const tensor* tensor = get_ir_node_output(&node, index);
    return tensor && (tensor->consumer_num > 0 || is_ir_graph_output(node.graph, tensor->index));
}

Vector<tensor*> list_inputs(const node& node)
{
    Vector<tensor*> inputs;
    for (int i = 0; i < node.input_num; ++i)
        inputs.push_back(get_ir_node_input(&node, i));
    return inputs;
}

// Results without a reader get the operand's quantisation.
bool find_results(Fuser& fuser, const node& node, const Quantization& by,
                  Vector<Result>* out_results)
{
    for (int i = 0; i < node.output_num; ++i) {
        Result result;
        if (!is_used(node, i)) {
            result.value = get_ir_node_output(&node, i);
            result.by = by;
            if (!result.value) return false;
        } else if (!fuser.find_moved_result(node, i, by, &result)) {
            return false;
        }
        out_results->push_back(result);
    }
    return true;
}

NodeDraft draft_like(const node& node, const Vector<tensor*>& inputs)
{
    return {get_ir_node_domain(&node),
            get_ir_node_op(&node),
            node.name,
            node.core->source_index,
            inputs,
            {},
            &node};
}

// Makes the node on quantised values; `inputs` are those of the integer node.
bool move(Fuser& fuser, node& node, const Operand& x, NodeDraft draft)
{
    Vector<Result> results;
    if (!find_results(fuser, node, x.by, &results)) return false;
    for (const Result& result : results)
        draft.outputs.push_back(String(result.value->name) + "_quantized");
    const struct node* made = fuser.rewriter().add_device_node(draft);
    if (!made) return false;
    Vector<tensor*> bytes;
    for (size_t i = 0; i < results.size(); ++i) {
        tensor* moved = get_ir_node_output(made, static_cast<int>(i));
        if (moved->data_type != x.by.data_type) return false;
        bytes.push_back(fuser.requantize({moved, x.by}, results[i].by, node));
    }
    return fuser.finish(node, results, bytes);
}

// The axis of a result that is axis `from` of the input, -1 if there is none.
int64_t find_moved_axis(const node& node, int64_t from)
{
    int number = 0;
    const int64_t* order = get_ir_node_ints(&node, "perm", &number);
    const int rank = get_ir_node_input(&node, 0)->dim_num;
    if (!is_op(&node, "Transpose")) return -1;
    if (from < 0) from += rank;
    for (int i = 0; i < number; ++i)
        if (order[i] == from) return i;
    return number == 0 ? rank - 1 - from : -1;
}

bool has_constants_behind(const node& node)
{
    for (int i = 1; i < node.input_num; ++i) {
        const tensor* input = get_ir_node_input(&node, i);
        if (input && (input->tensor_type != TENSOR_TYPE_CONST || !input->data)) return false;
    }
    return true;
}

// Moves dequantised constants, such as the weights of a MatMul, in this pass.
bool move_constant(Fuser& fuser, node& node)
{
    struct node* linear = producer_of(fuser.graph(), get_ir_node_input(&node, 0));
    if (!is_op(linear, "DequantizeLinear") || node.output_num != 1 || !has_constants_behind(node))
        return false;
    tensor* bytes = get_ir_node_input(linear, 0);
    tensor* scale = get_ir_node_input(linear, 1);
    tensor* value = get_ir_node_output(&node, 0);
    const int64_t axis = find_moved_axis(node, get_ir_node_int(linear, "axis", 1));
    if (bytes->tensor_type != TENSOR_TYPE_CONST || !is_byte(bytes->data_type) ||
        (scale->elem_num != 1 && (scale->dim_num != 1 || axis < 0)))
        return false;
    Rewriter& rewriter = fuser.rewriter();
    NodeDraft draft = draft_like(node, list_inputs(node));
    draft.inputs[0] = bytes;
    draft.outputs = {String(value->name) + "_quantized"};
    struct node* moved = rewriter.add_node(draft);
    if (!moved) return false;
    tensor* result = get_ir_node_output(moved, 0);
    rewriter.fail(evaluate_node(*moved));
    draft = {"",
             "DequantizeLinear",
             String(value->name) + "_DequantizeLinear",
             -1,
             {result, scale, get_ir_node_input(linear, 2)},
             {String(value->name) + "_dequantized"}};
    if (axis >= 0) draft.ints = {{"axis", axis}};
    struct node* made = rewriter.add_node(draft);
    if (!made) return false;
    destroy_ir_node(&fuser.graph(), &node);
    rewriter.fail(set_ir_node_output_tensor(made, 0, value));
    return true;
}

}  // namespace

bool fuse_movement(Fuser& fuser, node& node)
{
    Operand x;
    if (move_constant(fuser, node)) return true;
    fuser.rewriter().take_back();
    if (!fuser.find_operand(get_ir_node_input(&node, 0), &x)) return false;
    Vector<tensor*> inputs = list_inputs(node);
    inputs[0] = x.bytes;
    return move(fuser, node, x, draft_like(node, inputs));
}

bool fuse_max_pool(Fuser& fuser, node& node)
{
    return !is_used(node, 1) && node.output_num == 1 && fuse_movement(fuser, node);
}

// A MaxPool whose window is the whole plane, since there is no global one for integers.
bool fuse_global_max_pool(Fuser& fuser, node& node)
{
    Operand x;
    if (!fuser.find_operand(get_ir_node_input(&node, 0), &x) || x.bytes->dim_num < 3) return false;
    NodeDraft draft = draft_like(node, {x.bytes});
    draft.op = "MaxPool";
    draft.lists = {{"kernel_shape", {x.bytes->dims + 2, x.bytes->dims + x.bytes->dim_num}}};
    return move(fuser, node, x, draft);
}

// Interpolated values are rounded to the input's scale, which must not be coarser than the
// result's; a table makes the result if the scales differ.
bool fuse_resize(Fuser& fuser, node& node)
{
    if (takes_nearest(node)) return fuse_movement(fuser, node);
    Operand x;
    Result y;
    return takes_between(node) && fuser.find_operand(get_ir_node_input(&node, 0), &x) &&
           fuser.find_moved_result(node, 0, x.by, &y) && x.by.scale <= y.by.scale &&
           fuse_movement(fuser, node);
}

// The padding value is quantised, too; its default is 0.
bool fuse_pad(Fuser& fuser, node& node)
{
    Operand x;
    const tensor* value = get_ir_node_input(&node, 2);
    if (!fuser.find_operand(get_ir_node_input(&node, 0), &x)) return false;
    if (value && (value->tensor_type != TENSOR_TYPE_CONST || !value->data ||
                  value->data_type != TENGINE_DT_FP32 || value->elem_num != 1))
        return false;
    const float real = value ? *value->f32 : 0.0f;
    const double byte = std::nearbyint(real / x.by.scale) + x.by.zero_point;
    const int lowest = x.by.data_type == TENGINE_DT_INT8 ? -128 : 0;
    if (!(byte >= lowest && byte <= lowest + 255)) return false;
    const auto bits = static_cast<uint8_t>(static_cast<int>(byte));
    Vector<tensor*> inputs = list_inputs(node);
    inputs.resize(std::max<size_t>(inputs.size(), 3));
    inputs[0] = x.bytes;
    inputs[2] =
        fuser.rewriter().add_constant(String(node.name) + "_pad_value", x.by.data_type, {}, &bits);
    return inputs[2] && move(fuser, node, x, draft_like(node, inputs));
}

bool fuse_concat(Fuser& fuser, node& node)
{
    Operand first;
    Result y;
    Vector<tensor*> inputs;
    const bool has_result = fuser.find_result(node, 0, &y);
    if (!has_result && (!fuser.find_operand(get_ir_node_input(&node, 0), &first) ||
                        !fuser.find_moved_result(node, 0, first.by, &y)))
        return false;
    for (int i = 0; i < node.input_num; ++i) {
        Operand x;
        tensor* value = get_ir_node_input(&node, i);
        if (!value) return false;
        if (!fuser.find_operand(value, &x) &&
            !(value->tensor_type == TENSOR_TYPE_CONST && fuser.make_operand(value, y, &x)))
            return false;
        if (!has_result && !is_same(x.by, y.by)) return false;
        Int8Table table;
        const String name = String(x.bytes->name) + "_requantize";
        inputs.push_back(make_litert_part(fuser, x.by, y.by, &table)
                             ? fuser.add_table(x, y.by, table, name, node)
                             : fuser.requantize(x, y.by, node));
        if (!inputs.back()) return false;
    }
    return fuser.finish(node, y, fuser.add("", "Concat", node, inputs, y));
}

}  // namespace tengine
