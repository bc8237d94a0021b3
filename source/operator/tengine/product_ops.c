// SPDX-License-Identifier: Apache-2.0
// Tengine's matrix products: FullyConnected, Gemm, Matmul.
#include <limits.h>

#include "operator/row.h"
#include "operator/tengine/move.h"
#include "operator/tengine/operand.h"

struct tm_fc_param
{
    int num_output;
};

struct tm_gemm_param
{
    float alpha;
    float beta;
    int transA;
    int transB;
};

static const op_field_t fc_fields[] = {
    TM_FIELD(struct tm_fc_param, INT, num_output, WORD, 0, .number = 1),
};

static const op_field_t gemm_fields[] = {
    TM_FIELD(struct tm_gemm_param, FLOAT, alpha, WORD, 0, .number = 1),
    TM_FIELD(struct tm_gemm_param, FLOAT, beta, WORD, 4, .number = 1),
    TM_FIELD(struct tm_gemm_param, INT, transA, WORD, 8, .number = 0),
    TM_FIELD(struct tm_gemm_param, INT, transB, WORD, 12, .number = 0),
};

// ---- FullyConnected ----

// Each image is one vector; the output has the input's rank, its elements along axis 1.
static int lower_fc(struct graph* graph, struct node* node)
{
    const struct tm_fc_param* param = node->op.param_mem;
    struct tensor* input = get_ir_node_input(node, 0);
    emitter_t emit = start_emitting(graph, node);
    require_rank(&emit, 2, 4);
    if (param->num_output < 1)
        fail_emitting(&emit, TENGINE_EINVAL, "num_output is %d, expected at least 1",
                      param->num_output);
    if (emit.status < 0) return emit.status;
    const int rank = input->dim_num;
    const int64_t flat[] = {input->dims[0], multiply_dims(input, 1, rank)};
    const int64_t weight_dims[] = {param->num_output, flat[1]};
    struct tensor* weight = emit_operand(&emit, 1, "weight", weight_dims, 2);
    struct tensor* bias = emit_operand_list(&emit, 2, "bias", param->num_output);
    if (rank > 2) input = emit_reshape(&emit, input, flat, 2);
    begin_op(&emit, "Gemm", bias ? 3 : 2, input, weight, bias);
    emit_attr_int(&emit, "transB", 1);
    struct tensor* output = end_op(&emit);
    const int64_t dims[] = {flat[0], param->num_output, 1, 1};
    if (rank > 2) output = emit_reshape(&emit, output, dims, rank);
    return finish_emitting(&emit, 1, output);
}

// Whether the bias has one value per column.
static bool is_column_bias(const struct tensor* bias, int columns)
{
    return bias->elem_num == columns && (columns == 1 || bias->dims[bias->dim_num - 1] == columns);
}

static bool is_plain_constant(const struct tensor* tensor)
{
    return tensor->tensor_type == TENSOR_TYPE_CONST && tensor->data_type == TENGINE_DT_FP32 &&
           tensor->data && tensor->elem_num <= INT_MAX;
}

// Appends the transpose of a constant matrix.
static struct tensor* emit_transposed(emitter_t* emit, const struct tensor* matrix)
{
    const int rows = matrix->dims[0], columns = matrix->dims[1];
    struct tensor* made = emit_floats(emit, matrix->f32, (int)matrix->elem_num);
    if (!made) return NULL;
    const int dims[] = {columns, rows};
    if (set_ir_tensor_shape(made, dims, 2) < 0) {
        fail_emitting(emit, TENGINE_EINTERNAL, "its weight cannot be transposed");
        return NULL;
    }
    for (int r = 0; r < rows; ++r)
        for (int c = 0; c < columns; ++c)
            made->f32[(int64_t)c * rows + r] = matrix->f32[(int64_t)r * columns + c];
    return made;
}

// Raises a Gemm that only multiplies by weights and adds a bias to FullyConnected; any other
// becomes Tengine's Gemm.
static int raise_fc(struct graph* graph, struct node* node)
{
    struct tensor *weight = get_ir_node_input(node, 1), *bias = get_ir_node_input(node, 2);
    const int columns = get_ir_node_output(node, 0)->dims[1];
    if (get_ir_node_int(node, "transA", 0))
        return refuse_raising(node, "FullyConnected does not transpose its data");
    if (get_ir_node_float(node, "alpha", 1) != 1 ||
        (bias && get_ir_node_float(node, "beta", 1) != 1))
        return refuse_raising(node, "FullyConnected has no alpha or beta");
    if (bias && !is_column_bias(bias, columns))
        return refuse_raising(node, "FullyConnected adds one value per column, '%s' has %lld",
                              bias->name, (long long)bias->elem_num);
    const bool transposed = get_ir_node_int(node, "transB", 0) != 0;
    if (!transposed && !is_plain_constant(weight))
        return refuse_raising(node, "'%s' is not a float constant that could be transposed",
                              weight->name);
    emitter_t emit = start_emitting(graph, node);
    if (!transposed) weight = emit_transposed(&emit, weight);
    begin_op(&emit, "tengine.FullyConnected", bias ? 3 : 2, get_ir_node_input(node, 0), weight,
             bias);
    emit_attr_int(&emit, "num_output", columns);
    return finish_emitting(&emit, 1, end_op(&emit));
}

// ---- Gemm ----

static int lower_gemm(struct graph* graph, struct node* node)
{
    const struct tm_gemm_param* param = node->op.param_mem;
    struct tensor* addend = get_ir_node_input(node, 2);
    emitter_t emit = start_emitting(graph, node);
    begin_op(&emit, "Gemm", addend ? 3 : 2, get_ir_node_input(node, 0), get_ir_node_input(node, 1),
             addend);
    emit_attr_float(&emit, "alpha", param->alpha);
    emit_attr_float(&emit, "beta", param->beta);
    emit_attr_int(&emit, "transA", param->transA != 0);
    emit_attr_int(&emit, "transB", param->transB != 0);
    return finish_emitting(&emit, 1, end_op(&emit));
}

static int raise_gemm(struct graph* graph, struct node* node)
{
    struct tensor* addend = get_ir_node_input(node, 2);
    emitter_t emit = start_emitting(graph, node);
    begin_op(&emit, "tengine.Gemm", addend ? 3 : 2, get_ir_node_input(node, 0),
             get_ir_node_input(node, 1), addend);
    emit_attr_float(&emit, "alpha", get_ir_node_float(node, "alpha", 1));
    emit_attr_float(&emit, "beta", get_ir_node_float(node, "beta", 1));
    emit_attr_int(&emit, "transA", get_ir_node_int(node, "transA", 0));
    emit_attr_int(&emit, "transB", get_ir_node_int(node, "transB", 0));
    return finish_emitting(&emit, 1, end_op(&emit));
}

// ---- Matmul ----

static int lower_matmul(struct graph* graph, struct node* node)
{
    return rewrite_as(graph, node, "MatMul");
}

// Raises the product of all vectors of a stack with one matrix of weights to FullyConnected.
static int raise_matmul_to_fc(struct graph* graph, struct node* node)
{
    struct tensor* input = get_ir_node_input(node, 0);
    const struct tensor* weight = get_ir_node_input(node, 1);
    const int length = weight->dims[0], columns = weight->dims[1];
    emitter_t emit = start_emitting(graph, node);
    const int64_t flat[] = {input->elem_num / length, length};
    struct tensor* rows = raise_to_reshape(&emit, input, flat, 2);
    begin_op(&emit, "tengine.FullyConnected", 2, rows, emit_transposed(&emit, weight));
    emit_attr_int(&emit, "num_output", columns);
    struct tensor* products = end_op(&emit);
    int64_t dims[MAX_SHAPE_DIM_NUM];
    const int rank = read_dims(get_ir_node_output(node, 0), dims);
    return finish_emitting(&emit, 1, raise_to_reshape(&emit, products, dims, rank));
}

// Tengine does not broadcast stacks of matrices.
static int raise_matmul(struct graph* graph, struct node* node)
{
    struct tensor *a = get_ir_node_input(node, 0), *b = get_ir_node_input(node, 1);
    if (a->dim_num > 2 && b->dim_num == 2 && is_plain_constant(b) &&
        get_ir_node_output(node, 0)->elem_num > 0 && a->elem_num > 0)
        return raise_matmul_to_fc(graph, node);
    if (a->dim_num != b->dim_num || a->dim_num < 2 || a->dim_num > 4)
        return refuse_raising(
            node, "Tengine's Matmul needs operands of equal rank, 2 to 4, these have %d and %d",
            a->dim_num, b->dim_num);
    for (int i = 0; i < a->dim_num - 2; ++i)
        if (a->dims[i] != b->dims[i])
            return refuse_raising(node,
                                  "Tengine's Matmul does not broadcast, axis %d has %d and %d", i,
                                  a->dims[i], b->dims[i]);
    return rewrite_as(graph, node, "tengine.Matmul");
}

#define PRODUCT(most_inputs) \
    .min_input = 2, .max_input = most_inputs, .min_output = 1, .max_output = 1, .traits = OP_LEGACY

static const ir_method_t* const rows[] = {
    TENGINE_ROW(FullyConnected, 26, 11, 4, PRODUCT(3), OP_FIELDS(fc_fields),
                .param_size = sizeof(struct tm_fc_param), .lower = lower_fc,
                RAISED("Gemm", raise_fc)),
    TENGINE_ROW(Gemm, 29, 31, 16, PRODUCT(3), OP_FIELDS(gemm_fields),
                .param_size = sizeof(struct tm_gemm_param), .lower = lower_gemm,
                RAISED("Gemm", raise_gemm)),
    TENGINE_ROW(Matmul, 40, 91, 0, PRODUCT(2), .lower = lower_matmul,
                RAISED("MatMul", raise_matmul)),
};

OPERATOR_TABLE(tengine_product_ops, rows);
