// SPDX-License-Identifier: Apache-2.0
// Matrix products: FULLY_CONNECTED where the second operand is a constant matrix, else
// BATCH_MATMUL.
#include <string.h>

#include "operator/infer.h"
#include "operator/tflite/raise.h"

static const int64_t exchanged[] = {1, 0};

// Whether the tensor is a constant, as it is or with DequantizeLinear.
static bool is_fixed(const struct graph* graph, const struct tensor* tensor)
{
    if (tensor->tensor_type == TENSOR_TYPE_CONST) return true;
    const struct node* linear = get_ir_graph_node(graph, tensor->producer);
    return linear && strcmp(get_ir_node_op(linear), "DequantizeLinear") == 0 &&
           get_ir_node_input(linear, 0)->tensor_type == TENSOR_TYPE_CONST;
}

static int raise_mat_mul(struct graph* graph, struct node* node)
{
    struct tensor *a = get_ir_node_input(node, 0), *b = get_ir_node_input(node, 1);
    if (a->dim_num < 2 || b->dim_num < 2)
        return refuse_raising(node, "an operand has %d dimensions, expected 2 at least",
                              a->dim_num < 2 ? a->dim_num : b->dim_num);
    emitter_t emit = start_emitting(graph, node);
    if (b->dim_num == 2 && is_fixed(graph, b)) {
        begin_op(&emit, "tflite.FULLY_CONNECTED", 2, a, emit_turned(&emit, b, exchanged, 2));
        emit_attr_int(&emit, "keep_num_dims", a->dim_num > 2);
        return finish_raised(&emit);
    }
    begin_op(&emit, "tflite.BATCH_MATMUL", 2, a, b);
    return finish_raised(&emit);
}

// Whether the addend has a value for each column and can be the bias.
static bool is_bias(const struct graph* graph, const struct tensor* addend, int columns)
{
    return addend && addend->elem_num == columns && is_fixed(graph, addend) &&
           addend->dim_num > 0 && addend->dims[addend->dim_num - 1] == columns;
}

static struct tensor* emit_flat(emitter_t* emit, struct tensor* bias)
{
    const int64_t dims[] = {bias->elem_num};
    return bias->dim_num == 1 ? bias : emit_reshape(emit, bias, dims, 1);
}

static int raise_gemm(struct graph* graph, struct node* node)
{
    struct tensor *a = get_ir_node_input(node, 0), *b = get_ir_node_input(node, 1);
    struct tensor* addend = get_ir_node_input(node, 2);
    const struct tensor* output = get_ir_node_output(node, 0);
    if (get_ir_node_float(node, "alpha", 1) != 1 ||
        (addend && get_ir_node_float(node, "beta", 1) != 1))
        return refuse_raising(node, "alpha is %g and beta %g, expected 1",
                              (double)get_ir_node_float(node, "alpha", 1),
                              (double)get_ir_node_float(node, "beta", 1));
    emitter_t emit = start_emitting(graph, node);
    if (get_ir_node_int(node, "transA", 0) != 0) a = emit_transpose(&emit, a, exchanged, 2);
    if (get_ir_node_int(node, "transB", 0) == 0) b = emit_turned(&emit, b, exchanged, 2);
    const bool has_bias = is_bias(graph, addend, output->dims[1]);
    begin_op(&emit, "tflite.FULLY_CONNECTED", has_bias ? 3 : 2, a, b,
             has_bias ? emit_flat(&emit, addend) : NULL);
    if (has_bias || !addend) return finish_raised(&emit);
    struct tensor* product = end_raised(&emit, output->data_type, output->dims, 2);
    begin_op(&emit, "tflite.ADD", 2, product, addend);
    return finish_raised(&emit);
}

static const tfl_raising_t rows[] = {
    {"Gemm", raise_gemm},
    {"MatMul", raise_mat_mul},
};

TFL_RAISINGS(tfl_product_raisings, rows);
