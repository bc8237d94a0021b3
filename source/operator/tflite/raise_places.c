// SPDX-License-Identifier: Apache-2.0
// Operators that take or put elements at places which other tensors have, and those along an axis
// that places on it replace.
#include <string.h>

#include "base/alloc.h"
#include "operator/infer.h"
#include "operator/tengine/move.h"
#include "operator/tengine/raise.h"
#include "operator/tflite/raise.h"

// Coordinates become constants.
#define MOST_COORDINATES (1 << 22)

static int64_t resolve_axis(const struct node* node, int64_t axis)
{
    return axis < 0 ? axis + get_ir_node_input(node, 0)->dim_num : axis;
}

// Integers from 0 on along an axis of a tensor of this rank.
static struct tensor* emit_iota(emitter_t* emit, int64_t number, int axis, int rank)
{
    int64_t dims[MAX_SHAPE_DIM_NUM];
    for (int i = 0; i < rank; ++i)
        dims[i] = i == axis ? number : 1;
    struct tensor* list =
        emit_op(emit, "Range", 3, emit_int(emit, 0), emit_int(emit, number), emit_int(emit, 1));
    return emit_reshape(emit, list, dims, rank);
}

// ---- elements at places ----

// Adds the lengths of the axes to negative places.
static struct tensor* emit_positive(emitter_t* emit, struct tensor* places, struct tensor* lengths)
{
    struct tensor* is_below = emit_op(emit, "Less", 2, places, emit_int(emit, 0));
    return emit_op(emit, "Where", 3, is_below, emit_op(emit, "Add", 2, places, lengths), places);
}

static bool may_have_coordinates(struct node* node)
{
    const struct tensor *input = get_ir_node_input(node, 0), *places = get_ir_node_input(node, 1);
    if (places->elem_num * input->dim_num <= MOST_COORDINATES && input->dim_num > 0 &&
        places->dim_num < MAX_SHAPE_DIM_NUM)
        return true;
    refuse_raising(node, "its indices have %lld elements and rank %d, expected at most %d and %d",
                   (long long)places->elem_num, places->dim_num, MOST_COORDINATES / input->dim_num,
                   MAX_SHAPE_DIM_NUM - 1);
    return false;
}

// The coordinates of each place along one axis: a list for each element of the places.
static struct tensor* emit_coordinates(emitter_t* emit, int64_t axis)
{
    const struct tensor* input = get_ir_node_input(emit->origin, 0);
    struct tensor* places = emit_indices(emit, get_ir_node_input(emit->origin, 1));
    if (!places) return NULL;
    const int rank = input->dim_num;
    int64_t dims[MAX_SHAPE_DIM_NUM + 1];
    read_dims(places, dims);
    dims[rank] = 1;
    struct tensor* shape = emit_ints(emit, dims, rank + 1);
    struct tensor* coordinates[MAX_SHAPE_DIM_NUM];
    for (int i = 0; i < rank; ++i) {
        struct tensor* one = i == axis ? emit_positive(emit, places, emit_int(emit, input->dims[i]))
                                       : emit_iota(emit, dims[i], i, rank + 1);
        coordinates[i] = i == axis ? emit_reshape(emit, one, dims, rank + 1)
                                   : emit_op(emit, "Expand", 2, one, shape);
    }
    begin_op(emit, "Concat", 0);
    for (int i = 0; i < rank; ++i)
        emit_input(emit, coordinates[i]);
    emit_attr_int(emit, "axis", rank);
    return end_op(emit);
}

static int place_gather_elements(struct graph* graph, struct node* node)
{
    if (!may_have_coordinates(node)) return OP_NOT_RAISED;
    emitter_t emit = start_emitting(graph, node);
    struct tensor* coordinates =
        emit_coordinates(&emit, resolve_axis(node, get_ir_node_int(node, "axis", 0)));
    return finish_emitting(&emit, 1,
                           emit_op(&emit, "GatherND", 2, get_ir_node_input(node, 0), coordinates));
}

static int place_scatter_elements(struct graph* graph, struct node* node)
{
    if (!may_have_coordinates(node)) return OP_NOT_RAISED;
    emitter_t emit = start_emitting(graph, node);
    struct tensor* coordinates =
        emit_coordinates(&emit, resolve_axis(node, get_ir_node_int(node, "axis", 0)));
    begin_op(&emit, "ScatterND", 3, get_ir_node_input(node, 0), coordinates,
             get_ir_node_input(node, 2));
    emit_attr_text(&emit, "reduction", get_ir_node_text(node, "reduction", "none"));
    return finish_emitting(&emit, 1, end_op(&emit));
}

// Zeros, and the updates at their places; those of one place are added.
static struct tensor* emit_scattered(emitter_t* emit, struct tensor* places, struct tensor* updates,
                                     const struct tensor* like)
{
    begin_op(emit, "tflite.SCATTER_ND", 3, places, updates, emit_dims(emit, like));
    return end_raised(emit, updates ? updates->data_type : TENGINE_DT_FP32, like->dims,
                      like->dim_num);
}

static int place_scatter_nd(struct graph* graph, struct node* node)
{
    struct tensor *input = get_ir_node_input(node, 0), *updates = get_ir_node_input(node, 2);
    struct tensor* places = get_ir_node_input(node, 1);
    const char* reduction = get_ir_node_text(node, "reduction", "none");
    const bool adds = strcmp(reduction, "add") == 0;
    const int length = places->dim_num > 0 ? places->dims[places->dim_num - 1] : 0;
    int64_t dims[MAX_SHAPE_DIM_NUM];
    if (!adds && strcmp(reduction, "none") != 0)
        return refuse_raising(node, "its reduction is '%s', SCATTER_ND adds", reduction);
    if (input->data_type != TENGINE_DT_FP32 && input->data_type != TENGINE_DT_INT32 &&
        input->data_type != TENGINE_DT_INT64)
        return refuse_raising(node, "its input is %s, expected fp32, int32 or int64",
                              get_data_type_name(input->data_type));
    emitter_t emit = start_emitting(graph, node);
    read_dims(input, dims);
    places = emit_positive(&emit, emit_indices(&emit, places), emit_ints(&emit, dims, length));
    places = emit_cast(&emit, places, TENGINE_DT_INT32);
    struct tensor* values = emit_scattered(&emit, places, updates, input);
    if (adds) return finish_emitting(&emit, 1, emit_op(&emit, "Add", 2, input, values));
    read_dims(updates, dims);
    struct tensor* ones =
        emit_op(&emit, "Expand", 2, emit_float(&emit, 1), emit_ints(&emit, dims, updates->dim_num));
    struct tensor* number = emit_scattered(&emit, places, ones, input);
    struct tensor* is_set = emit_op(&emit, "Greater", 2, number, emit_float(&emit, 0));
    return finish_emitting(&emit, 1, emit_op(&emit, "Where", 3, is_set, values, input));
}

// ---- parts of an axis ----

// The half of a matrix on one side of a diagonal.
static int place_trilu(struct graph* graph, struct node* node)
{
    struct tensor* input = get_ir_node_input(node, 0);
    const int rank = input->dim_num;
    int64_t diagonal = 0;
    if (get_ir_node_input(node, 1) && read_raised_ints(node, 1, &diagonal, 1) != 1)
        return refuse_raising(node, "its diagonal is known only at run time");
    if (rank < 2) return refuse_raising(node, "its input has rank %d, expected at least 2", rank);
    const bool is_upper = get_ir_node_int(node, "upper", 1) != 0;
    emitter_t emit = start_emitting(graph, node);
    struct tensor* row = emit_iota(&emit, input->dims[rank - 2], 0, 2);
    struct tensor* column = emit_iota(&emit, input->dims[rank - 1], 1, 2);
    struct tensor* away = emit_op(&emit, "Sub", 2, column, row);
    struct tensor* is_kept = emit_op(&emit, is_upper ? "GreaterOrEqual" : "LessOrEqual", 2, away,
                                     emit_int(&emit, diagonal));
    return finish_emitting(
        &emit, 1, emit_op(&emit, "Where", 3, is_kept, input, emit_number(&emit, 0, input)));
}

// 1 at the place of the largest element.
static int place_hardmax(struct graph* graph, struct node* node)
{
    struct tensor* input = get_ir_node_input(node, 0);
    const int axis = (int)resolve_axis(node, get_ir_node_int(node, "axis", -1));
    emitter_t emit = start_emitting(graph, node);
    begin_op(&emit, "ArgMax", 1, input);
    emit_attr_int(&emit, "axis", axis);
    struct tensor* place = end_op(&emit);
    struct tensor* all = emit_iota(&emit, input->dims[axis], axis, input->dim_num);
    struct tensor* is_largest = emit_op(&emit, "Equal", 2, all, place);
    return finish_emitting(&emit, 1, emit_cast(&emit, is_largest, input->data_type));
}

// The last of equal elements: the first one of the reversed axis.
static int place_last(struct graph* graph, struct node* node)
{
    struct tensor* input = get_ir_node_input(node, 0);
    const int64_t axis = resolve_axis(node, get_ir_node_int(node, "axis", 0));
    if (get_ir_node_int(node, "select_last_index", 0) == 0) return OP_NOT_RAISED;
    const int64_t length = input->dims[axis], last = -1, end = -length - 1;
    emitter_t emit = start_emitting(graph, node);
    struct tensor* reversed =
        emit_op(&emit, "Slice", 5, input, emit_ints(&emit, &last, 1), emit_ints(&emit, &end, 1),
                emit_ints(&emit, &axis, 1), emit_ints(&emit, &last, 1));
    begin_op(&emit, get_ir_node_op(node), 1, reversed);
    emit_attr_int(&emit, "axis", axis);
    emit_attr_int(&emit, "keepdims", get_ir_node_int(node, "keepdims", 1));
    struct tensor* place = end_op(&emit);
    return finish_emitting(&emit, 1, emit_op(&emit, "Sub", 2, emit_int(&emit, length - 1), place));
}

// x / norm along an axis, and 0 where the norm is 0.
static int place_lp_normalization(struct graph* graph, struct node* node)
{
    struct tensor* input = get_ir_node_input(node, 0);
    const int64_t axis = resolve_axis(node, get_ir_node_int(node, "axis", -1));
    if (input->data_type != TENGINE_DT_FP32)
        return refuse_raising(node, "its input is %s, expected fp32",
                              get_data_type_name(input->data_type));
    emitter_t emit = start_emitting(graph, node);
    begin_op(&emit, get_ir_node_int(node, "p", 2) == 1 ? "ReduceL1" : "ReduceL2", 2, input,
             emit_ints(&emit, &axis, 1));
    struct tensor* norm = end_op(&emit);
    struct tensor* is_zero = emit_op(&emit, "Equal", 2, norm, emit_float(&emit, 0));
    norm = emit_op(&emit, "Where", 3, is_zero, emit_float(&emit, 1), norm);
    return finish_emitting(&emit, 1, emit_op(&emit, "Div", 2, input, norm));
}

static const tfl_raising_t rows[] = {
    {"ArgMax", place_last},
    {"ArgMin", place_last},
    {"GatherElements", place_gather_elements},
    {"Hardmax", place_hardmax},
    {"LpNormalization", place_lp_normalization},
    {"ScatterElements", place_scatter_elements},
    {"ScatterND", place_scatter_nd},
    {"Trilu", place_trilu},
};

TFL_RAISINGS(tfl_place_raisings, rows);
