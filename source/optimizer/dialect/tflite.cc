// SPDX-License-Identifier: Apache-2.0
// Raising to TensorFlow Lite's operators, for saving.
#include "base/containers.hpp"
#include "graph/graph.h"
#include "operator/fail.h"
#include "operator/tflite/raise.h"
#include "optimizer/pass.h"
#include "optimizer/pass/unknown_shape.h"

namespace tengine {
namespace {

bool is_left_for_later(const node& node)
{
    return is_op(&node, "QuantizeLinear") || is_op(&node, "DequantizeLinear");
}

bool is_tflite(const node& node)
{
    return std::string_view(get_ir_node_domain(&node)) == "tflite";
}

const struct tensor* find_unknown_shape(const node& node)
{
    const struct tensor* unknown = find_ir_unknown_input(&node);
    return unknown ? unknown : find_ir_unknown_output(&node);
}

// The reason is that of the last row that could have matched.
int fail_to_raise(const node& node)
{
    if (const struct tensor* unknown = find_unknown_shape(node)) {
        const String origin = describe_origin(*node.graph, *unknown);
        return fail_node(&node, TENGINE_EOPERATOR,
                         "it has no form in TensorFlow Lite: the shape of '%s' is known only at "
                         "run time%s",
                         unknown->name, origin.c_str());
    }
    if (tengine_error_code() < 0) {
        const String reason = tengine_error_message();
        return tengine_error_set(TENGINE_EOPERATOR, "%s: it has no form in TensorFlow Lite",
                                 reason.c_str());
    }
    return fail_node(&node, TENGINE_EOPERATOR, "TensorFlow Lite has no such operator");
}

// Whether the node can be computed now: filters and factors that rows have made of constants.
bool has_only_constants(const node& node)
{
    for (int i = 0; i < node.input_num; ++i)
        if (const struct tensor* input = get_ir_node_input(&node, i); input && !is_constant(input))
            return false;
    return node.input_num > 0 && !node.core->bodies;
}

// A node that one row makes is raised by another: the list grows.
template <class Raise>
int raise_nodes(graph& graph, bool all, const Raise& raise)
{
    for (int i = 0; i < graph.node_num; ++i) {
        node* node = graph.node_list[i];
        if (!node || is_tflite(*node) || is_left_for_later(*node)) continue;
        tengine_error_clear();
        if (has_only_constants(*node)) {
            TENGINE_RETURN_IF_ERROR(evaluate_node(*node));
            continue;
        }
        const int status = find_unknown_shape(*node) ? int{OP_NOT_RAISED} : raise(&graph, node);
        if (status < 0) return status;
        if (status == OP_NOT_RAISED && all) return fail_to_raise(*node);
    }
    tengine_error_clear();
    return TENGINE_OK;
}

}  // namespace

int raise_pictures_to_tflite(graph& graph)
{
    return raise_nodes(graph, false, raise_tfl_picture);
}

int raise_rest_to_tflite(graph& graph)
{
    return raise_nodes(graph, true, [](struct graph* whole, node* node) {
        const int status = raise_tfl_node(whole, node);
        return status == OP_NOT_RAISED ? raise_tfl_picture(whole, node) : status;
    });
}

}  // namespace tengine
