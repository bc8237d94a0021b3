// SPDX-License-Identifier: Apache-2.0
// Operators that give the same elements another shape (Reshape, Flatten, Squeeze, Unsqueeze,
// Identity, Dropout, Expand) or return the shape (Shape, Size). Parameters are in shape_param.h.
#include "operator/infer.h"
#include "operator/onnx/shape_param.h"
#include "operator/row.h"
#include "operator/type_set.h"

// ---- Reshape ----

// Replaces zeros by the input's dimensions and computes the dimension given as -1. Fails if the
// result does not have as many elements as the input.
static int resolve_reshape(const struct node* node, int64_t dims[], int rank)
{
    const struct reshape_param* param = node->op.param_mem;
    const struct tensor* data = get_ir_node_input(node, 0);
    int free_axis = -1;
    int64_t known = 1;
    for (int i = 0; i < rank; ++i) {
        if (dims[i] == 0 && !param->allowzero) {
            if (i >= data->dim_num)
                return fail_node(node, TENGINE_EINVAL,
                                 "shape[%d] is 0 (copy), but the input has %d dimensions", i,
                                 data->dim_num);
            dims[i] = data->dims[i];
        }
        if (dims[i] == -1) {
            if (free_axis >= 0)
                return fail_node(node, TENGINE_EINVAL, "shape[%d] and shape[%d] are both -1",
                                 free_axis, i);
            free_axis = i;
        } else if (dims[i] < 0 || __builtin_mul_overflow(known, dims[i], &known)) {
            return fail_node(node, TENGINE_EINVAL, "shape[%d] is %lld", i, (long long)dims[i]);
        }
    }
    if (free_axis >= 0 && known > 0 && data->elem_num % known == 0) {
        dims[free_axis] = data->elem_num / known;
        return TENGINE_OK;
    }
    if (free_axis >= 0 || known != data->elem_num)
        return fail_node(
            node, TENGINE_EINVAL, "%lld elements do not fit a shape of %s%lld elements",
            (long long)data->elem_num, free_axis >= 0 ? "a multiple of " : "", (long long)known);
    return TENGINE_OK;
}

static int infer_reshape(struct node* node)
{
    int64_t dims[MAX_SHAPE_DIM_NUM];
    int rank = 0;
    const int status = read_int_input(node, 1, dims, MAX_SHAPE_DIM_NUM, &rank);
    if (status != TENGINE_OK) return status;
    TENGINE_RETURN_IF_ERROR(resolve_reshape(node, dims, rank));
    return set_node_output(node, 0, get_ir_node_input(node, 0)->data_type, dims, rank);
}

static const op_field_t reshape_fields[] = {
    OP_FIELD(struct reshape_param, INT, allowzero, .maximum = 1, .since = 14),
};

// ---- Flatten, Squeeze, Unsqueeze ----

static int infer_flatten(struct node* node)
{
    const struct flatten_param* param = node->op.param_mem;
    const struct tensor* input = get_ir_node_input(node, 0);
    int axis = input->dim_num;  // the only axis that normalize_axis() refuses
    if (param->axis != input->dim_num)
        TENGINE_RETURN_IF_ERROR(normalize_axis(node, param->axis, input->dim_num, &axis));
    const int64_t dims[] = {multiply_dims(input, 0, axis),
                            multiply_dims(input, axis, input->dim_num)};
    return set_node_output(node, 0, input->data_type, dims, 2);
}

static const op_field_t flatten_fields[] = {
    OP_FIELD(struct flatten_param, INT, axis, .number = 1),
};

// Reads the axes of input 1 as a bit set, for a tensor of `rank` dimensions.
static int read_axes(const struct node* node, int rank, const int64_t axes[], int axis_num,
                     unsigned* out_set)
{
    *out_set = 0;
    for (int i = 0; i < axis_num; ++i) {
        int axis;
        TENGINE_RETURN_IF_ERROR(normalize_axis(node, axes[i], rank, &axis));
        if (*out_set >> axis & 1u)
            return fail_node(node, TENGINE_EINVAL, "axes names axis %d twice", axis);
        *out_set |= 1u << axis;
    }
    return TENGINE_OK;
}

static int infer_squeeze(struct node* node)
{
    const struct tensor* data = get_ir_node_input(node, 0);
    int64_t axes[MAX_SHAPE_DIM_NUM];
    int axis_num = 0;
    const int status = read_int_input(node, 1, axes, MAX_SHAPE_DIM_NUM, &axis_num);
    if (status != TENGINE_OK) return status;
    unsigned squeezed = 0;
    TENGINE_RETURN_IF_ERROR(read_axes(node, data->dim_num, axes, axis_num, &squeezed));

    const bool all = !get_ir_node_input(node, 1);
    int64_t dims[MAX_SHAPE_DIM_NUM];
    int rank = 0;
    for (int i = 0; i < data->dim_num; ++i) {
        const bool named = squeezed >> i & 1u;
        if (named && data->dims[i] != 1)
            return fail_node(node, TENGINE_EINVAL, "axis %d has %d elements, expected 1", i,
                             data->dims[i]);
        if (!named && !(all && data->dims[i] == 1)) dims[rank++] = data->dims[i];
    }
    return set_node_output(node, 0, data->data_type, dims, rank);
}

static int infer_unsqueeze(struct node* node)
{
    const struct tensor* data = get_ir_node_input(node, 0);
    int64_t axes[MAX_SHAPE_DIM_NUM];
    int axis_num = 0;
    const int status = read_int_input(node, 1, axes, MAX_SHAPE_DIM_NUM, &axis_num);
    if (status != TENGINE_OK) return status;
    const int rank = data->dim_num + axis_num;
    if (rank > MAX_SHAPE_DIM_NUM)
        return fail_node(node, TENGINE_ELIMIT, "the output has %d dimensions, expected at most %d",
                         rank, MAX_SHAPE_DIM_NUM);
    unsigned added = 0;
    TENGINE_RETURN_IF_ERROR(read_axes(node, rank, axes, axis_num, &added));

    int64_t dims[MAX_SHAPE_DIM_NUM];
    for (int i = 0, from = 0; i < rank; ++i)
        dims[i] = added >> i & 1u ? 1 : data->dims[from++];
    return set_node_output(node, 0, data->data_type, dims, rank);
}

static const op_field_t squeeze_fields[] = {
    OP_FIELD(struct squeeze_param, INTS, axes, .until = 12, .moved_as = OP_MOVED_INT64,
             .moved_input = 1),
};

// ---- Dropout ----

// In training mode (input 2 is true) a share `ratio` of the elements is dropped
// (device/cpu/reference/signal/random.cc).
static int infer_dropout(struct node* node)
{
    const struct tensor* data = get_ir_node_input(node, 0);
    const struct tensor* training = get_ir_node_input(node, 2);
    TENGINE_RETURN_IF_ERROR(require_type(node, 0, TYPES_NUMBER | TYPE_BIT(BOOL) | TYPES_FLOAT8));
    if (training && training->data_type != TENGINE_DT_BOOL)
        return fail_node(node, TENGINE_EDTYPE, "training_mode is %s, expected bool",
                         get_data_type_name(training->data_type));
    TENGINE_RETURN_IF_ERROR(set_node_output_like(node, 0, data, -1));
    return set_node_output_like(node, 1, data, TENGINE_DT_BOOL);
}

static const op_field_t dropout_fields[] = {
    OP_FIELD(struct dropout_param, FLOAT, ratio, .number = 0.5, .until = 11,
             .moved_as = OP_MOVED_FLOAT, .moved_input = 1),
    OP_FIELD(struct dropout_param, INT, seed, .number = DROPOUT_SEED_ABSENT, .since = 12),
};

// ---- Expand ----

static int infer_expand(struct node* node)
{
    const struct tensor* input = get_ir_node_input(node, 0);
    int64_t dims[MAX_SHAPE_DIM_NUM];
    int rank = 0;
    const int status = read_int_input(node, 1, dims, MAX_SHAPE_DIM_NUM, &rank);
    if (status != TENGINE_OK) return status;
    for (int i = 0; i < rank; ++i)
        if (dims[i] < 0)
            return fail_node(node, TENGINE_EINVAL, "shape[%d] is %lld", i, (long long)dims[i]);
    TENGINE_RETURN_IF_ERROR(broadcast_with(node, dims, &rank, input));
    return set_node_output(node, 0, input->data_type, dims, rank);
}

// ---- Shape, Size ----

static int clamp_to_rank(int64_t position, int rank)
{
    if (position < 0) position += rank;
    if (position < 0) return 0;
    return position > rank ? rank : (int)position;
}

static int infer_shape_of(struct node* node)
{
    const struct shape_param* param = node->op.param_mem;
    const int rank = get_ir_node_input(node, 0)->dim_num;
    const int start = clamp_to_rank(param->start, rank);
    const int end = clamp_to_rank(param->end, rank);
    const int64_t dims[] = {end > start ? end - start : 0};
    return set_node_output(node, 0, TENGINE_DT_INT64, dims, 1);
}

static const op_field_t shape_fields[] = {
    OP_FIELD(struct shape_param, INT, start, .since = 15),
    OP_FIELD(struct shape_param, INT, end, .number = SHAPE_END_ABSENT, .since = 15),
};

static int infer_size(struct node* node)
{
    return set_node_output(node, 0, TENGINE_DT_INT64, NULL, 0);
}

static const ir_method_t* const rows[] = {
    OP_ROW(Reshape, .version = 5, .min_input = 2, .max_input = 2, .min_output = 1, .max_output = 1,
           OP_FIELDS(reshape_fields), .param_size = sizeof(struct reshape_param),
           .traits = OP_TAKES_SMALL | OP_TAKES_STRINGS | OP_TAKES_COMPLEX,
           .infer_shape = infer_reshape),
    OP_ROW(Flatten, .version = 1, .min_input = 1, .max_input = 1, .min_output = 1, .max_output = 1,
           OP_FIELDS(flatten_fields), .param_size = sizeof(struct flatten_param),
           .traits = OP_TAKES_SMALL | OP_TAKES_STRINGS | OP_TAKES_COMPLEX,
           .infer_shape = infer_flatten),
    OP_ROW(Squeeze, .version = 1, .min_input = 1, .max_input = 2, .min_output = 1, .max_output = 1,
           OP_FIELDS(squeeze_fields), .param_size = sizeof(struct squeeze_param),
           .traits = OP_TAKES_SMALL | OP_TAKES_STRINGS | OP_TAKES_COMPLEX,
           .infer_shape = infer_squeeze),
    OP_ROW(Unsqueeze, .version = 1, .min_input = 2, .max_input = 2, .min_output = 1,
           .max_output = 1, OP_FIELDS(squeeze_fields), .param_size = sizeof(struct squeeze_param),
           .traits = OP_TAKES_SMALL | OP_TAKES_STRINGS | OP_TAKES_COMPLEX,
           .infer_shape = infer_unsqueeze),
    OP_ROW(Identity, .version = 1, .min_input = 1, .max_input = 1, .min_output = 1, .max_output = 1,
           .traits = OP_TAKES_SMALL | OP_TAKES_STRINGS | OP_TAKES_COMPLEX | OP_TAKES_VALUES),
    OP_ROW(Dropout, .version = 7, .min_input = 1, .max_input = 3, .min_output = 1, .max_output = 2,
           OP_FIELDS(dropout_fields), .param_size = sizeof(struct dropout_param),
           .traits = OP_TAKES_SMALL, .infer_shape = infer_dropout, .types = "0 bool"),
    OP_ROW(Expand, .version = 8, .min_input = 2, .max_input = 2, .min_output = 1, .max_output = 1,
           .traits = OP_TAKES_STRINGS | OP_TAKES_COMPLEX, .infer_shape = infer_expand),
    OP_ROW(Shape, .version = 1, .min_input = 1, .max_input = 1, .min_output = 1, .max_output = 1,
           OP_FIELDS(shape_fields), .param_size = sizeof(struct shape_param),
           .traits = OP_SHAPE_ONLY | OP_TAKES_SMALL | OP_TAKES_STRINGS | OP_TAKES_COMPLEX,
           .infer_shape = infer_shape_of, .types = "int64"),
    OP_ROW(Size, .version = 1, .min_input = 1, .max_input = 1, .min_output = 1, .max_output = 1,
           .traits = OP_SHAPE_ONLY | OP_TAKES_SMALL | OP_TAKES_STRINGS | OP_TAKES_COMPLEX,
           .infer_shape = infer_size, .types = "int64"),
};

OPERATOR_TABLE(shape_ops, rows);
