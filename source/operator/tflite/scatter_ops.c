// SPDX-License-Identifier: Apache-2.0
// TensorFlow Lite's operators that write elements to places of another tensor.
#include <float.h>
#include <limits.h>
#include <string.h>

#include "operator/infer.h"
#include "operator/tengine/move.h"
#include "operator/tflite/lower.h"

// A list of 0 … number - 1.
static struct tensor* emit_count(emitter_t* emit, int64_t number)
{
    return emit_op(emit, "Range", 3, emit_int(emit, 0), emit_int(emit, number), emit_int(emit, 1));
}

static struct tensor* emit_unsqueeze(emitter_t* emit, struct tensor* input, int64_t axis)
{
    return emit_op(emit, "Unsqueeze", 2, input, emit_ints(emit, &axis, 1));
}

// Appends ScatterND(target, places, updates) with a reduction.
static struct tensor* emit_scatter(emitter_t* emit, struct tensor* target, struct tensor* places,
                                   struct tensor* updates, const char* reduction)
{
    begin_op(emit, "ScatterND", 3, target, places, updates);
    emit_attr_text(emit, "reduction", reduction);
    return end_op(emit);
}

static struct tensor* emit_joined(emitter_t* emit, struct tensor* first, struct tensor* second)
{
    begin_op(emit, "Concat", 2, first, second);
    emit_attr_int(emit, "axis", 0);
    return end_op(emit);
}

// SCATTER_ND adds duplicates.
static int lower_scatter_nd(struct graph* graph, struct node* node)
{
    emitter_t emit = start_emitting(graph, node);
    struct tensor* updates = get_operand(&emit, 1);
    struct tensor* shape = emit_indices(&emit, get_operand(&emit, 2));
    struct tensor* zeros = emit_op(&emit, "Expand", 2, emit_number(&emit, 0, updates), shape);
    struct tensor* places = emit_indices(&emit, get_operand(&emit, 0));
    return finish_emitting(&emit, 1, emit_scatter(&emit, zeros, places, updates, "add"));
}

// One index may be a scalar, and one value may hold for all of them.
static int lower_sparse_to_dense(struct graph* graph, struct node* node)
{
    emitter_t emit = start_emitting(graph, node);
    struct tensor* places = emit_indices(&emit, get_operand(&emit, 0));
    struct tensor* shape = emit_indices(&emit, get_operand(&emit, 1));
    struct tensor *values = get_operand(&emit, 2), *other = get_operand(&emit, 3);
    if (emit.status < 0) return emit.status;
    const int64_t number = places->dim_num == 0 ? 1 : places->dims[0];
    const int64_t length = places->dim_num == 2 ? places->dims[1] : 1;
    if (places->dim_num > 2)
        return fail_emitting(&emit, TENGINE_EINVAL, "its indices have rank %d, expected 0 to 2",
                             places->dim_num);
    if (places->dim_num < 2)
        places = emit_reshape(&emit, places, (const int64_t[]){number, length}, 2);
    values = emit_op(&emit, "Expand", 2, values, emit_ints(&emit, &number, 1));
    struct tensor* dense = emit_op(&emit, "Expand", 2, other, shape);
    return finish_emitting(&emit, 1, emit_scatter(&emit, dense, places, values, "none"));
}

// ---- diagonals ----

// A matrix that is true on its diagonal.
static struct tensor* emit_diagonal(emitter_t* emit, int64_t rows, int64_t columns)
{
    struct tensor* row = emit_unsqueeze(emit, emit_count(emit, rows), 1);
    return emit_op(emit, "Equal", 2, row, emit_count(emit, columns));
}

static int lower_matrix_diag(struct graph* graph, struct node* node)
{
    emitter_t emit = start_emitting(graph, node);
    struct tensor* values = get_operand(&emit, 0);
    if (values->dim_num < 1)
        return fail_emitting(&emit, TENGINE_EINVAL, "its input is a scalar, expected a list");
    const int64_t size = values->dims[values->dim_num - 1];
    struct tensor* is_on = emit_diagonal(&emit, size, size);
    struct tensor* zero = emit_number(&emit, 0, values);
    values = emit_unsqueeze(&emit, values, -2);
    return finish_emitting(&emit, 1, emit_op(&emit, "Where", 3, is_on, values, zero));
}

static int lower_matrix_set_diag(struct graph* graph, struct node* node)
{
    emitter_t emit = start_emitting(graph, node);
    struct tensor *input = get_operand(&emit, 0), *values = get_operand(&emit, 1);
    const int rank = input->dim_num;
    const int64_t rows = rank < 2 ? 0 : input->dims[rank - 2];
    const int64_t columns = rank < 2 ? 0 : input->dims[rank - 1];
    const int64_t size = rows < columns ? rows : columns;
    if (rank < 2 || values->dim_num != rank - 1 || values->dims[rank - 2] != size)
        return fail_emitting(&emit, TENGINE_EINVAL,
                             "its input has rank %d and its diagonal rank %d with %d elements, "
                             "expected one rank less and %lld",
                             rank, values->dim_num,
                             values->dim_num > 0 ? values->dims[values->dim_num - 1] : 1,
                             (long long)size);
    if (size < columns) {
        int64_t pads[2 * MAX_SHAPE_DIM_NUM] = {0};
        pads[2 * (rank - 1) - 1] = columns - size;
        values = emit_op(&emit, "Pad", 2, values, emit_ints(&emit, pads, 2 * (rank - 1)));
    }
    struct tensor* is_on = emit_diagonal(&emit, rows, columns);
    values = emit_unsqueeze(&emit, values, -2);
    return finish_emitting(&emit, 1, emit_op(&emit, "Where", 3, is_on, values, input));
}

// ---- segments ----

// The value that a reduction leaves as it is, in the type of `like`.
static struct tensor* emit_neutral(emitter_t* emit, const char* reduction,
                                   const struct tensor* like)
{
    const bool is_max = strcmp(reduction, "max") == 0;
    if (strcmp(reduction, "add") == 0) return emit_number(emit, 0, like);
    if (strcmp(reduction, "mul") == 0) return emit_number(emit, 1, like);
    switch (like->data_type) {
        case TENGINE_DT_INT64:
            return emit_int(emit, is_max ? INT64_MIN : INT64_MAX);
        case TENGINE_DT_INT32:
            return emit_cast(emit, emit_int(emit, is_max ? INT32_MIN : INT32_MAX),
                             TENGINE_DT_INT32);
        case TENGINE_DT_FP32:
            return emit_float(emit, is_max ? -FLT_MAX : FLT_MAX);
        default:
            fail_emitting(emit, TENGINE_EDTYPE, "its data are %s, expected fp32, int32 or int64",
                          get_data_type_name(like->data_type));
            return NULL;
    }
}

// Reduces the parts of `data` that have one id to the row of the id. `number` is a list of one
// element.
static struct tensor* emit_segments(emitter_t* emit, struct tensor* ids, struct tensor* number,
                                    const char* reduction)
{
    struct tensor* data = get_operand(emit, 0);
    int64_t dims[MAX_SHAPE_DIM_NUM];
    const int rank = read_dims(data, dims), skipped = ids ? ids->dim_num : 0;
    if (skipped < 1 || skipped > rank) {
        fail_emitting(emit, TENGINE_EINVAL, "its ids have rank %d, its data rank %d", skipped,
                      rank);
        return NULL;
    }
    struct tensor* shape =
        emit_joined(emit, number, emit_ints(emit, dims + skipped, rank - skipped));
    struct tensor* neutral = emit_neutral(emit, reduction, data);
    struct tensor* rows = emit_op(emit, "Expand", 2, neutral, shape);
    return emit_scatter(emit, rows, emit_unsqueeze(emit, ids, -1), data, reduction);
}

// The ids ascend: the last one gives the number of rows.
static int lower_segment_sum(struct graph* graph, struct node* node)
{
    emitter_t emit = start_emitting(graph, node);
    struct tensor* ids = emit_indices(&emit, get_operand(&emit, 1));
    if (get_operand(&emit, 1)->dim_num != 1)
        return fail_emitting(&emit, TENGINE_EINVAL, "its ids have rank %d, expected 1",
                             get_operand(&emit, 1)->dim_num);
    struct tensor* last = emit_cuts(&emit, ids, &(struct axis_cut){0, -1, INT64_MAX, 1}, 1);
    struct tensor* number = emit_op(&emit, "Add", 2, last, emit_int(&emit, 1));
    return finish_emitting(&emit, 1, emit_segments(&emit, ids, number, "add"));
}

// Data with a negative id are dropped: they go to a row behind the last one.
static int lower_unsorted_segments(struct graph* graph, struct node* node, const char* reduction)
{
    emitter_t emit = start_emitting(graph, node);
    struct tensor* ids = emit_indices(&emit, get_operand(&emit, 1));
    struct tensor* number = emit_indices(&emit, get_operand(&emit, 2));
    number = emit_reshape(&emit, number, (const int64_t[]){1}, 1);
    struct tensor* is_dropped = emit_op(&emit, "Less", 2, ids, emit_int(&emit, 0));
    ids = emit_op(&emit, "Where", 3, is_dropped, number, ids);
    struct tensor* rows = emit_op(&emit, "Add", 2, number, emit_int(&emit, 1));
    struct tensor* all = emit_segments(&emit, ids, rows, reduction);
    struct tensor* begin = emit_ints(&emit, (const int64_t[]){0}, 1);
    return finish_emitting(&emit, 1, emit_op(&emit, "Slice", 3, all, begin, number));
}

static int lower_segment_prods(struct graph* graph, struct node* node)
{
    return lower_unsorted_segments(graph, node, "mul");
}

static int lower_segment_maxima(struct graph* graph, struct node* node)
{
    return lower_unsorted_segments(graph, node, "max");
}

static int lower_segment_sums(struct graph* graph, struct node* node)
{
    return lower_unsorted_segments(graph, node, "add");
}

static int lower_segment_minima(struct graph* graph, struct node* node)
{
    return lower_unsorted_segments(graph, node, "min");
}

// ---- DYNAMIC_UPDATE_SLICE ----

// The place in the input of each element of the update along the leading `axes`, to be written with
// all that lies behind them: [update's axes, axes].
static struct tensor* emit_places(emitter_t* emit, struct tensor* starts,
                                  const struct tensor* update, int axes)
{
    int64_t dims[MAX_SHAPE_DIM_NUM];
    read_dims(update, dims);
    struct tensor* whole = emit_ints(emit, dims, axes);
    struct tensor* parts[MAX_SHAPE_DIM_NUM];
    for (int i = 0; i < axes; ++i) {
        int64_t along[MAX_SHAPE_DIM_NUM];
        for (int k = 0; k < axes; ++k)
            along[k] = k == i ? dims[i] : 1;
        struct tensor* start = emit_cuts(emit, starts, &(struct axis_cut){0, i, i + 1, 1}, 1);
        struct tensor* part = emit_op(emit, "Add", 2, emit_count(emit, dims[i]), start);
        part = emit_op(emit, "Expand", 2, emit_reshape(emit, part, along, axes), whole);
        parts[i] = emit_unsqueeze(emit, part, -1);
    }
    begin_op(emit, "Concat", 0);
    for (int i = 0; i < axes; ++i)
        emit_input(emit, parts[i]);
    emit_attr_int(emit, "axis", -1);
    return end_op(emit);
}

struct tensor* emit_update(emitter_t* emit, struct tensor* input, struct tensor* update,
                           struct tensor* starts)
{
    if (emit->status < 0) return NULL;
    const int rank = input->dim_num;
    int64_t last[MAX_SHAPE_DIM_NUM];
    int axes = rank > 0;
    if (update->dim_num != rank || starts->elem_num != rank) {
        fail_emitting(emit, TENGINE_EINVAL,
                      "its input has rank %d, its update rank %d and %lld starts", rank,
                      update->dim_num, (long long)starts->elem_num);
        return NULL;
    }
    for (int i = 0; i < rank; ++i) {
        last[i] = (int64_t)input->dims[i] - update->dims[i];
        if (last[i] < 0) {
            fail_emitting(emit, TENGINE_EINVAL,
                          "axis %d of its update has %d elements, that of its input %d", i,
                          update->dims[i], input->dims[i]);
            return NULL;
        }
        if (last[i] > 0) axes = i + 1;
    }
    if (rank == 0) return emit_op(emit, "Identity", 1, update);
    struct tensor* first = emit_op(emit, "Max", 2, emit_indices(emit, starts), emit_int(emit, 0));
    first = emit_op(emit, "Min", 2, first, emit_ints(emit, last, rank));
    struct tensor* places = emit_places(emit, first, update, axes);
    return emit_scatter(emit, input, places, update, "none");
}

static int lower_dynamic_update_slice(struct graph* graph, struct node* node)
{
    emitter_t emit = start_emitting(graph, node);
    return finish_emitting(
        &emit, 1,
        emit_update(&emit, get_operand(&emit, 0), get_operand(&emit, 1), get_operand(&emit, 2)));
}

// ---- DILATE ----

struct tensor* emit_gaps(emitter_t* emit, struct tensor* input, int axis, int64_t step,
                         struct tensor* value)
{
    if (emit->status < 0 || step == 1 || input->dims[axis] == 0) return input;
    const int rank = input->dim_num;
    const int64_t size = input->dims[axis];
    int64_t dims[MAX_SHAPE_DIM_NUM], pads[2 * (MAX_SHAPE_DIM_NUM + 1)] = {0};
    read_dims(input, dims);
    pads[2 * (rank + 1) - (rank - axis)] = step - 1;
    struct tensor* apart = emit_unsqueeze(emit, input, axis + 1);
    apart = emit_op(emit, "Pad", 3, apart, emit_ints(emit, pads, 2 * (rank + 1)), value);
    dims[axis] = size * step;
    const struct axis_cut cut = {axis, 0, (size - 1) * step + 1, 1};
    return emit_cuts(emit, emit_reshape(emit, apart, dims, rank), &cut, 1);
}

static int lower_dilate(struct graph* graph, struct node* node)
{
    emitter_t emit = start_emitting(graph, node);
    struct tensor *result = get_operand(&emit, 0), *value = get_operand(&emit, 2);
    const int rank = result->dim_num;
    int64_t steps[MAX_SHAPE_DIM_NUM];
    const int number = read_tfl_ints(&emit, 1, "list of dilations", steps, MAX_SHAPE_DIM_NUM);
    if (emit.status == TENGINE_OK && number != rank)
        fail_emitting(&emit, TENGINE_EINVAL, "it has %d dilations, its input rank %d", number,
                      rank);
    if (value->dim_num != 0) value = emit_reshape(&emit, value, NULL, 0);
    for (int i = 0; i < rank && emit.status == TENGINE_OK; ++i) {
        const int64_t size = result->dims[i];
        if (steps[i] < 1 || steps[i] > INT_MAX || size * steps[i] > INT_MAX)
            return fail_emitting(&emit, TENGINE_ERANGE,
                                 "its dilation of axis %d, which has %lld elements, is %lld", i,
                                 (long long)size, (long long)steps[i]);
        result = emit_gaps(&emit, result, i, steps[i], value);
    }
    return finish_emitting(&emit, 1, result);
}

static const ir_method_t* const rows[] = {
    TFLITE_ROW(SCATTER_ND, 122, TFL_COUNTS(3, 3, 1), .lower = lower_scatter_nd),
    TFLITE_ROW(SPARSE_TO_DENSE, 68, TFL_COUNTS(4, 4, 1), .lower = lower_sparse_to_dense),
    TFLITE_ROW(MATRIX_DIAG, 113, TFL_COUNTS(1, 1, 1), .lower = lower_matrix_diag),
    TFLITE_ROW(MATRIX_SET_DIAG, 115, TFL_COUNTS(2, 2, 1), .lower = lower_matrix_set_diag),
    TFLITE_ROW(SEGMENT_SUM, 125, TFL_COUNTS(2, 2, 1), .lower = lower_segment_sum),
    TFLITE_ROW(UNSORTED_SEGMENT_PROD, 153, TFL_COUNTS(3, 3, 1), .lower = lower_segment_prods),
    TFLITE_ROW(UNSORTED_SEGMENT_MAX, 154, TFL_COUNTS(3, 3, 1), .lower = lower_segment_maxima),
    TFLITE_ROW(UNSORTED_SEGMENT_SUM, 155, TFL_COUNTS(3, 3, 1), .lower = lower_segment_sums),
    TFLITE_ROW(UNSORTED_SEGMENT_MIN, 157, TFL_COUNTS(3, 3, 1), .lower = lower_segment_minima),
    TFLITE_ROW(DYNAMIC_UPDATE_SLICE, 151, TFL_COUNTS(3, 3, 1), .lower = lower_dynamic_update_slice),
    TFLITE_ROW(DILATE, 203, TFL_COUNTS(3, 3, 1), .lower = lower_dilate),
};

OPERATOR_TABLE(tflite_scatter_ops, rows);
