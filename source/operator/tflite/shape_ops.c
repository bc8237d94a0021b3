// SPDX-License-Identifier: Apache-2.0
// TensorFlow Lite's operators that join, split and reshape tensors, or make them of shapes.
#include "base/alloc.h"
#include "operator/infer.h"
#include "operator/tengine/move.h"
#include "operator/tflite/lower.h"

struct tfl_reshape_param
{
    struct op_ints new_shape;
};

struct tfl_squeeze_param
{
    struct op_ints squeeze_dims;
};

struct tfl_pack_param
{
    int values_count;
    int axis;
};

struct tfl_unpack_param
{
    int num;
    int axis;
};

struct tfl_concatenation_param
{
    int axis;
    int activation;
};

struct tfl_split_param
{
    int num_splits;
};

// The number of a type in files. The tensor has it, too.
struct tfl_shape_param
{
    int out_type;
};

static const op_field_t reshape_fields[] = {
    TFL_FIELD(struct tfl_reshape_param, INTS, new_shape, OFFSET, 0),
};

static const op_field_t squeeze_fields[] = {
    TFL_FIELD(struct tfl_squeeze_param, INTS, squeeze_dims, OFFSET, 0),
};

static const op_field_t pack_fields[] = {
    TFL_FIELD(struct tfl_pack_param, INT, values_count, WORD, 0),
    TFL_FIELD(struct tfl_pack_param, INT, axis, WORD, 1),
};

static const op_field_t unpack_fields[] = {
    TFL_FIELD(struct tfl_unpack_param, INT, num, WORD, 0),
    TFL_FIELD(struct tfl_unpack_param, INT, axis, WORD, 1),
};

static const op_field_t concatenation_fields[] = {
    TFL_FIELD(struct tfl_concatenation_param, INT, axis, WORD, 0),
    TFL_ACTIVATION(struct tfl_concatenation_param, 1),
};

static const op_field_t split_fields[] = {
    TFL_FIELD(struct tfl_split_param, INT, num_splits, WORD, 0),
};

static const op_field_t shape_fields[] = {
    TFL_FIELD(struct tfl_shape_param, INT, out_type, BYTE, 0),
};

// ---- the same elements in another shape ----

// Old files have the shape in the options, or as a matrix; 0 is a dimension without elements.
static int lower_reshape(struct graph* graph, struct node* node)
{
    const struct tfl_reshape_param* param = node->op.param_mem;
    emitter_t emit = start_emitting(graph, node);
    struct tensor *input = get_operand(&emit, 0), *shape = get_operand(&emit, 1);
    if (shape && shape->dim_num != 1) shape = emit_reshape(&emit, shape, (const int64_t[]){-1}, 1);
    shape = shape ? emit_indices(&emit, shape)
                  : emit_ints(&emit, param->new_shape.values, param->new_shape.num);
    begin_op(&emit, "Reshape", 2, input, shape);
    emit_attr_int(&emit, "allowzero", 1);
    return finish_emitting(&emit, 1, end_op(&emit));
}

// Without a list, all axes of one element.
// A scalar stays one, as in LiteRT, whatever the list of axes says.
static int lower_squeeze(struct graph* graph, struct node* node)
{
    const struct tfl_squeeze_param* param = node->op.param_mem;
    emitter_t emit = start_emitting(graph, node);
    const struct op_ints* axes = &param->squeeze_dims;
    struct tensor* input = get_operand(&emit, 0);
    const bool is_scalar = input->shape_set && input->dim_num == 0;
    struct tensor* list =
        axes->num > 0 && !is_scalar ? emit_ints(&emit, axes->values, axes->num) : NULL;
    return finish_emitting(&emit, 1, emit_op(&emit, "Squeeze", 2, input, list));
}

static int lower_expand_dims(struct graph* graph, struct node* node)
{
    emitter_t emit = start_emitting(graph, node);
    struct tensor* axis = emit_indices(&emit, get_operand(&emit, 1));
    axis = emit_reshape(&emit, axis, (const int64_t[]){1}, 1);
    return finish_emitting(&emit, 1, emit_op(&emit, "Unsqueeze", 2, get_operand(&emit, 0), axis));
}

static int lower_transpose(struct graph* graph, struct node* node)
{
    emitter_t emit = start_emitting(graph, node);
    struct tensor* input = get_operand(&emit, 0);
    int64_t order[MAX_SHAPE_DIM_NUM];
    const int number = read_tfl_ints(&emit, 1, "order", order, MAX_SHAPE_DIM_NUM);
    if (emit.status < 0) return emit.status;
    if (number != input->dim_num)
        return fail_emitting(&emit, TENGINE_EINVAL, "its order has %d axes, its input %d", number,
                             input->dim_num);
    for (int i = 0; i < number; ++i)
        if (order[i] < 0) order[i] += number;
    TENGINE_RETURN_IF_ERROR(check_order(node, "order", order, number));
    return finish_emitting(&emit, 1, emit_transpose(&emit, input, order, number));
}

// ---- joining and splitting ----

static int lower_concatenation(struct graph* graph, struct node* node)
{
    const struct tfl_concatenation_param* param = node->op.param_mem;
    emitter_t emit = start_emitting(graph, node);
    begin_op(&emit, "Concat", 0);
    for (int i = 0; i < node->input_num; ++i)
        emit_input(&emit, get_operand(&emit, i));
    emit_attr_int(&emit, "axis", param->axis);
    return finish_emitting(&emit, 1, emit_activation(&emit, param->activation, end_op(&emit)));
}

static int lower_pack(struct graph* graph, struct node* node)
{
    const struct tfl_pack_param* param = node->op.param_mem;
    emitter_t emit = start_emitting(graph, node);
    const int rank = get_operand(&emit, 0)->dim_num;
    int axis = 0;
    TENGINE_RETURN_IF_ERROR(normalize_axis(node, param->axis, rank + 1, &axis));
    struct tensor* axes = emit_ints(&emit, (const int64_t[]){axis}, 1);
    struct tensor** parts = alloc_memory(sizeof *parts * (size_t)node->input_num);
    if (!parts)
        return fail_emitting(&emit, TENGINE_ENOMEM, "out of memory for %d inputs", node->input_num);
    for (int i = 0; i < node->input_num; ++i)
        parts[i] = emit_op(&emit, "Unsqueeze", 2, get_operand(&emit, i), axes);
    begin_op(&emit, "Concat", 0);
    for (int i = 0; i < node->input_num; ++i)
        emit_input(&emit, parts[i]);
    free_memory(parts);
    emit_attr_int(&emit, "axis", axis);
    return finish_emitting(&emit, 1, end_op(&emit));
}

static int lower_unpack(struct graph* graph, struct node* node)
{
    const struct tfl_unpack_param* param = node->op.param_mem;
    emitter_t emit = start_emitting(graph, node);
    struct tensor* input = get_operand(&emit, 0);
    int axis = 0;
    TENGINE_RETURN_IF_ERROR(normalize_axis(node, param->axis, input->dim_num, &axis));
    const int number = node->output_num;
    if (input->dims[axis] != number)
        return fail_emitting(&emit, TENGINE_EINVAL,
                             "axis %d of its input has %d elements, its %d outputs need as many",
                             axis, input->dims[axis], number);
    struct tensor** parts = alloc_memory(sizeof *parts * (size_t)number);
    if (!parts) return fail_emitting(&emit, TENGINE_ENOMEM, "out of memory for %d outputs", number);
    begin_op(&emit, "Split", 1, input);
    emit_attr_int(&emit, "axis", axis);
    emit_attr_int(&emit, "num_outputs", number);
    end_op_with(&emit, parts, number);
    struct tensor* axes = emit_ints(&emit, (const int64_t[]){axis}, 1);
    for (int i = 0; i < number; ++i)
        parts[i] = emit_op(&emit, "Squeeze", 2, parts[i], axes);
    const int status = finish_emitting_list(&emit, parts, number);
    free_memory(parts);
    return status;
}

static int lower_split(struct graph* graph, struct node* node)
{
    emitter_t emit = start_emitting(graph, node);
    struct tensor* input = get_operand(&emit, 1);
    const int number = node->output_num;
    const int axis = read_tfl_axis(&emit, 0, input->dim_num);
    if (emit.status < 0) return emit.status;
    if (input->dims[axis] % number != 0)
        return fail_emitting(&emit, TENGINE_EINVAL,
                             "axis %d of its input has %d elements, its %d outputs need a multiple",
                             axis, input->dims[axis], number);
    int64_t* sizes = alloc_memory(sizeof *sizes * (size_t)number);
    if (!sizes) return fail_emitting(&emit, TENGINE_ENOMEM, "out of memory for %d sizes", number);
    for (int i = 0; i < number; ++i)
        sizes[i] = input->dims[axis] / number;
    const int status = finish_with_parts(&emit, input, axis, sizes, number);
    free_memory(sizes);
    return status;
}

// One size may be -1: the rest.
static void complete_sizes(emitter_t* emit, int64_t* sizes, int number, int64_t whole)
{
    int64_t rest = whole;
    int open = -1;
    for (int i = 0; i < number; ++i) {
        if (sizes[i] >= 0)
            rest -= sizes[i];
        else
            open = i;
    }
    if (open >= 0 && rest >= 0) sizes[open] = rest;
    if (open >= 0 && rest < 0)
        fail_emitting(emit, TENGINE_EINVAL, "its sizes exceed the %lld elements of the axis",
                      (long long)whole);
}

static int lower_split_v(struct graph* graph, struct node* node)
{
    emitter_t emit = start_emitting(graph, node);
    struct tensor* input = get_operand(&emit, 0);
    const int number = node->output_num;
    int64_t* sizes = alloc_memory(sizeof *sizes * (size_t)number);
    if (!sizes) return fail_emitting(&emit, TENGINE_ENOMEM, "out of memory for %d sizes", number);
    const int given = read_tfl_ints(&emit, 1, "list of sizes", sizes, number);
    const int axis = read_tfl_axis(&emit, 2, input->dim_num);
    if (emit.status == TENGINE_OK && given != number)
        fail_emitting(&emit, TENGINE_EINVAL, "it has %d sizes and %d outputs", given, number);
    if (emit.status == TENGINE_OK) complete_sizes(&emit, sizes, number, input->dims[axis]);
    const int status =
        emit.status < 0 ? emit.status : finish_with_parts(&emit, input, axis, sizes, number);
    free_memory(sizes);
    return status;
}

// ---- shapes ----

static int lower_shape(struct graph* graph, struct node* node)
{
    emitter_t emit = start_emitting(graph, node);
    struct tensor* shape = emit_op(&emit, "Shape", 1, get_operand(&emit, 0));
    return finish_emitting(&emit, 1, emit_cast(&emit, shape, get_declared_type(&emit, 0)));
}

static int lower_rank(struct graph* graph, struct node* node)
{
    emitter_t emit = start_emitting(graph, node);
    struct tensor* rank = emit_int(&emit, get_operand(&emit, 0)->dim_num);
    return finish_emitting(&emit, 1, emit_cast(&emit, rank, get_declared_type(&emit, 0)));
}

// Appends `op` of an operand and a list of sizes.
static int lower_sized(struct graph* graph, struct node* node, const char* op, int values,
                       int sizes)
{
    emitter_t emit = start_emitting(graph, node);
    struct tensor* list = emit_indices(&emit, get_operand(&emit, sizes));
    return finish_emitting(&emit, 1, emit_op(&emit, op, 2, get_operand(&emit, values), list));
}

static int lower_fill(struct graph* graph, struct node* node)
{
    return lower_sized(graph, node, "Expand", 1, 0);
}

static int lower_broadcast_to(struct graph* graph, struct node* node)
{
    return lower_sized(graph, node, "Expand", 0, 1);
}

static int lower_tile(struct graph* graph, struct node* node)
{
    return lower_sized(graph, node, "Tile", 0, 1);
}

// A shape with leading ones, so that it has `rank` dimensions.
static struct tensor* emit_raised_shape(emitter_t* emit, struct tensor* shape, int64_t rank)
{
    if (emit->status < 0 || shape->elem_num == rank) return shape;
    const int64_t missing = rank - shape->elem_num;
    struct tensor* ones =
        emit_op(emit, "Expand", 2, emit_int(emit, 1), emit_ints(emit, &missing, 1));
    begin_op(emit, "Concat", 2, ones, shape);
    emit_attr_int(emit, "axis", 0);
    return end_op(emit);
}

// The shape that two shapes broadcast to.
static int lower_broadcast_args(struct graph* graph, struct node* node)
{
    emitter_t emit = start_emitting(graph, node);
    struct tensor *first = get_operand(&emit, 0), *second = get_operand(&emit, 1);
    const int64_t rank = first->elem_num > second->elem_num ? first->elem_num : second->elem_num;
    first = emit_raised_shape(&emit, emit_indices(&emit, first), rank);
    second = emit_raised_shape(&emit, emit_indices(&emit, second), rank);
    struct tensor* is_one = emit_op(&emit, "Equal", 2, first, emit_int(&emit, 1));
    struct tensor* shape = emit_op(&emit, "Where", 3, is_one, second, first);
    return finish_emitting(&emit, 1, emit_cast(&emit, shape, get_declared_type(&emit, 0)));
}

TFL_LOWER_AS(lower_range, "Range")

static const ir_method_t* const rows[] = {
    SHAPELESS_ROW(RESHAPE, 22, TFL_COUNTS(1, 2, 1), TFL_PARAMS(reshape), .lower = lower_reshape),
    SHAPELESS_ROW(SQUEEZE, 43, TFL_COUNTS(1, 1, 1), TFL_PARAMS(squeeze), .lower = lower_squeeze),
    SHAPELESS_ROW(EXPAND_DIMS, 70, TFL_COUNTS(2, 2, 1), .lower = lower_expand_dims),
    TFLITE_ROW(TRANSPOSE, 39, TFL_COUNTS(2, 2, 1), .lower = lower_transpose),
    SHAPELESS_ROW(CONCATENATION, 2, TFL_COUNTS(1, -1, 1), TFL_PARAMS(concatenation),
                  .lower = lower_concatenation),
    TFLITE_ROW(PACK, 83, TFL_COUNTS(1, -1, 1), TFL_PARAMS(pack), .lower = lower_pack),
    TFLITE_ROW(UNPACK, 88, .min_input = 1, .max_input = 1, .min_output = 1, .max_output = -1,
               TFL_PARAMS(unpack), .lower = lower_unpack),
    TFLITE_ROW(SPLIT, 49, .min_input = 2, .max_input = 2, .min_output = 1, .max_output = -1,
               TFL_PARAMS(split), .lower = lower_split),
    TFLITE_ROW(SPLIT_V, 102, .min_input = 3, .max_input = 3, .min_output = 1, .max_output = -1,
               TFL_PARAMS(split), .lower = lower_split_v),
    SHAPELESS_ROW(SHAPE, 77, TFL_COUNTS(1, 1, 1), TFL_PARAMS(shape), .lower = lower_shape),
    TFLITE_ROW(RANK, 110, TFL_COUNTS(1, 1, 1), .lower = lower_rank),
    SHAPELESS_ROW(FILL, 94, TFL_COUNTS(2, 2, 1), .lower = lower_fill),
    SHAPELESS_ROW(BROADCAST_TO, 130, TFL_COUNTS(2, 2, 1), .lower = lower_broadcast_to),
    TFLITE_ROW(BROADCAST_ARGS, 145, TFL_COUNTS(2, 2, 1), .lower = lower_broadcast_args),
    SHAPELESS_ROW(TILE, 69, TFL_COUNTS(2, 2, 1), .lower = lower_tile),
    SHAPELESS_ROW(RANGE, 96, TFL_COUNTS(3, 3, 1), .lower = lower_range),
};

OPERATOR_TABLE(tflite_shape_ops, rows);
