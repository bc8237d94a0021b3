// SPDX-License-Identifier: Apache-2.0
// TensorFlow Lite's matrix products.
#include "operator/infer.h"
#include "operator/tflite/lower.h"

struct tfl_fully_connected_param
{
    int activation;
    int weights_format;
    int keep_num_dims;
    int asymmetric_quantize_inputs;  // of int8 weights: LiteRT's
    int quantized_bias_type;
};

struct tfl_batch_matmul_param
{
    int adj_x;
    int adj_y;
    int asymmetric_quantize_inputs;
};

static const op_field_t fully_connected_fields[] = {
    TFL_ACTIVATION(struct tfl_fully_connected_param, 0),
    TM_FIELD(struct tfl_fully_connected_param, INT, weights_format, BYTE, 1, .maximum = 1),
    TFL_BOOL(struct tfl_fully_connected_param, keep_num_dims, 2),
    TFL_BOOL(struct tfl_fully_connected_param, asymmetric_quantize_inputs, 3),
    TFL_FIELD(struct tfl_fully_connected_param, INT, quantized_bias_type, BYTE, 4),
};

static const op_field_t batch_matmul_fields[] = {
    TFL_BOOL(struct tfl_batch_matmul_param, adj_x, 0),
    TFL_BOOL(struct tfl_batch_matmul_param, adj_y, 1),
    TFL_BOOL(struct tfl_batch_matmul_param, asymmetric_quantize_inputs, 2),
};

// The input is a list of vectors of the weights' second dimension, whatever its shape is.
static int lower_fully_connected(struct graph* graph, struct node* node)
{
    const struct tfl_fully_connected_param* param = node->op.param_mem;
    emitter_t emit = start_emitting(graph, node);
    struct tensor *input = get_operand(&emit, 0), *weights = get_operand(&emit, 1);
    struct tensor* bias = node->input_num > 2 ? get_operand(&emit, 2) : NULL;
    if (param->weights_format != 0)
        return fail_emitting(&emit, TENGINE_ENOTSUP, "weights_format is 1, shuffled, expected 0");
    if (weights->dim_num != 2 || weights->dims[1] < 1 || input->elem_num % weights->dims[1] != 0)
        return fail_emitting(&emit, TENGINE_EINVAL,
                             "its weights '%s' of rank %d do not divide the %lld elements of its "
                             "input into vectors",
                             weights->name, weights->dim_num, (long long)input->elem_num);
    const int taken = weights->dims[1], given = weights->dims[0], rank = input->dim_num;
    const int64_t vectors[] = {input->elem_num / taken, taken};
    const bool keeps_dims = param->keep_num_dims && rank > 0;
    struct tensor* rows = input;
    if (rank != 2 || input->dims[1] != taken) rows = emit_reshape(&emit, input, vectors, 2);
    begin_op(&emit, "Gemm", bias ? 3 : 2, rows, weights, bias);
    emit_attr_int(&emit, "transB", 1);
    struct tensor* result = emit_activation(&emit, param->activation, end_op(&emit));
    if (keeps_dims && rank != 2) {
        int64_t dims[MAX_SHAPE_DIM_NUM];
        for (int i = 0; i < rank; ++i)
            dims[i] = input->dims[i];
        dims[rank - 1] = given;
        result = emit_reshape(&emit, result, dims, rank);
    }
    return finish_emitting(&emit, 1, result);
}

static struct tensor* emit_adjoint(emitter_t* emit, struct tensor* matrices, int is_adjoint)
{
    if (!is_adjoint || !matrices) return matrices;
    const int rank = matrices->dim_num;
    int64_t order[MAX_SHAPE_DIM_NUM];
    for (int i = 0; i < rank; ++i)
        order[i] = i;
    order[rank - 2] = rank - 1;
    order[rank - 1] = rank - 2;
    return emit_transpose(emit, matrices, order, rank);
}

static int lower_batch_matmul(struct graph* graph, struct node* node)
{
    const struct tfl_batch_matmul_param* param = node->op.param_mem;
    emitter_t emit = start_emitting(graph, node);
    struct tensor *x = get_operand(&emit, 0), *y = get_operand(&emit, 1);
    if (x->dim_num < 2 || y->dim_num < 2)
        return fail_emitting(&emit, TENGINE_EINVAL,
                             "its inputs have rank %d and %d, expected at least 2", x->dim_num,
                             y->dim_num);
    x = emit_adjoint(&emit, x, param->adj_x);
    y = emit_adjoint(&emit, y, param->adj_y);
    return finish_emitting(&emit, 1, emit_op(&emit, "MatMul", 2, x, y));
}

static const ir_method_t* const rows[] = {
    TFLITE_ROW(FULLY_CONNECTED, 9, TFL_COUNTS(2, 3, 1), OP_FIELDS(fully_connected_fields),
               .param_size = sizeof(struct tfl_fully_connected_param),
               .lower = lower_fully_connected),
    TFLITE_ROW(BATCH_MATMUL, 126, TFL_COUNTS(2, 2, 1), OP_FIELDS(batch_matmul_fields),
               .param_size = sizeof(struct tfl_batch_matmul_param), .lower = lower_batch_matmul),
};

OPERATOR_TABLE(tflite_product_ops, rows);
