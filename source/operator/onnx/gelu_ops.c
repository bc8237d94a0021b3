// SPDX-License-Identifier: Apache-2.0
// Gelu, BiasGelu, FastGelu and QuickGelu of ONNX Runtime, lowered to ONNX's Gelu and Swish, after
// an Add if there is a bias. The node itself becomes the function, so that it keeps its name.
#include <string.h>

#include "graph/graph.h"
#include "operator/infer.h"
#include "operator/onnx/activation_param.h"
#include "operator/onnx/legacy.h"
#include "operator/param.h"
#include "operator/row.h"
#include "tengine/device.h"

// Moves the addition of input 1, if it exists, into a node of its own.
static int split_bias(struct graph* graph, struct node* node)
{
    struct tensor* inputs[] = {get_ir_node_input(node, 0), get_ir_node_input(node, 1)};
    if (inputs[1]) {
        struct node* sum = append_lowered_node(graph, node, "Add", inputs, 2);
        if (!sum) return tengine_error_code();
        TENGINE_RETURN_IF_ERROR(set_ir_node_input_tensor(node, 0, get_ir_node_output(sum, 0)));
    }
    keep_ir_node_inputs(node, 1);
    return TENGINE_OK;
}

// Lowers Gelu and BiasGelu.
static int lower_gelu(struct graph* graph, struct node* node)
{
    TENGINE_RETURN_IF_ERROR(split_bias(graph, node));
    return change_node_method(node, "Gelu");
}

static int lower_fast_gelu(struct graph* graph, struct node* node)
{
    static const char approximation[] = "tanh";
    TENGINE_RETURN_IF_ERROR(lower_gelu(graph, node));
    return set_node_text(node, "approximate", approximation, strlen(approximation));
}

static int lower_quick_gelu(struct graph* graph, struct node* node)
{
    (void)graph;
    return change_node_method(node, "Swish");
}

static const op_field_t quick_gelu_fields[] = {
    OP_FIELD(struct alpha_param, FLOAT, alpha, .number = 1.702f),
};

#define LOWERED(least, most, lower_function)                                          \
    .version = 1, .until = 1, .min_input = least, .max_input = most, .min_output = 1, \
    .max_output = 1, .traits = OP_LEGACY, .lower = lower_function

static const ir_method_t* const rows[] = {
    MICROSOFT_ROW(BiasGelu, LOWERED(2, 2, lower_gelu)),
    MICROSOFT_ROW(FastGelu, LOWERED(1, 2, lower_fast_gelu)),
    MICROSOFT_ROW(Gelu, LOWERED(1, 1, lower_gelu)),
    MICROSOFT_ROW(QuickGelu, LOWERED(1, 1, lower_quick_gelu), OP_FIELDS(quick_gelu_fields),
                  .param_size = sizeof(struct alpha_param)),
};

OPERATOR_TABLE(gelu_ops, rows);
