// SPDX-License-Identifier: Apache-2.0
// Operators that only move or select values work on the bytes themselves. Where the result is
// quantised in another way, a table follows (Concat: goes before).
#include <algorithm>
#include <cmath>
#include <cstring>

#include "graph/graph.h"
#include "optimizer/pass.h"
#include "optimizer/precision/fuser.h"

namespace tengine {
namespace {

bool is_used(const node& node, int index)
{
    const tensor* tensor = get_ir_node_output(&node, index);
    return tensor && (tensor->consumer_num > 0 || is_ir_graph_output(node.graph, tensor->index));
}

std::vector<tensor*> list_inputs(const node& node)
{
    std::vector<tensor*> inputs;
    for (int i = 0; i < node.input_num; i++)
        inputs.push_back(get_ir_node_input(&node, i));
    return inputs;
}

// Results that nobody reads are of the operand's kind.
bool find_results(Fuser& fuser, const node& node, const Quantization& by,
                  std::vector<Result>* out_results)
{
    for (int i = 0; i < node.output_num; i++) {
        Result result;
        if (!is_used(node, i)) {
            result.value = get_ir_node_output(&node, i);
            result.by = by;
            if (!result.value) return false;
        } else if (!fuser.find_result(node, i, &result)) {
            return false;
        }
        out_results->push_back(result);
    }
    return true;
}

// The node on bytes: `inputs` are those of the integer node.
bool move(Fuser& fuser, node& node, const Operand& x, const std::vector<tensor*>& inputs)
{
    std::vector<Result> results;
    if (!find_results(fuser, node, x.by, &results)) return false;
    NodeDraft draft = {get_ir_node_domain(&node),
                       get_ir_node_op(&node),
                       node.name,
                       node.source_index,
                       inputs,
                       {},
                       &node};
    for (const Result& result : results)
        draft.outputs.push_back(std::string(result.value->name) + "_quantized");
    const struct node* made = fuser.rewriter().add_device_node(draft);
    if (!made) return false;
    std::vector<tensor*> bytes;
    for (size_t i = 0; i < results.size(); i++) {
        tensor* moved = get_ir_node_output(made, static_cast<int>(i));
        if (moved->data_type != x.by.data_type) return false;
        bytes.push_back(fuser.requantize({moved, x.by}, results[i].by, node));
    }
    return fuser.finish(node, results, bytes);
}

}  // namespace

bool fuse_movement(Fuser& fuser, node& node)
{
    Operand x;
    if (!fuser.find_operand(get_ir_node_input(&node, 0), &x)) return false;
    std::vector<tensor*> inputs = list_inputs(node);
    inputs[0] = x.bytes;
    return move(fuser, node, x, inputs);
}

bool fuse_max_pool(Fuser& fuser, node& node)
{
    return !is_used(node, 1) && node.output_num == 1 && fuse_movement(fuser, node);
}

// Of the modes only this one takes values as they are, unless some lie outside of the input.
bool fuse_resize(Fuser& fuser, node& node)
{
    const char* mode = get_ir_node_text(&node, "mode", "nearest");
    const char* position = get_ir_node_text(&node, "coordinate_transformation_mode", "");
    return std::strcmp(mode, "nearest") == 0 && std::strcmp(position, "tf_crop_and_resize") != 0 &&
           fuse_movement(fuser, node);
}

// The value that is put around becomes a byte too; without one it is 0.
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
    std::vector<tensor*> inputs = list_inputs(node);
    inputs.resize(std::max<size_t>(inputs.size(), 3));
    inputs[0] = x.bytes;
    inputs[2] = fuser.rewriter().add_constant(std::string(node.name) + "_pad_value", x.by.data_type,
                                              {}, &bits);
    return inputs[2] && move(fuser, node, x, inputs);
}

bool fuse_concat(Fuser& fuser, node& node)
{
    Result y;
    std::vector<tensor*> inputs;
    if (!fuser.find_result(node, 0, &y)) return false;
    for (int i = 0; i < node.input_num; i++) {
        Operand x;
        tensor* value = get_ir_node_input(&node, i);
        if (!value) return false;
        if (!fuser.find_operand(value, &x) &&
            !(value->tensor_type == TENSOR_TYPE_CONST && fuser.make_operand(value, y, &x)))
            return false;
        inputs.push_back(fuser.requantize(x, y.by, node));
        if (!inputs.back()) return false;
    }
    return fuser.finish(node, y, fuser.add("", "Concat", node, inputs, y));
}

}  // namespace tengine
