// SPDX-License-Identifier: Apache-2.0
// Tengine's operators that pick or place elements by indices: Gather, Scatter, Embedding,
// SparseToDense.
#include <limits.h>

#include "operator/row.h"
#include "operator/tengine/move.h"
#include "operator/tengine/raise.h"

struct tm_gather_param
{
    int axis;
    int indices_num;  // how many; with is_onnx, the single index
    int is_onnx;
};

struct tm_scatter_param
{
    int axis;
    int is_onnx;
};

struct tm_embedding_param
{
    int num_output;
    int input_dim;
    int bias_term;
    int weight_data_size;
};

struct tm_sparse_to_dense_param
{
    int output_shape_size0;
    int output_shape_size1;
    int default_value;
};

static const op_field_t gather_fields[] = {
    TM_FIELD(struct tm_gather_param, INT, axis, WORD, 0, .number = 0),
    TM_FIELD(struct tm_gather_param, INT, indices_num, WORD, 4, .number = 0),
    TM_FIELD(struct tm_gather_param, INT, is_onnx, BYTE, 8, .number = 0),
};

static const op_field_t scatter_fields[] = {
    TM_FIELD(struct tm_scatter_param, INT, axis, WORD, 0, .number = -1),
    TM_FIELD(struct tm_scatter_param, INT, is_onnx, BYTE, 4, .number = 0),
};

static const op_field_t embedding_fields[] = {
    TM_FIELD(struct tm_embedding_param, INT, num_output, WORD, 0, .number = 0),
    TM_FIELD(struct tm_embedding_param, INT, input_dim, WORD, 4, .number = 0),
    TM_FIELD(struct tm_embedding_param, INT, bias_term, WORD, 8, .number = 0),
    TM_FIELD(struct tm_embedding_param, INT, weight_data_size, WORD, 12, .number = 0),
};

static const op_field_t sparse_to_dense_fields[] = {
    TM_FIELD(struct tm_sparse_to_dense_param, INT, output_shape_size0, WORD, 0, .number = 1),
    TM_FIELD(struct tm_sparse_to_dense_param, INT, output_shape_size1, WORD, 4, .number = 0),
    TM_FIELD(struct tm_sparse_to_dense_param, INT, default_value, WORD, 8, .number = 0),
};

static struct tensor* emit_gather(emitter_t* emit, struct tensor* data, struct tensor* indices,
                                  int axis)
{
    begin_op(emit, "Gather", 2, data, indices);
    emit_attr_int(emit, "axis", axis);
    return end_op(emit);
}

// ---- Gather ----

// TensorFlow's flavour uses the first indices_num indices, whatever their shape.
static struct tensor* emit_counted_indices(emitter_t* emit, struct tensor* indices)
{
    const struct tm_gather_param* param = emit->origin->op.param_mem;
    const int64_t whole = indices->elem_num;
    const int64_t num = param->indices_num == 0 ? whole : param->indices_num;
    if (num < 0 || num > whole) {
        fail_emitting(emit, TENGINE_ERANGE, "indices_num is %lld, input 1 holds %lld indices",
                      (long long)num, (long long)whole);
        return NULL;
    }
    const struct axis_cut cut = {.axis = 0, .begin = 0, .end = num, .step = 1};
    struct tensor* list = emit_reshape(emit, emit_indices(emit, indices), &whole, 1);
    return emit_cuts(emit, list, &cut, num < whole ? 1 : 0);
}

// ONNX's flavour. Files have no scalars: a single index of axis 0 that is also in the parameter was
// a scalar, so the axis is removed.
static struct tensor* emit_onnx_indices(emitter_t* emit, struct tensor* indices, int axis)
{
    const struct tm_gather_param* param = emit->origin->op.param_mem;
    if (!indices) return emit_int(emit, param->indices_num);
    const bool single = indices->elem_num == 1 && indices->dim_num == 1;
    indices = emit_indices(emit, indices);
    return single && axis == 0 && param->indices_num != 0 ? emit_reshape(emit, indices, NULL, 0)
                                                          : indices;
}

static int lower_gather(struct graph* graph, struct node* node)
{
    const struct tm_gather_param* param = node->op.param_mem;
    struct tensor* data = get_ir_node_input(node, 0);
    struct tensor* indices = get_ir_node_input(node, 1);
    if (!indices && !param->is_onnx)
        return fail_node(node, TENGINE_EINVAL, "its indices (input 1) are missing");
    int axis;
    TENGINE_RETURN_IF_ERROR(normalize_axis(node, param->axis, data->dim_num, &axis));
    emitter_t emit = start_emitting(graph, node);
    struct tensor* places = param->is_onnx ? emit_onnx_indices(&emit, indices, axis)
                                           : emit_counted_indices(&emit, indices);
    return finish_emitting(&emit, 1, emit_gather(&emit, data, places, axis));
}

static struct tensor* raise_counted(emitter_t* emit, struct tensor* data, struct tensor* indices,
                                    int axis, int64_t num)
{
    begin_op(emit, "tengine.Gather", 2, data, indices);
    emit_attr_int(emit, "axis", axis);
    emit_attr_int(emit, "indices_num", num);
    return end_op(emit);
}

// Tengine Lite computes TensorFlow's flavour of four dimensions with a list of indices; all others
// are reshaped to that, with the axis as the second of four.
static int raise_gather(struct graph* graph, struct node* node)
{
    struct tensor* data = get_ir_node_input(node, 0);
    const struct tensor* indices = get_ir_node_input(node, 1);
    const struct tensor* output = get_ir_node_output(node, 0);
    int axis;
    TENGINE_RETURN_IF_ERROR(
        normalize_axis(node, get_ir_node_int(node, "axis", 0), data->dim_num, &axis));
    if (!indices->shape_set || indices->elem_num == 0 || data->elem_num == 0)
        return refuse_raising(node, "it has no elements");
    if (indices->elem_num > INT_MAX) return refuse_raising(node, "it has too many indices");
    const int64_t num = indices->elem_num;
    int64_t dims[MAX_SHAPE_DIM_NUM];
    const int rank = read_dims(output, dims);
    if (rank == 0) return refuse_raising(node, "its output is a scalar");
    emitter_t emit = start_emitting(graph, node);
    struct tensor* places = emit_narrowed(&emit, get_ir_node_input(node, 1), data->dims[axis]);
    if (data->dim_num == 4 && indices->dim_num == 1)
        return finish_emitting(&emit, 1, raise_counted(&emit, data, places, axis, num));
    const int64_t four[] = {multiply_dims(data, 0, axis), data->dims[axis],
                            multiply_dims(data, axis + 1, data->dim_num), 1};
    struct tensor* picked =
        raise_counted(&emit, raise_to_reshape(&emit, data, four, 4), places, 1, num);
    return finish_emitting(&emit, 1, raise_to_reshape(&emit, picked, dims, rank));
}

// ---- Scatter ----

// One index for each update is ONNX's ScatterElements; one for several updates is ScatterND, which
// has no axis.
static int lower_scatter(struct graph* graph, struct node* node)
{
    const struct tm_scatter_param* param = node->op.param_mem;
    struct tensor* data = get_ir_node_input(node, 0);
    struct tensor* indices = get_ir_node_input(node, 1);
    struct tensor* updates = get_ir_node_input(node, 2);
    int axis;
    TENGINE_RETURN_IF_ERROR(normalize_axis(node, param->axis, data->dim_num, &axis));
    emitter_t emit = start_emitting(graph, node);
    const bool single = have_same_shape(indices, updates);
    if (!single && param->axis != -1)
        return fail_node(node, TENGINE_EINVAL,
                         "axis is %d, but indices and updates have different shapes", param->axis);
    indices = emit_indices(&emit, indices);
    begin_op(&emit, single ? "ScatterElements" : "ScatterND", 3, data, indices, updates);
    if (single) emit_attr_int(&emit, "axis", axis);
    return finish_emitting(&emit, 1, end_op(&emit));
}

static int raise_scatter(struct graph* graph, struct node* node)
{
    struct tensor* data = get_ir_node_input(node, 0);
    const char* reduction = get_ir_node_text(node, "reduction", "none");
    if (reduction[0] != 'n')
        return refuse_raising(node, "its reduction is '%s', not 'none'", reduction);
    int axis;
    TENGINE_RETURN_IF_ERROR(
        normalize_axis(node, get_ir_node_int(node, "axis", 0), data->dim_num, &axis));
    emitter_t emit = start_emitting(graph, node);
    struct tensor* indices = emit_narrowed(&emit, get_ir_node_input(node, 1), data->dims[axis]);
    begin_op(&emit, "tengine.Scatter", 3, data, indices, get_ir_node_input(node, 2));
    emit_attr_int(&emit, "axis", axis);
    emit_attr_int(&emit, "is_onnx", 1);
    return finish_emitting(&emit, 1, end_op(&emit));
}

// ---- Embedding ----

// Words outside the table are clamped to its first or last.
static struct tensor* emit_words(emitter_t* emit, struct tensor* input, int64_t table_size)
{
    const int64_t num = input->elem_num;
    struct tensor* words = emit_reshape(emit, emit_indices(emit, input), &num, 1);
    words = emit_op(emit, "Max", 2, words, emit_int(emit, 0));
    return emit_op(emit, "Min", 2, words, emit_int(emit, table_size - 1));
}

static int lower_embedding(struct graph* graph, struct node* node)
{
    const struct tm_embedding_param* param = node->op.param_mem;
    struct tensor* weight = get_ir_node_input(node, 1);
    const int64_t table[] = {param->input_dim, param->num_output};
    int64_t size;
    if (table[0] < 1 || table[1] < 1 || __builtin_mul_overflow(table[0], table[1], &size) ||
        size != weight->elem_num)
        return fail_node(node, TENGINE_EINVAL,
                         "input_dim is %d and num_output %d, the weight has %lld elements",
                         param->input_dim, param->num_output, (long long)weight->elem_num);
    emitter_t emit = start_emitting(graph, node);
    struct tensor* words = emit_words(&emit, get_ir_node_input(node, 0), table[0]);
    struct tensor* result = emit_gather(&emit, emit_reshape(&emit, weight, table, 2), words, 0);
    struct tensor* bias = get_ir_node_input(node, 2);
    if (!param->bias_term || !bias) return finish_emitting(&emit, 1, result);
    if (bias->elem_num != table[1])
        return fail_node(node, TENGINE_EINVAL, "num_output is %d, the bias has %lld elements",
                         param->num_output, (long long)bias->elem_num);
    bias = emit_reshape(&emit, bias, &table[1], 1);
    if (bias && bias->data_type != weight->data_type)
        bias = emit_cast(&emit, bias, weight->data_type);
    return finish_emitting(&emit, 1, emit_op(&emit, "Add", 2, result, bias));
}

// ---- SparseToDense ----

// The output is a matrix when the indices are pairs, else a list.
static int find_dense_shape(const struct node* node, int64_t out_dims[2], int* out_num)
{
    const struct tm_sparse_to_dense_param* param = node->op.param_mem;
    const struct tensor* indices = get_ir_node_input(node, 0);
    const bool matrix = indices->dim_num == 2 && param->output_shape_size1 != 0;
    out_dims[0] = param->output_shape_size0;
    out_dims[1] = param->output_shape_size1;
    *out_num = matrix ? 2 : 1;
    if (indices->dim_num > 2 || (indices->dim_num == 2 && indices->dims[1] != *out_num))
        return fail_node(
            node, TENGINE_EINVAL,
            "its indices have %d dimensions, the last of %d, expected a list or rows of %d",
            indices->dim_num, indices->dims[indices->dim_num - 1], *out_num);
    for (int i = 0; i < *out_num; ++i)
        if (out_dims[i] < 1)
            return fail_node(node, TENGINE_ERANGE,
                             "output_shape_size%d is %lld, expected a positive number", i,
                             (long long)out_dims[i]);
    return TENGINE_OK;
}

static struct tensor* emit_float32(emitter_t* emit, struct tensor* input)
{
    return input->data_type == TENGINE_DT_FP32 ? input : emit_cast(emit, input, TENGINE_DT_FP32);
}

// Values become floats, as in Tengine Lite. One value may go to all places.
static int lower_sparse_to_dense(struct graph* graph, struct node* node)
{
    const struct tm_sparse_to_dense_param* param = node->op.param_mem;
    const struct tensor* indices = get_ir_node_input(node, 0);
    const struct tensor* values = get_ir_node_input(node, 2);
    int64_t dims[2];
    int rank;
    TENGINE_RETURN_IF_ERROR(find_dense_shape(node, dims, &rank));
    const int64_t rows[] = {indices->elem_num / rank, rank};
    if (values->elem_num != 1 && values->elem_num != rows[0])
        return fail_node(node, TENGINE_EINVAL, "%lld values for %lld places",
                         (long long)values->elem_num, (long long)rows[0]);
    emitter_t emit = start_emitting(graph, node);
    struct tensor* places = emit_indices(&emit, get_ir_node_input(node, 0));
    struct tensor* updates = emit_float32(&emit, get_ir_node_input(node, 2));
    updates = emit_reshape(&emit, updates, &values->elem_num, 1);
    if (values->elem_num != rows[0])
        updates = emit_op(&emit, "Expand", 2, updates, emit_ints(&emit, rows, 1));
    struct tensor* dense =
        emit_op(&emit, "Expand", 2, emit_float(&emit, (float)param->default_value),
                emit_ints(&emit, dims, rank));
    return finish_emitting(
        &emit, 1,
        emit_op(&emit, "ScatterND", 3, dense, emit_reshape(&emit, places, rows, 2), updates));
}

#define ONE_OUTPUT .min_output = 1, .max_output = 1, .traits = OP_LEGACY

static const ir_method_t* const rows[] = {
    TENGINE_ROW(Embedding, 24, 65, 16, .min_input = 2, .max_input = 3, ONE_OUTPUT,
                OP_FIELDS(embedding_fields), .param_size = sizeof(struct tm_embedding_param),
                .lower = lower_embedding),
    TENGINE_ROW(Gather, 28, 76, 12, .min_input = 1, .max_input = 2, ONE_OUTPUT,
                OP_FIELDS(gather_fields), .param_size = sizeof(struct tm_gather_param),
                .lower = lower_gather, RAISED("Gather", raise_gather)),
    TENGINE_ROW(Scatter, 96, 93, 8, .min_input = 3, .max_input = 3, ONE_OUTPUT,
                OP_FIELDS(scatter_fields), .param_size = sizeof(struct tm_scatter_param),
                .lower = lower_scatter, RAISED("ScatterElements", raise_scatter)),
    TENGINE_ROW(SparseToDense, 75, 82, 12, .min_input = 3, .max_input = 3, ONE_OUTPUT,
                OP_FIELDS(sparse_to_dense_fields),
                .param_size = sizeof(struct tm_sparse_to_dense_param),
                .lower = lower_sparse_to_dense),
};

OPERATOR_TABLE(tengine_gather_ops, rows);
