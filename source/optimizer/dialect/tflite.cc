// SPDX-License-Identifier: Apache-2.0
// Raising to TensorFlow Lite's operators, for saving.
#include <utility>

#include "base/containers.hpp"
#include "base/maps.hpp"
#include "graph/body.h"
#include "graph/graph.h"
#include "graph/name_index.h"
#include "operator/fail.h"
#include "operator/tflite/raise.h"
#include "optimizer/dialect/counted_loop.h"
#include "optimizer/optimizer.h"
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

// ---- If and Loop ----

bool is_control(const node& node)
{
    return node.core->bodies && (is_op(&node, "If") || is_op(&node, "Loop"));
}

// The tensor of the written body for an input of the body. A constant that the body no longer has
// becomes one again: nothing reads it.
const struct tensor* find_body_input(const graph& given, int index, graph& made)
{
    const struct tensor& input = *given.tensor_list[index];
    for (int i = 0; i < given.input_tensor_num; ++i)
        if (given.input_tensors[i] == index) return made.tensor_list[made.input_tensors[i]];
    const int known = find_ir_tensor_name(&made, input.name);
    if (known >= 0) return made.tensor_list[known];
    struct tensor* constant = create_ir_tensor(&made, input.name, input.data_type);
    if (!constant || set_ir_tensor_shape(constant, input.dims, input.dim_num) < 0) return nullptr;
    constant->tensor_type = TENSOR_TYPE_CONST;
    return constant;
}

// A body that was changed has constants of its own, which the written one gets.
void take_constants(graph& given, graph& made)
{
    Map<const void*, struct tensor*> owners;
    for (int i = 0; i < given.tensor_num; ++i)
        if (struct tensor* tensor = given.tensor_list[i]; tensor && tensor->free_host_mem)
            owners.emplace(tensor->data, tensor);
    for (int i = 0; i < made.tensor_num; ++i) {
        struct tensor* tensor = made.tensor_list[i];
        const auto owner = tensor && tensor->data ? owners.find(tensor->data) : owners.end();
        if (owner == owners.end() || tensor->free_host_mem || !owner->second->free_host_mem)
            continue;
        tensor->free_host_mem = 1;
        owner->second->free_host_mem = 0;
    }
}

int raise_body(ir_body_t& body)
{
    graph* made = nullptr;
    TENGINE_RETURN_IF_ERROR(create_saved_graph(body.graph, "tflite", &made));
    if (!made) return TENGINE_OK;
    made->core->source = nullptr;  // its constants are those of the model and of the graph around
    ir_body_t raised = {};
    raised.graph = made;
    raised.first_capture = body.first_capture;
    int status = TENGINE_OK;
    for (int i = 0; status == TENGINE_OK && i < body.input_num; ++i) {
        const struct tensor* input = find_body_input(*body.graph, body.inputs[i], *made);
        const bool is_captured = i >= body.input_num - body.capture_num;
        status = input ? add_ir_body_input(&raised, input, is_captured) : tengine_error_code();
    }
    if (status == TENGINE_OK) take_constants(*body.graph, *made);
    std::swap(body, raised);
    destroy_ir_graph(raised.graph);
    free_memory(raised.inputs);
    return status;
}

int raise_bodies(node& node)
{
    for (int i = 0; i < node.core->bodies->num; ++i)
        TENGINE_RETURN_IF_ERROR(raise_body(node.core->bodies->list[i]));
    return TENGINE_OK;
}

// The results of a node, which may be gone when it is raised.
class Results
{
  public:
    explicit Results(const node& node) : name_(node.name), op_(get_ir_node_op(&node))
    {
        tensors_.assign(node.output_tensors, node.output_tensors + node.output_num);
    }

    // Fails where something reads a result that no node has any more.
    int check(const graph& graph) const
    {
        for (size_t i = 0; i < tensors_.size(); ++i) {
            const struct tensor* tensor =
                tensors_[i] < 0 ? nullptr : graph.tensor_list[tensors_[i]];
            const bool is_lost =
                tensor && tensor->producer < 0 && tensor->tensor_type == TENSOR_TYPE_VAR &&
                (tensor->consumer_num > 0 || is_ir_graph_output(&graph, tensor->index));
            if (!is_lost) continue;
            return tengine_error_set(
                TENGINE_EOPERATOR,
                "%s '%s': its result %zu is read: it has no form in TensorFlow Lite", op_.c_str(),
                name_.c_str(), i);
        }
        return TENGINE_OK;
    }

  private:
    String name_, op_;
    Vector<int32_t> tensors_;
};

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
        if (is_control(*node) && !find_unknown_shape(*node)) {
            if (all && is_op(node, "Loop")) TENGINE_RETURN_IF_ERROR(count_loop(graph, *node));
            if (all) TENGINE_RETURN_IF_ERROR(raise_bodies(*node));
            continue;
        }
        const Results results(*node);
        const int status = find_unknown_shape(*node) ? int{OP_NOT_RAISED} : raise(&graph, node);
        if (status < 0) return status;
        TENGINE_RETURN_IF_ERROR(results.check(graph));
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
