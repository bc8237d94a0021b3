// SPDX-License-Identifier: Apache-2.0
// Tengine's operators that change the shape of elements, return a shape or repeat elements to fill
// one: Flatten, Reshape, Squeeze, Unsqueeze, Expanddims, Shape, Expand, Tile.
#include <string.h>

#include "operator/row.h"
#include "operator/tengine/move.h"
#include "operator/tengine/operand.h"
#include "operator/tengine/raise.h"

struct tm_flatten_param
{
    int axis;
    int end_axis;  // the last of the axes that are merged
};

struct tm_reshape_param
{
    struct op_ints re_shape;
    int reverse;
    int is_mxnet;
    int is_onnx;
    int dim_size;
};

struct tm_squeeze_param
{
    int dim_0;
    int dim_1;
    int dim_2;
    int dim_3;
};

struct tm_unsqueeze_param
{
    struct op_ints axises;
    int axises_size;
};

struct tm_expanddims_param
{
    int axis;
};

struct tm_expand_param
{
    struct op_ints ex_shape;
    int dim_num;
};

struct tm_tile_param
{
    int frame_flag;
    struct op_ints reps;
    int reps_size;
};

static const op_field_t flatten_fields[] = {
    TM_FIELD(struct tm_flatten_param, INT, axis, WORD, 0, .number = 1),
    TM_FIELD(struct tm_flatten_param, INT, end_axis, WORD, 4, .number = 3),
};

static const op_field_t reshape_fields[] = {
    TM_FIELD(struct tm_reshape_param, INTS, re_shape, OFFSET, 8, .length = "dim_size"),
    TM_FIELD(struct tm_reshape_param, INT, reverse, WORD, 4, .number = 0),
    TM_FIELD(struct tm_reshape_param, INT, is_mxnet, WORD, 0, .number = 0),
    TM_FIELD(struct tm_reshape_param, INT, is_onnx, WORD, 12, .number = 0),
    OP_FIELD(struct tm_reshape_param, INT, dim_size, .number = 0),
};

static const op_field_t squeeze_fields[] = {
    TM_FIELD(struct tm_squeeze_param, INT, dim_0, WORD, 0, .number = -2),
    TM_FIELD(struct tm_squeeze_param, INT, dim_1, WORD, 4, .number = -2),
    TM_FIELD(struct tm_squeeze_param, INT, dim_2, WORD, 8, .number = -2),
    TM_FIELD(struct tm_squeeze_param, INT, dim_3, WORD, 12, .number = -2),
};

static const op_field_t unsqueeze_fields[] = {
    TM_FIELD(struct tm_unsqueeze_param, INTS, axises, OFFSET, 0, .length = "axises_size"),
    OP_FIELD(struct tm_unsqueeze_param, INT, axises_size, .number = 1),
};

static const op_field_t expanddims_fields[] = {
    TM_FIELD(struct tm_expanddims_param, INT, axis, WORD, 0, .number = 0),
};

static const op_field_t expand_fields[] = {
    TM_FIELD(struct tm_expand_param, INTS, ex_shape, OFFSET, 0, .length = "dim_num"),
    TM_FIELD(struct tm_expand_param, INT, dim_num, WORD, 4, .number = 0),
};

static const op_field_t tile_fields[] = {
    TM_FIELD(struct tm_tile_param, INT, frame_flag, WORD, 0, .number = 0),
    TM_FIELD(struct tm_tile_param, INTS, reps, OFFSET, 8, .length = "reps_size"),
    TM_FIELD(struct tm_tile_param, INT, reps_size, WORD, 4, .number = 0),
};

// ---- Flatten ----

static int lower_flatten(struct graph* graph, struct node* node)
{
    const struct tm_flatten_param* param = node->op.param_mem;
    struct tensor* input = get_ir_node_input(node, 0);
    emitter_t emit = start_emitting(graph, node);
    require_rank(&emit, 1, MAX_SHAPE_DIM_NUM);
    if (emit.status < 0) return emit.status;
    const int rank = input->dim_num;
    const int axis = param->axis < 0 ? param->axis + rank : param->axis;
    int last = param->end_axis < 0 ? param->end_axis + rank : param->end_axis;
    if (last >= rank) last = rank - 1;
    if (axis < 0 || last < 0)
        return fail_node(node, TENGINE_ERANGE, "axis %d to %d of an input with %d dimensions",
                         param->axis, param->end_axis, rank);
    const int64_t inner = axis <= last ? multiply_dims(input, axis, last + 1) : 1;
    const int64_t dims[] = {input->dims[0], inner};
    if (dims[0] * inner != input->elem_num)
        return fail_node(node, TENGINE_EINVAL,
                         "dimension 0 and axes %d to %d hold %lld x %lld of %lld elements; all the "
                         "others must be 1",
                         axis, last, (long long)dims[0], (long long)inner,
                         (long long)input->elem_num);
    return finish_emitting(&emit, 1, emit_reshape(&emit, input, dims, 2));
}

static int raise_flatten(struct graph* graph, struct node* node)
{
    struct tensor* input = get_ir_node_input(node, 0);
    if (get_ir_node_int(node, "axis", 1) != 1 || input->dim_num == 0)
        return raise_as_reshape(graph, node);
    emitter_t emit = start_emitting(graph, node);
    begin_op(&emit, "tengine.Flatten", 1, input);
    emit_attr_int(&emit, "axis", 1);
    emit_attr_int(&emit, "end_axis", input->dim_num - 1);
    return finish_emitting(&emit, 1, end_op(&emit));
}

// ---- Reshape ----

// The new shape while its list is read from left to right.
struct new_shape
{
    const struct node* node;
    const int64_t* given;  // the input's dimensions
    int given_num;
    int taken;  // input dimensions read so far
    int64_t dims[MAX_SHAPE_DIM_NUM];
    int num;
    int inferred;  // index of the −1; −1: there is none
};

static int push_dim(struct new_shape* shape, int64_t dim)
{
    if (shape->num == MAX_SHAPE_DIM_NUM)
        return fail_node(shape->node, TENGINE_ERANGE, "re_shape makes more than %d dimensions",
                         MAX_SHAPE_DIM_NUM);
    if (dim < -1)
        return fail_node(shape->node, TENGINE_ERANGE,
                         "re_shape has %lld, expected a size or -4 to 0", (long long)dim);
    if (dim == -1) {
        if (shape->inferred >= 0)
            return fail_node(shape->node, TENGINE_EINVAL,
                             "re_shape leaves dimensions %d and %d open, expected at most one",
                             shape->inferred, shape->num);
        shape->inferred = shape->num;
    }
    shape->dims[shape->num++] = dim;
    return TENGINE_OK;
}

static int take_dim(struct new_shape* shape, int64_t* out_dim)
{
    if (shape->taken >= shape->given_num)
        return fail_node(shape->node, TENGINE_EINVAL,
                         "re_shape refers to dimension %d of an input with %d", shape->taken,
                         shape->given_num);
    *out_dim = shape->given[shape->taken++];
    return TENGINE_OK;
}

static int push_same(struct new_shape* shape)
{
    int64_t dim = 0;
    TENGINE_RETURN_IF_ERROR(take_dim(shape, &dim));
    return push_dim(shape, dim);
}

static int push_rest(struct new_shape* shape)
{
    while (shape->taken < shape->given_num)
        TENGINE_RETURN_IF_ERROR(push_dim(shape, shape->given[shape->taken++]));
    return TENGINE_OK;
}

static int push_merged(struct new_shape* shape)
{
    int64_t first = 0, second = 0, merged = 0;
    TENGINE_RETURN_IF_ERROR(take_dim(shape, &first));
    TENGINE_RETURN_IF_ERROR(take_dim(shape, &second));
    if (__builtin_mul_overflow(first, second, &merged))
        return fail_node(shape->node, TENGINE_ERANGE, "re_shape merges %lld and %lld",
                         (long long)first, (long long)second);
    return push_dim(shape, merged);
}

// One of the two parts may be −1.
static int push_parts(struct new_shape* shape, int64_t first, int64_t second)
{
    int64_t whole = 0;
    TENGINE_RETURN_IF_ERROR(take_dim(shape, &whole));
    if (first == -1 && second > 0) first = whole / second;
    if (second == -1 && first > 0) second = whole / first;
    int64_t both = 0;
    if (first < 0 || second < 0 || __builtin_mul_overflow(first, second, &both) || both != whole)
        return fail_node(shape->node, TENGINE_EINVAL,
                         "re_shape splits a dimension of %lld in %lld and %lld", (long long)whole,
                         (long long)first, (long long)second);
    TENGINE_RETURN_IF_ERROR(push_dim(shape, first));
    return push_dim(shape, second);
}

// Reads mxnet's special values: 0 copies the input's dimension, −2 all dimensions that are left of
// the input, −3 merges two dimensions, −4 splits one into the two that follow.
static int read_new_shape(struct new_shape* shape, const int64_t values[], int num)
{
    for (int i = 0; i < num; ++i) {
        int status;
        if (values[i] == 0) {
            status = push_same(shape);
        } else if (values[i] == -2) {
            status = push_rest(shape);
        } else if (values[i] == -3) {
            status = push_merged(shape);
        } else if (values[i] == -4) {
            if (num - i < 3)
                return fail_node(shape->node, TENGINE_EINVAL,
                                 "re_shape ends %d values after -4, which takes two", num - i - 1);
            status = push_parts(shape, values[i + 1], values[i + 2]);
            i += 2;
        } else {
            ++shape->taken;
            status = push_dim(shape, values[i]);
        }
        TENGINE_RETURN_IF_ERROR(status);
    }
    return TENGINE_OK;
}

// Computes the dimension that is −1.
static int close_shape(struct new_shape* shape, int64_t elem_num)
{
    int64_t product = 1;
    bool fits = true;
    for (int i = 0; fits && i < shape->num; ++i)
        fits = i == shape->inferred || !__builtin_mul_overflow(product, shape->dims[i], &product);
    if (shape->inferred >= 0) {
        fits = fits && product > 0 && elem_num % product == 0;
        if (fits) shape->dims[shape->inferred] = elem_num / product;
    } else {
        fits = fits && product == elem_num;
    }
    if (fits) return TENGINE_OK;
    return fail_node(shape->node, TENGINE_EINVAL, "%lld elements do not fit a shape of %lld%s",
                     (long long)elem_num, (long long)product,
                     shape->inferred >= 0 ? " times a whole number" : "");
}

static void reverse_list(int64_t values[], int num)
{
    for (int i = 0; i < num / 2; ++i) {
        const int64_t kept = values[i];
        values[i] = values[num - 1 - i];
        values[num - 1 - i] = kept;
    }
}

#define MAX_RESHAPE_VALUES (3 * MAX_SHAPE_DIM_NUM)

static int resolve_reshape(struct new_shape* shape)
{
    const struct tm_reshape_param* param = shape->node->op.param_mem;
    const struct tensor* input = get_ir_node_input(shape->node, 0);
    const int num = param->re_shape.num;
    int64_t values[MAX_RESHAPE_VALUES];
    int64_t given[MAX_SHAPE_DIM_NUM];
    if (num == 0 || num > MAX_RESHAPE_VALUES)
        return fail_node(shape->node, TENGINE_EINVAL, "re_shape has %d values, expected 1 to %d",
                         num, MAX_RESHAPE_VALUES);
    memcpy(values, param->re_shape.values, sizeof *values * (size_t)num);
    shape->given = given;
    shape->given_num = read_dims(input, given);
    shape->inferred = -1;
    if (param->reverse) {
        reverse_list(values, num);
        reverse_list(given, shape->given_num);
    }
    TENGINE_RETURN_IF_ERROR(read_new_shape(shape, values, num));
    TENGINE_RETURN_IF_ERROR(close_shape(shape, input->elem_num));
    if (param->reverse) reverse_list(shape->dims, shape->num);
    return TENGINE_OK;
}

// In a model that was NHWC, elements keep the order they had there: rank 4 goes by NHWC, and a
// result of rank 3 was N, W, C.
static struct tensor* emit_reshape_nhwc(emitter_t* emit, struct tensor* input, const int64_t dims[],
                                        int num)
{
    static const int64_t to_nhwc[] = {0, 2, 3, 1};
    static const int64_t to_nchw[] = {0, 3, 1, 2};
    static const int64_t to_ncw[] = {0, 2, 1};
    input = emit_transpose(emit, input, to_nhwc, 4);
    if (num == 2) return emit_reshape(emit, input, dims, 2);
    if (num == 3) {
        const int64_t nwc[] = {dims[0], dims[2], dims[1]};
        return emit_transpose(emit, emit_reshape(emit, input, nwc, 3), to_ncw, 3);
    }
    const int64_t nhwc[] = {dims[0], dims[2], dims[3], dims[1]};
    return emit_transpose(emit, emit_reshape(emit, input, nhwc, 4), to_nchw, 4);
}

static int lower_reshape(struct graph* graph, struct node* node)
{
    struct tensor* input = get_ir_node_input(node, 0);
    struct new_shape shape = {.node = node};
    TENGINE_RETURN_IF_ERROR(resolve_reshape(&shape));
    emitter_t emit = start_emitting(graph, node);
    const bool reorders = graph->model_layout == TENGINE_LAYOUT_NHWC && input->dim_num == 4 &&
                          shape.num >= 2 && shape.num <= 4;
    return finish_emitting(&emit, 1,
                           reorders ? emit_reshape_nhwc(&emit, input, shape.dims, shape.num)
                                    : emit_reshape(&emit, input, shape.dims, shape.num));
}

static int raise_reshape(struct graph* graph, struct node* node)
{
    int64_t dims[MAX_SHAPE_DIM_NUM];
    const int num = read_raised_ints(node, 1, dims, MAX_SHAPE_DIM_NUM);
    if (num < 0) return refuse_raising(node, "its shape is not a constant");
    if (num == 0) return refuse_raising(node, "its output is a scalar");
    const bool zeros_are_sizes = get_ir_node_int(node, "allowzero", 0) != 0;
    for (int i = 0; i < num; ++i)
        if (dims[i] == 0 && zeros_are_sizes)
            return refuse_raising(node, "its output has no elements");
    emitter_t emit = start_emitting(graph, node);
    return finish_emitting(&emit, 1,
                           raise_to_reshape(&emit, get_ir_node_input(node, 0), dims, num));
}

// ---- Squeeze ----

// Tengine names axes as NHWC has them, also in models that never were NHWC.
static const int nchw_axis[] = {0, 2, 3, 1};

static int lower_squeeze(struct graph* graph, struct node* node)
{
    const struct tm_squeeze_param* param = node->op.param_mem;
    struct tensor* input = get_ir_node_input(node, 0);
    const int rank = input->dim_num;
    const int named[] = {param->dim_0, param->dim_1, param->dim_2, param->dim_3};
    unsigned chosen = 0;
    bool all = true;
    for (int i = 0; i < 4; ++i) {
        if (named[i] == -2) continue;
        all = false;
        int axis;
        TENGINE_RETURN_IF_ERROR(normalize_axis(node, named[i], rank > 4 ? rank : 4, &axis));
        if (named[i] < 0) axis = rank + named[i];
        if (graph->graph_layout == TENGINE_LAYOUT_NCHW && axis >= 0 && axis < 4)
            axis = nchw_axis[axis];
        if (axis >= 0) chosen |= 1u << axis;
    }
    int64_t dims[MAX_SHAPE_DIM_NUM];
    int num = 0;
    for (int i = 0; i < rank; ++i)
        if (input->dims[i] != 1 || !(all || chosen >> i & 1u)) dims[num++] = input->dims[i];
    emitter_t emit = start_emitting(graph, node);
    return finish_emitting(&emit, 1, emit_reshape(&emit, input, dims, num));
}

static int raise_squeeze(struct graph* graph, struct node* node)
{
    static const char* const names[] = {"dim_0", "dim_1", "dim_2", "dim_3"};
    static const int nhwc_axis[] = {0, 3, 1, 2};
    const struct tensor* input = get_ir_node_input(node, 0);
    const struct tensor* output = get_ir_node_output(node, 0);
    bool places[MAX_SHAPE_DIM_NUM] = {false};
    int64_t axes[MAX_SHAPE_DIM_NUM];
    int num = 0;
    if (get_ir_node_input(node, 1)) {
        num = read_raised_ints(node, 1, axes, MAX_SHAPE_DIM_NUM);
        if (num < 0) return refuse_raising(node, "its axes are not constants");
        // Without an axis, Tengine's Squeeze removes all dimensions of 1.
        if (num == 0) return raise_as_reshape(graph, node);
    }
    if (output->dim_num == 0) return refuse_raising(node, "its output is a scalar");
    for (int i = 0; i < num; ++i) {
        if (axes[i] < 0) axes[i] += input->dim_num;
        places[axes[i]] = true;
        if (axes[i] > 3) return raise_as_reshape(graph, node);
    }
    emitter_t emit = start_emitting(graph, node);
    begin_op(&emit, "tengine.Squeeze", 1, get_ir_node_input(node, 0));
    for (int i = 0; i < 4; ++i)
        if (places[i]) emit_attr_int(&emit, names[i], nhwc_axis[i]);
    return finish_emitting(&emit, 1, end_op(&emit));
}

// ---- Unsqueeze, Expanddims ----

// `places` are the indices of the new dimensions in the output.
static int lower_to_longer(struct graph* graph, struct node* node, const int64_t places[], int num)
{
    struct tensor* input = get_ir_node_input(node, 0);
    const int rank = input->dim_num + num;
    if (rank > MAX_SHAPE_DIM_NUM)
        return fail_node(node, TENGINE_ERANGE,
                         "%d more dimensions for an input with %d, expected at most %d in all", num,
                         input->dim_num, MAX_SHAPE_DIM_NUM);
    unsigned added = 0;
    for (int i = 0; i < num; ++i) {
        if (places[i] < 0 || places[i] >= rank || added >> places[i] & 1u)
            return fail_node(node, TENGINE_ERANGE,
                             "new axis %lld of an output with %d dimensions, expected each of 0 to "
                             "%d at most once",
                             (long long)places[i], rank, rank - 1);
        added |= 1u << places[i];
    }
    int64_t dims[MAX_SHAPE_DIM_NUM];
    for (int i = 0, from = 0; i < rank; ++i)
        dims[i] = added >> i & 1u ? 1 : input->dims[from++];
    emitter_t emit = start_emitting(graph, node);
    return finish_emitting(&emit, 1, emit_reshape(&emit, input, dims, rank));
}

// A single negative axis counts from the end of the input, as in Tengine; several count from the
// end of the output, as in ONNX.
static int lower_unsqueeze(struct graph* graph, struct node* node)
{
    const struct tm_unsqueeze_param* param = node->op.param_mem;
    const int rank = get_ir_node_input(node, 0)->dim_num;
    const int num = param->axises.num;
    int64_t places[MAX_SHAPE_DIM_NUM];
    if (num == 0 || num > MAX_SHAPE_DIM_NUM)
        return fail_node(node, TENGINE_EINVAL, "axises has %d values, expected 1 to %d", num,
                         MAX_SHAPE_DIM_NUM);
    for (int i = 0; i < num; ++i) {
        places[i] = param->axises.values[i];
        if (places[i] < 0) places[i] += num == 1 ? rank : rank + num;
    }
    return lower_to_longer(graph, node, places, num);
}

static int lower_expanddims(struct graph* graph, struct node* node)
{
    const struct tm_expanddims_param* param = node->op.param_mem;
    int64_t place = param->axis;
    if (place < 0) place += get_ir_node_input(node, 0)->dim_num + 1;
    return lower_to_longer(graph, node, &place, 1);
}

static int raise_unsqueeze(struct graph* graph, struct node* node)
{
    int64_t axes[MAX_SHAPE_DIM_NUM];
    const int num = read_raised_ints(node, 1, axes, MAX_SHAPE_DIM_NUM);
    if (num < 0) return refuse_raising(node, "its axes are not constants");
    if (num == 0) return refuse_raising(node, "it adds no axis");
    for (int i = 0; i < num; ++i)
        if (axes[i] < 0) axes[i] += get_ir_node_output(node, 0)->dim_num;
    emitter_t emit = start_emitting(graph, node);
    begin_op(&emit, "tengine.Unsqueeze", 1, get_ir_node_input(node, 0));
    emit_attr_list(&emit, "axises", "axises_size", axes, num);
    return finish_emitting(&emit, 1, end_op(&emit));
}

// ---- Shape ----

static int lower_shape(struct graph* graph, struct node* node)
{
    emitter_t emit = start_emitting(graph, node);
    struct tensor* shape = emit_op(&emit, "Shape", 1, get_ir_node_input(node, 0));
    return finish_emitting(&emit, 1, emit_cast(&emit, shape, TENGINE_DT_INT32));
}

// ---- Expand, Tile ----

// Reads the list in the parameters or, when that is empty, in input 1. TENGINE_EINVAL when neither
// has one, or a value is below `minimum`.
static int read_list(const struct node* node, const char* name, const struct op_ints* list,
                     int minimum, int64_t out_values[MAX_SHAPE_DIM_NUM], int* out_num)
{
    *out_num = list->num;
    if (list->num == 0) {
        const int status = read_int_input(node, 1, out_values, MAX_SHAPE_DIM_NUM, out_num);
        if (status < 0) return status;
        if (status > 0)
            return fail_node(node, TENGINE_ENOTSUP, "%s is known only at run time", name);
    } else if (list->num <= MAX_SHAPE_DIM_NUM) {
        memcpy(out_values, list->values, sizeof *out_values * (size_t)list->num);
    }
    if (*out_num == 0 || *out_num > MAX_SHAPE_DIM_NUM)
        return fail_node(node, TENGINE_EINVAL, "%s has %d values, expected 1 to %d", name, *out_num,
                         MAX_SHAPE_DIM_NUM);
    for (int i = 0; i < *out_num; ++i)
        if (out_values[i] < minimum)
            return fail_node(node, TENGINE_ERANGE, "%s has %lld at index %d, expected at least %d",
                             name, (long long)out_values[i], i, minimum);
    return TENGINE_OK;
}

static int lower_expand(struct graph* graph, struct node* node)
{
    const struct tm_expand_param* param = node->op.param_mem;
    int64_t dims[MAX_SHAPE_DIM_NUM];
    int num;
    TENGINE_RETURN_IF_ERROR(read_list(node, "ex_shape", &param->ex_shape, 0, dims, &num));
    emitter_t emit = start_emitting(graph, node);
    return finish_emitting(
        &emit, 1,
        emit_op(&emit, "Expand", 2, get_ir_node_input(node, 0), emit_ints(&emit, dims, num)));
}

// Tengine Lite reads input 1 even though it has the parameter.
static int raise_expand(struct graph* graph, struct node* node)
{
    int64_t dims[MAX_SHAPE_DIM_NUM];
    const int num = read_dims(get_ir_node_output(node, 0), dims);
    if (num == 0) return refuse_raising(node, "its output is a scalar");
    emitter_t emit = start_emitting(graph, node);
    begin_op(&emit, "tengine.Expand", 2, get_ir_node_input(node, 0), emit_int32s(&emit, dims, num));
    emit_attr_list(&emit, "ex_shape", "dim_num", dims, num);
    return finish_emitting(&emit, 1, end_op(&emit));
}

// Repetitions belong to the last dimensions, as in numpy.
static int lower_tile(struct graph* graph, struct node* node)
{
    const struct tm_tile_param* param = node->op.param_mem;
    struct tensor* input = get_ir_node_input(node, 0);
    int64_t given[MAX_SHAPE_DIM_NUM], repeats[MAX_SHAPE_DIM_NUM], dims[MAX_SHAPE_DIM_NUM];
    int num;
    TENGINE_RETURN_IF_ERROR(read_list(node, "reps", &param->reps, 0, given, &num));
    const int rank = input->dim_num > num ? input->dim_num : num;
    for (int i = 0; i < rank; ++i) {
        const int from_end = rank - i;
        repeats[i] = from_end <= num ? given[num - from_end] : 1;
        dims[i] = from_end <= input->dim_num ? input->dims[input->dim_num - from_end] : 1;
    }
    emitter_t emit = start_emitting(graph, node);
    if (rank > input->dim_num) input = emit_reshape(&emit, input, dims, rank);
    return finish_emitting(&emit, 1,
                           emit_op(&emit, "Tile", 2, input, emit_ints(&emit, repeats, rank)));
}

static int raise_tile(struct graph* graph, struct node* node)
{
    int64_t repeats[MAX_SHAPE_DIM_NUM];
    const int num = read_raised_ints(node, 1, repeats, MAX_SHAPE_DIM_NUM);
    if (num < 0) return refuse_raising(node, "its repeats are not constants");
    if (num == 0) return refuse_raising(node, "its input is a scalar");
    emitter_t emit = start_emitting(graph, node);
    begin_op(&emit, "tengine.Tile", 2, get_ir_node_input(node, 0),
             emit_int32s(&emit, repeats, num));
    emit_attr_int(&emit, "frame_flag", 1);
    emit_attr_list(&emit, "reps", "reps_size", repeats, num);
    return finish_emitting(&emit, 1, end_op(&emit));
}

// Converters leave the constants that parameters came from as further inputs.
#define ONE_AND_IGNORED \
    .min_input = 1, .max_input = -1, .min_output = 1, .max_output = 1, .traits = OP_LEGACY

static const ir_method_t* const rows[] = {
    TENGINE_ROW(Expand, 101, 92, 8, ONE_AND_IGNORED, OP_FIELDS(expand_fields),
                .param_size = sizeof(struct tm_expand_param), .lower = lower_expand,
                RAISED("Expand", raise_expand)),
    TENGINE_ROW(Expanddims, 25, 60, 4, ONE_AND_IGNORED, OP_FIELDS(expanddims_fields),
                .param_size = sizeof(struct tm_expanddims_param), .lower = lower_expanddims),
    TENGINE_ROW(Flatten, 27, 10, 8, ONE_AND_IGNORED, OP_FIELDS(flatten_fields),
                .param_size = sizeof(struct tm_flatten_param), .lower = lower_flatten,
                RAISED("Flatten", raise_flatten)),
    TENGINE_ROW(Reshape, 59, 23, 16, ONE_AND_IGNORED, OP_FIELDS(reshape_fields),
                .param_size = sizeof(struct tm_reshape_param), .lower = lower_reshape,
                RAISED("Reshape", raise_reshape)),
    TENGINE_ROW(Shape, 95, 94, 0, ONE_AND_IGNORED, .lower = lower_shape),
    TENGINE_ROW(Squeeze, 78, 38, 16, ONE_AND_IGNORED, OP_FIELDS(squeeze_fields),
                .param_size = sizeof(struct tm_squeeze_param), .lower = lower_squeeze,
                RAISED("Squeeze", raise_squeeze)),
    TENGINE_ROW(Tile, 94, 96, 12, ONE_AND_IGNORED, OP_FIELDS(tile_fields),
                .param_size = sizeof(struct tm_tile_param), .lower = lower_tile,
                RAISED("Tile", raise_tile)),
    TENGINE_ROW(Unsqueeze, 86, 88, 4, ONE_AND_IGNORED, OP_FIELDS(unsqueeze_fields),
                .param_size = sizeof(struct tm_unsqueeze_param), .lower = lower_unsqueeze,
                RAISED("Unsqueeze", raise_unsqueeze)),
};

OPERATOR_TABLE(tengine_shape_ops, rows);
