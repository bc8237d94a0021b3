// SPDX-License-Identifier: Apache-2.0
// TensorFlow Lite's reductions, searches and orders along axes.
#include "operator/infer.h"
#include "operator/tengine/move.h"
#include "operator/tflite/lower.h"

struct tfl_reduce_param
{
    int keep_dims;
};

// The number of a type in files. The tensor has it, too.
struct tfl_result_type_param
{
    int output_type;
};

struct tfl_cumsum_param
{
    int exclusive;
    int reverse;
};

struct tfl_one_hot_param
{
    int axis;
};

struct tfl_reverse_sequence_param
{
    int seq_dim;
    int batch_dim;
};

static const op_field_t reduce_fields[] = {
    TFL_BOOL(struct tfl_reduce_param, keep_dims, 0),
};

static const op_field_t result_type_fields[] = {
    TFL_FIELD(struct tfl_result_type_param, INT, output_type, BYTE, 0),
};

static const op_field_t cumsum_fields[] = {
    TFL_BOOL(struct tfl_cumsum_param, exclusive, 0),
    TFL_BOOL(struct tfl_cumsum_param, reverse, 1),
};

static const op_field_t one_hot_fields[] = {
    TFL_FIELD(struct tfl_one_hot_param, INT, axis, WORD, 0),
};

static const op_field_t reverse_sequence_fields[] = {
    TFL_FIELD(struct tfl_reverse_sequence_param, INT, seq_dim, WORD, 0),
    TFL_FIELD(struct tfl_reverse_sequence_param, INT, batch_dim, WORD, 1),
};

// ---- reductions ----

// Reads the axes, each of which may be there several times. Without any nothing is reduced.
static struct tensor* emit_axes(emitter_t* emit)
{
    int64_t given[4 * MAX_SHAPE_DIM_NUM], axes[MAX_SHAPE_DIM_NUM];
    const int rank = get_operand(emit, 0)->dim_num;
    const int number = read_tfl_ints(emit, 1, "list of axes", given, 4 * MAX_SHAPE_DIM_NUM);
    unsigned seen = 0;
    int kept = 0;
    for (int i = 0; i < number && emit->status == TENGINE_OK; ++i) {
        int axis = 0;
        const int status = normalize_axis(emit->origin, given[i], rank, &axis);
        if (status < 0) emit->status = status;
        if (status == TENGINE_OK && !(seen >> axis & 1)) axes[kept++] = axis;
        seen |= 1u << axis;
    }
    return emit_ints(emit, axes, kept);
}

static struct tensor* emit_reduction(emitter_t* emit, const char* op, struct tensor* input)
{
    const struct tfl_reduce_param* param = emit->origin->op.param_mem;
    struct tensor* axes = emit_axes(emit);
    begin_op(emit, op, 2, input, axes);
    emit_attr_int(emit, "keepdims", param->keep_dims);
    emit_attr_int(emit, "noop_with_empty_axes", 1);
    return end_op(emit);
}

static int lower_reduction(struct graph* graph, struct node* node, const char* op)
{
    emitter_t emit = start_emitting(graph, node);
    return finish_emitting(&emit, 1, emit_reduction(&emit, op, get_operand(&emit, 0)));
}

static int lower_mean(struct graph* graph, struct node* node)
{
    return lower_reduction(graph, node, "ReduceMean");
}

static int lower_sum(struct graph* graph, struct node* node)
{
    return lower_reduction(graph, node, "ReduceSum");
}

static int lower_prod(struct graph* graph, struct node* node)
{
    return lower_reduction(graph, node, "ReduceProd");
}

static int lower_reduce_max(struct graph* graph, struct node* node)
{
    return lower_reduction(graph, node, "ReduceMax");
}

static int lower_reduce_min(struct graph* graph, struct node* node)
{
    return lower_reduction(graph, node, "ReduceMin");
}

// ANY is the largest, ALL the smallest of the values 0 and 1.
static int lower_logical(struct graph* graph, struct node* node, const char* op)
{
    emitter_t emit = start_emitting(graph, node);
    struct tensor* numbers = emit_cast(&emit, get_operand(&emit, 0), TENGINE_DT_INT32);
    struct tensor* result = emit_reduction(&emit, op, numbers);
    return finish_emitting(&emit, 1, emit_cast(&emit, result, TENGINE_DT_BOOL));
}

static int lower_any(struct graph* graph, struct node* node)
{
    return lower_logical(graph, node, "ReduceMax");
}

static int lower_all(struct graph* graph, struct node* node)
{
    return lower_logical(graph, node, "ReduceMin");
}

// ---- searches ----

static int lower_search(struct graph* graph, struct node* node, const char* op)
{
    emitter_t emit = start_emitting(graph, node);
    const int axis = read_tfl_axis(&emit, 1, get_operand(&emit, 0)->dim_num);
    begin_op(&emit, op, 1, get_operand(&emit, 0));
    emit_attr_int(&emit, "axis", axis);
    emit_attr_int(&emit, "keepdims", 0);
    struct tensor* places = end_op(&emit);
    return finish_emitting(&emit, 1, emit_cast(&emit, places, get_declared_type(&emit, 0)));
}

static int lower_arg_max(struct graph* graph, struct node* node)
{
    return lower_search(graph, node, "ArgMax");
}

static int lower_arg_min(struct graph* graph, struct node* node)
{
    return lower_search(graph, node, "ArgMin");
}

static int lower_top_k(struct graph* graph, struct node* node)
{
    emitter_t emit = start_emitting(graph, node);
    struct tensor* number = emit_indices(&emit, get_operand(&emit, 1));
    number = emit_reshape(&emit, number, (const int64_t[]){1}, 1);
    struct tensor* results[2];
    begin_op(&emit, "TopK", 2, get_operand(&emit, 0), number);
    end_op_with(&emit, results, 2);
    return finish_emitting(&emit, 2, results[0],
                           emit_cast(&emit, results[1], get_declared_type(&emit, 1)));
}

// The places of true values, a row for each.
static int lower_where(struct graph* graph, struct node* node)
{
    emitter_t emit = start_emitting(graph, node);
    struct tensor* places = emit_op(&emit, "NonZero", 1, get_operand(&emit, 0));
    return finish_emitting(&emit, 1, emit_transpose(&emit, places, (const int64_t[]){1, 0}, 2));
}

static int lower_unique(struct graph* graph, struct node* node)
{
    emitter_t emit = start_emitting(graph, node);
    struct tensor* results[3];
    begin_op(&emit, "Unique", 1, get_operand(&emit, 0));
    emit_attr_int(&emit, "sorted", 0);
    end_op_with(&emit, results, 3);
    return finish_emitting(&emit, 2, results[0],
                           emit_cast(&emit, results[2], get_declared_type(&emit, 1)));
}

// ---- orders ----

static int lower_cumsum(struct graph* graph, struct node* node)
{
    const struct tfl_cumsum_param* param = node->op.param_mem;
    emitter_t emit = start_emitting(graph, node);
    const int axis = read_tfl_axis(&emit, 1, get_operand(&emit, 0)->dim_num);
    begin_op(&emit, "CumSum", 2, get_operand(&emit, 0), emit_int(&emit, axis));
    emit_attr_int(&emit, "exclusive", param->exclusive);
    emit_attr_int(&emit, "reverse", param->reverse);
    return finish_emitting(&emit, 1, end_op(&emit));
}

static int lower_reverse(struct graph* graph, struct node* node)
{
    emitter_t emit = start_emitting(graph, node);
    const int rank = get_operand(&emit, 0)->dim_num;
    int64_t axes[MAX_SHAPE_DIM_NUM];
    const int number = read_tfl_ints(&emit, 1, "list of axes", axes, MAX_SHAPE_DIM_NUM);
    struct axis_cut cuts[MAX_SHAPE_DIM_NUM];
    for (int i = 0; i < number; ++i) {
        int axis = 0;
        TENGINE_RETURN_IF_ERROR(normalize_axis(node, axes[i], rank, &axis));
        cuts[i] = (struct axis_cut){axis, -1, INT64_MIN, -1};
    }
    return finish_emitting(&emit, 1, emit_cuts(&emit, get_operand(&emit, 0), cuts, number));
}

// ONNX has the batch and the time in the first two axes.
static int lower_reverse_sequence(struct graph* graph, struct node* node)
{
    const struct tfl_reverse_sequence_param* param = node->op.param_mem;
    emitter_t emit = start_emitting(graph, node);
    struct tensor* input = get_operand(&emit, 0);
    const int rank = input->dim_num;
    int time = 0, batch = 0;
    TENGINE_RETURN_IF_ERROR(normalize_axis(node, param->seq_dim, rank, &time));
    TENGINE_RETURN_IF_ERROR(normalize_axis(node, param->batch_dim, rank, &batch));
    if (time == batch)
        return fail_emitting(&emit, TENGINE_EINVAL, "seq_dim and batch_dim are both axis %d", time);
    int64_t order[MAX_SHAPE_DIM_NUM], inverse[MAX_SHAPE_DIM_NUM];
    int next = 0;
    order[next++] = batch;
    order[next++] = time;
    for (int i = 0; i < rank; ++i)
        if (i != batch && i != time) order[next++] = i;
    for (int i = 0; i < rank; ++i)
        inverse[order[i]] = i;
    struct tensor* moved = emit_transpose(&emit, input, order, rank);
    begin_op(&emit, "ReverseSequence", 2, moved, emit_indices(&emit, get_operand(&emit, 1)));
    emit_attr_int(&emit, "batch_axis", 0);
    emit_attr_int(&emit, "time_axis", 1);
    struct tensor* reversed = end_op(&emit);
    return finish_emitting(&emit, 1, emit_transpose(&emit, reversed, inverse, rank));
}

// Negative ids, which ONNX counts from the end, give the value of others.
static int lower_one_hot(struct graph* graph, struct node* node)
{
    const struct tfl_one_hot_param* param = node->op.param_mem;
    emitter_t emit = start_emitting(graph, node);
    struct tensor* ids = emit_indices(&emit, get_operand(&emit, 0));
    struct tensor* depth = emit_indices(&emit, get_operand(&emit, 1));
    struct tensor* is_negative = emit_op(&emit, "Less", 2, ids, emit_int(&emit, 0));
    ids = emit_op(&emit, "Where", 3, is_negative, depth, ids);
    struct tensor* on = emit_reshape(&emit, get_operand(&emit, 2), (const int64_t[]){1}, 1);
    struct tensor* off = emit_reshape(&emit, get_operand(&emit, 3), (const int64_t[]){1}, 1);
    begin_op(&emit, "Concat", 2, off, on);
    emit_attr_int(&emit, "axis", 0);
    struct tensor* values = end_op(&emit);
    begin_op(&emit, "OneHot", 3, ids, depth, values);
    emit_attr_int(&emit, "axis", param->axis);
    return finish_emitting(&emit, 1, end_op(&emit));
}

static const ir_method_t* const rows[] = {
    TFLITE_ROW(MEAN, 40, TFL_COUNTS(2, 2, 1), TFL_PARAMS(reduce), .lower = lower_mean),
    TFLITE_ROW(SUM, 74, TFL_COUNTS(2, 2, 1), TFL_PARAMS(reduce), .lower = lower_sum),
    TFLITE_ROW(REDUCE_PROD, 81, TFL_COUNTS(2, 2, 1), TFL_PARAMS(reduce), .lower = lower_prod),
    TFLITE_ROW(REDUCE_MAX, 82, TFL_COUNTS(2, 2, 1), TFL_PARAMS(reduce), .lower = lower_reduce_max),
    TFLITE_ROW(REDUCE_MIN, 89, TFL_COUNTS(2, 2, 1), TFL_PARAMS(reduce), .lower = lower_reduce_min),
    TFLITE_ROW(REDUCE_ANY, 91, TFL_COUNTS(2, 2, 1), TFL_PARAMS(reduce), .lower = lower_any),
    TFLITE_ROW(REDUCE_ALL, 140, TFL_COUNTS(2, 2, 1), TFL_PARAMS(reduce), .lower = lower_all),
    TFLITE_ROW(ARG_MAX, 56, TFL_COUNTS(2, 2, 1), TFL_PARAMS(result_type), .lower = lower_arg_max),
    TFLITE_ROW(ARG_MIN, 79, TFL_COUNTS(2, 2, 1), TFL_PARAMS(result_type), .lower = lower_arg_min),
    SHAPELESS_ROW(TOPK_V2, 48, TFL_COUNTS(2, 2, 2), .lower = lower_top_k),
    SHAPELESS_ROW(WHERE, 109, TFL_COUNTS(1, 1, 1), .lower = lower_where),
    SHAPELESS_ROW(UNIQUE, 103, TFL_COUNTS(1, 1, 2), TFL_PARAMS(result_type), .lower = lower_unique),
    TFLITE_ROW(CUMSUM, 128, TFL_COUNTS(2, 2, 1), TFL_PARAMS(cumsum), .lower = lower_cumsum),
    TFLITE_ROW(REVERSE_V2, 105, TFL_COUNTS(2, 2, 1), .lower = lower_reverse),
    TFLITE_ROW(REVERSE_SEQUENCE, 112, TFL_COUNTS(2, 2, 1), TFL_PARAMS(reverse_sequence),
               .lower = lower_reverse_sequence),
    TFLITE_ROW(ONE_HOT, 85, TFL_COUNTS(4, 4, 1), TFL_PARAMS(one_hot), .lower = lower_one_hot),
};

OPERATOR_TABLE(tflite_reduce_ops, rows);
