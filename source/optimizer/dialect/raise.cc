// SPDX-License-Identifier: Apache-2.0
// The inverse of lowering, for saving: ONNX operators become Tengine's where these say the same.
#include <cstring>
#include <string_view>

#include "base/containers.hpp"
#include "base/maps.hpp"
#include "graph/graph.h"
#include "operator/registry.h"
#include "operator/tengine/emit.h"
#include "optimizer/pass.h"
#include "optimizer/pass/unknown_shape.h"
#include "tengine/log.h"

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

// The first tensor of the node whose shape depends on data: Tengine's operators have none such.
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

// Nodes of an operator that stay ONNX's: how many, and why the first of them does.
struct Kept
{
    int number = 0;
    String why;
};

using KeptByOp = Map<String, Kept>;

int raise_node(graph& graph, node& node, KeptByOp& kept_by_op)
{
    tengine_error_clear();
    const int status = try_rows(graph, node);
    if (status != OP_NOT_RAISED) return status;
    // The last of the rows that could have taken it says why not.
    if (tengine_error_code() == 0) refuse_raising(&node, "Tengine has no equivalent operator");
    Kept& kept = kept_by_op[get_ir_node_op(&node)];
    if (++kept.number == 1) {
        const struct tensor* unknown = find_unknown_shape(node);
        kept.why = tengine_error_message();
        if (unknown) kept.why += describe_origin(graph, *unknown);
    }
    tengine_error_clear();
    return TENGINE_OK;
}

// A line for each operator: networks repeat theirs.
void warn_of(const KeptByOp& kept_by_op)
{
    for (const auto& [op, kept] : kept_by_op) {
        if (kept.number == 1)
            TLOG_WARNING("Tengine Lite cannot load the file, it contains an ONNX node: %s",
                         kept.why.c_str());
        else
            TLOG_WARNING(
                "Tengine Lite cannot load the file, it contains %d ONNX nodes %s; the first: %s",
                kept.number, op.c_str(), kept.why.c_str());
    }
}

bool is_quantization(const node& node)
{
    return is_op(&node, "QuantizeLinear") || is_op(&node, "DequantizeLinear");
}

}  // namespace

int raise_graph(graph& graph)
{
    const int given = graph.node_num;
    KeptByOp kept_by_op;
    for (int i = 0; i < given; ++i) {
        node& node = *graph.node_list[i];
        // What is quantised becomes part of the tensors later.
        if (*get_ir_node_domain(&node) || is_quantization(node)) continue;
        TENGINE_RETURN_IF_ERROR(raise_node(graph, node, kept_by_op));
    }
    warn_of(kept_by_op);
    return TENGINE_OK;
}

}  // namespace tengine
