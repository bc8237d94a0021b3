// SPDX-License-Identifier: Apache-2.0
// Erf, which TensorFlow Lite does not have, as part of GELU: x / 2 * (1 + erf(x / sqrt 2)).
#include <math.h>
#include <string.h>

#include "graph/graph.h"
#include "operator/infer.h"
#include "operator/tengine/raise.h"
#include "operator/tflite/raise.h"

// The other operand of a sum or a product.
static struct tensor* find_other(const struct node* node, const struct tensor* operand)
{
    struct tensor* first = get_ir_node_input(node, 0);
    return first == operand ? get_ir_node_input(node, 1) : first;
}

static bool is_number(const struct tensor* tensor, float value)
{
    return tensor && tensor->tensor_type == TENSOR_TYPE_CONST && tensor->elem_num == 1 &&
           tensor->data_type == TENGINE_DT_FP32 && fabsf(tensor->f32[0] - value) < 1e-4f;
}

// The only reader of the tensor, if it is this operator.
static struct node* find_reader(const struct graph* graph, const struct tensor* tensor,
                                const char* op)
{
    if (!tensor || tensor->consumer_num != 1 || is_ir_graph_output(graph, tensor->index))
        return NULL;
    struct node* reader = get_ir_graph_node(graph, tensor->consumer[0]);
    return strcmp(get_ir_node_op(reader), op) == 0 ? reader : NULL;
}

// The operand of a node that computes `op` of it and a number; or NULL.
static struct tensor* find_scaled(const struct graph* graph, const struct tensor* tensor,
                                  const char* op, float number)
{
    const struct node* node = tensor ? get_ir_graph_node(graph, tensor->producer) : NULL;
    if (!node || strcmp(get_ir_node_op(node), op) != 0) return NULL;
    if (is_number(get_ir_node_input(node, 1), number)) return get_ir_node_input(node, 0);
    const bool is_product = strcmp(op, "Mul") == 0;
    return is_product && is_number(get_ir_node_input(node, 0), number) ? get_ir_node_input(node, 1)
                                                                       : NULL;
}

// The product that is the result for `input`, and the last of its factors.
static struct node* find_gelu(const struct graph* graph, const struct node* erf,
                              const struct tensor* input)
{
    struct node* sum = find_reader(graph, get_ir_node_output(erf, 0), "Add");
    if (!sum || !is_number(find_other(sum, get_ir_node_output(erf, 0)), 1)) return NULL;
    const struct tensor* one_more = get_ir_node_output(sum, 0);
    struct node* product = find_reader(graph, one_more, "Mul");
    if (!product) return NULL;
    const struct tensor* factor = find_other(product, one_more);
    if (find_scaled(graph, factor, "Mul", 0.5f) == input) return product;
    const struct tensor* value = get_ir_node_output(product, 0);
    struct node* half = find_reader(graph, value, "Mul");
    if (!half) return NULL;
    const struct tensor* left = find_other(half, value);
    return (factor == input && is_number(left, 0.5f)) || (is_number(factor, 0.5f) && left == input)
               ? half
               : NULL;
}

static int raise_erf(struct graph* graph, struct node* node)
{
    const float root = sqrtf(2);
    const struct tensor* scaled = get_ir_node_input(node, 0);
    struct tensor* input = find_scaled(graph, scaled, "Div", root);
    if (!input) input = find_scaled(graph, scaled, "Mul", 1 / root);
    struct node* last = input ? find_gelu(graph, node, input) : NULL;
    if (!last)
        return refuse_raising(node,
                              "TensorFlow Lite has no Erf but as a part of GELU, x / 2 * (1 + "
                              "erf(x / sqrt(2)))");
    emitter_t emit = start_emitting(graph, last);
    return finish_emitting(&emit, 1, emit_op(&emit, "Gelu", 1, input));
}

static const tfl_raising_t rows[] = {
    {"Erf", raise_erf},
};

TFL_RAISINGS(tfl_gelu_raisings, rows);
