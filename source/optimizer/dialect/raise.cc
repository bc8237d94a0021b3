// SPDX-License-Identifier: Apache-2.0
// The inverse of lowering, for saving: replaces ONNX operators by Tengine's that compute the same.
#include <algorithm>
#include <iterator>
#include <string_view>

#include "base/containers.hpp"
#include "graph/graph.h"
#include "operator/registry.h"
#include "operator/tengine/emit.h"
#include "optimizer/dialect/kept_nodes.h"
#include "optimizer/dialect/quantized_tensors.h"
#include "optimizer/pass.h"
#include "optimizer/pass/unknown_shape.h"

namespace tengine {
namespace {

// Whether `name` is one of the words of "A|B|C".
bool is_listed(std::string_view words, std::string_view name)
{
    while (!words.empty()) {
        const size_t end = words.find('|');
        if (words.substr(0, end) == name) return true;
        if (end == std::string_view::npos) return false;
        words.remove_prefix(end + 1);
    }
    return false;
}

// The first tensor of the node whose shape depends on data: Tengine's operators have no such
// tensor.
const struct tensor* find_unknown_shape(const node& node)
{
    const struct tensor* unknown = find_ir_unknown_input(&node);
    return unknown ? unknown : find_ir_unknown_output(&node);
}

// OP_NOT_RAISED when no row takes the node.
int try_rows(graph& graph, node& node)
{
    const String op = get_ir_node_op(&node);
    if (const struct tensor* unknown = find_unknown_shape(node))
        return refuse_raising(&node, "the shape of '%s' is known only at run time", unknown->name);
    for (int i = 0; i < get_op_method_count(); ++i) {
        const method* row = find_op_method_via_index(i);
        if (!row->raise || !is_listed(row->raised_from, op)) continue;
        const int status = row->raise(&graph, &node);
        if (status != OP_NOT_RAISED) return status;
    }
    return OP_NOT_RAISED;
}

// Operators that only move elements, and Cast, which reads any type.
constexpr const char* kByteOperators[] = {
    "Cast",    "Concat", "DepthToSpace", "Dropout", "Expand",  "Flatten", "Gather",    "Identity",
    "Reshape", "Slice",  "SpaceToDepth", "Split",   "Squeeze", "Tile",    "Transpose", "Unsqueeze"};

bool may_meet_bytes(const node& node)
{
    return std::any_of(std::begin(kByteOperators), std::end(kByteOperators),
                       [&](const char* op) { return is_op(&node, op); });
}

// Values between QuantizeLinear and DequantizeLinear are float here; an int8 or uint8 tensor with
// other readers or writers holds integers, which Tengine's operators do not compute with.
int refuse_integers(node& node)
{
    for (int i = 0; i < node.input_num + node.output_num; ++i) {
        const struct tensor* tensor = i < node.input_num
                                          ? get_ir_node_input(&node, i)
                                          : get_ir_node_output(&node, i - node.input_num);
        if (tensor && is_byte_type(tensor->data_type))
            return refuse_raising(&node,
                                  "it computes with the integers of '%s', Tengine's operators with "
                                  "what those of a quantised tensor stand for",
                                  tensor->name);
    }
    return TENGINE_OK;
}

int raise_node(graph& graph, node& node, KeptNodes& kept)
{
    tengine_error_clear();
    int status = may_meet_bytes(node) ? TENGINE_OK : refuse_integers(node);
    if (status == TENGINE_OK) status = try_rows(graph, node);
    if (status != OP_NOT_RAISED) return status;
    // The last row that could have matched has set the reason.
    if (tengine_error_code() == 0) refuse_raising(&node, "Tengine has no equivalent operator");
    const struct tensor* unknown = find_unknown_shape(node);
    // The node that is the cause may be far away.
    if (String* why = kept.add(node))
        *why = tengine_error_message() + (unknown ? describe_origin(graph, *unknown) : "");
    tengine_error_clear();
    return TENGINE_OK;
}

bool is_quantization(const node& node)
{
    return is_op(&node, "QuantizeLinear") || is_op(&node, "DequantizeLinear");
}

}  // namespace

int raise_graph(graph& graph)
{
    const int given = graph.node_num;
    KeptNodes kept;
    for (int i = 0; i < given; ++i) {
        node& node = *graph.node_list[i];
        // fold_qdq_nodes() handles quantisation later.
        if (*get_ir_node_domain(&node) || is_quantization(node)) continue;
        TENGINE_RETURN_IF_ERROR(raise_node(graph, node, kept));
    }
    kept.warn();
    return TENGINE_OK;
}

}  // namespace tengine
