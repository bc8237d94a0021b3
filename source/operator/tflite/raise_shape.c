// SPDX-License-Identifier: Apache-2.0
// Operators that move elements, and those along axes. Lists are of int32.
#include <limits.h>
#include <string.h>

#include "operator/infer.h"
#include "operator/tengine/move.h"
#include "operator/tengine/raise.h"
#include "operator/tflite/raise.h"

static int64_t find_axis(const struct node* node, int64_t axis)
{
    return axis < 0 ? axis + get_ir_node_input(node, 0)->dim_num : axis;
}

static struct tensor* emit_scalar(emitter_t* emit, int64_t value)
{
    struct tensor* made = emit_int32s(emit, &value, 1);
    if (made && set_ir_tensor_shape(made, NULL, 0) < 0) emit->status = tengine_error_code();
    return made;
}

static int raise_transpose(struct graph* graph, struct node* node)
{
    int rank = 0;
    const int64_t* order = get_ir_node_ints(node, "perm", &rank);
    const struct tensor* input = get_ir_node_input(node, 0);
    int64_t reversed[MAX_SHAPE_DIM_NUM];
    for (int i = 0; i < input->dim_num; ++i)
        reversed[i] = input->dim_num - 1 - i;
    emitter_t emit = start_emitting(graph, node);
    begin_op(&emit, "tflite.TRANSPOSE", 2, get_ir_node_input(node, 0),
             emit_int32s(&emit, rank > 0 ? order : reversed, input->dim_num));
    return finish_raised(&emit);
}

static int raise_concat(struct graph* graph, struct node* node)
{
    emitter_t emit = start_emitting(graph, node);
    begin_op(&emit, "tflite.CONCATENATION", 0);
    for (int i = 0; i < node->input_num; ++i)
        emit_input(&emit, get_ir_node_input(node, i));
    emit_attr_int(&emit, "axis", find_axis(node, get_ir_node_int(node, "axis", 0)));
    return finish_raised(&emit);
}

static int raise_split(struct graph* graph, struct node* node)
{
    const int64_t axis = find_axis(node, get_ir_node_int(node, "axis", 0));
    const int number = node->output_num;
    struct tensor* results[MAX_SHAPE_DIM_NUM * 8];
    int64_t sizes[MAX_SHAPE_DIM_NUM * 8];
    bool is_even = true;
    if (number > MAX_SHAPE_DIM_NUM * 8)
        return refuse_raising(node, "it has %d results, expected at most %d", number,
                              MAX_SHAPE_DIM_NUM * 8);
    for (int i = 0; i < number; ++i) {
        const struct tensor* part = get_ir_node_output(node, i);
        if (!part) return refuse_raising(node, "its result %d is absent", i);
        sizes[i] = part->dims[axis];
        is_even = is_even && sizes[i] == sizes[0];
    }
    emitter_t emit = start_emitting(graph, node);
    struct tensor* input = get_ir_node_input(node, 0);
    if (is_even)
        begin_op(&emit, "tflite.SPLIT", 2, emit_scalar(&emit, axis), input);
    else
        begin_op(&emit, "tflite.SPLIT_V", 3, input, emit_int32s(&emit, sizes, number),
                 emit_scalar(&emit, axis));
    emit_attr_int(&emit, "num_splits", number);
    end_op_with(&emit, results, number);
    return finish_emitting_list(&emit, results, number);
}

// ---- parts of a tensor ----

typedef struct cuts
{
    int64_t begin[MAX_SHAPE_DIM_NUM];
    int64_t end[MAX_SHAPE_DIM_NUM];
    int64_t step[MAX_SHAPE_DIM_NUM];
    int64_t size[MAX_SHAPE_DIM_NUM];
    int64_t open_ends;  // by axis: the end lies before the first element
    bool has_steps;
} cuts_t;

// The cuts of ONNX's Slice, whose number of elements is that of the output.
static bool find_cuts(const struct node* node, cuts_t* cuts)
{
    const struct tensor *input = get_ir_node_input(node, 0), *output = get_ir_node_output(node, 0);
    int64_t starts[MAX_SHAPE_DIM_NUM], axes[MAX_SHAPE_DIM_NUM], steps[MAX_SHAPE_DIM_NUM];
    const int number = read_raised_ints(node, 1, starts, MAX_SHAPE_DIM_NUM);
    const bool has_axes = get_ir_node_input(node, 3), has_steps = get_ir_node_input(node, 4);
    if (number < 0 || (has_axes && read_raised_ints(node, 3, axes, MAX_SHAPE_DIM_NUM) != number) ||
        (has_steps && read_raised_ints(node, 4, steps, MAX_SHAPE_DIM_NUM) != number))
        return false;
    *cuts = (cuts_t){.open_ends = 0};
    for (int i = 0; i < input->dim_num; ++i) {
        cuts->step[i] = 1;
        cuts->end[i] = cuts->size[i] = output->dims[i];
    }
    for (int i = 0; i < number; ++i) {
        const int64_t axis = find_axis(node, has_axes ? axes[i] : i);
        const int64_t length = input->dims[axis], step = has_steps ? steps[i] : 1;
        int64_t begin = starts[i] < 0 ? starts[i] + length : starts[i];
        const int64_t most = step < 0 ? length - 1 : length;
        begin = begin < 0 ? 0 : begin > most ? most : begin;
        cuts->begin[axis] = begin;
        cuts->step[axis] = step;
        cuts->end[axis] = begin + step * output->dims[axis];
        if (cuts->end[axis] > length) cuts->end[axis] = length;
        if (cuts->end[axis] < 0) {
            cuts->open_ends |= (int64_t)1 << axis;
            cuts->end[axis] = 0;
        }
        cuts->has_steps = cuts->has_steps || step != 1;
    }
    return true;
}

static int raise_slice(struct graph* graph, struct node* node)
{
    cuts_t cuts;
    struct tensor* input = get_ir_node_input(node, 0);
    if (!find_cuts(node, &cuts))
        return refuse_raising(node, "its starts, axes or steps are known only at run time");
    emitter_t emit = start_emitting(graph, node);
    struct tensor* begin = emit_int32s(&emit, cuts.begin, input->dim_num);
    if (!cuts.has_steps) {
        begin_op(&emit, "tflite.SLICE", 3, input, begin,
                 emit_int32s(&emit, cuts.size, input->dim_num));
        return finish_raised(&emit);
    }
    begin_op(&emit, "tflite.STRIDED_SLICE", 4, input, begin,
             emit_int32s(&emit, cuts.end, input->dim_num),
             emit_int32s(&emit, cuts.step, input->dim_num));
    emit_attr_int(&emit, "end_mask", cuts.open_ends);
    return finish_raised(&emit);
}

static int raise_gather(struct graph* graph, struct node* node)
{
    const int64_t axis = find_axis(node, get_ir_node_int(node, "axis", 0));
    emitter_t emit = start_emitting(graph, node);
    struct tensor* input = get_ir_node_input(node, 0);
    begin_op(&emit, "tflite.GATHER", 2, input,
             emit_narrowed(&emit, get_ir_node_input(node, 1), input->dims[axis]));
    emit_attr_int(&emit, "axis", axis);
    return finish_raised(&emit);
}

static int raise_gather_nd(struct graph* graph, struct node* node)
{
    const struct tensor* indices = get_ir_node_input(node, 1);
    if (get_ir_node_int(node, "batch_dims", 0) != 0)
        return refuse_raising(node, "it has batch_dims, which GATHER_ND has not");
    for (int64_t i = 0; indices->tensor_type == TENSOR_TYPE_CONST && i < indices->elem_num; ++i)
        if (indices->i64[i] < 0)
            return refuse_raising(node, "index %lld is negative", (long long)indices->i64[i]);
    emitter_t emit = start_emitting(graph, node);
    begin_op(&emit, "tflite.GATHER_ND", 2, get_ir_node_input(node, 0),
             emit_narrowed(&emit, get_ir_node_input(node, 1), 0));
    return finish_raised(&emit);
}

// ---- padding and repetitions ----

static struct tensor* emit_pads(emitter_t* emit, const int64_t pads[], int rank)
{
    int64_t pairs[2 * MAX_SHAPE_DIM_NUM];
    for (int i = 0; i < rank; ++i) {
        pairs[2 * i] = pads[i];
        pairs[2 * i + 1] = pads[rank + i];
    }
    struct tensor* made = emit_int32s(emit, pairs, 2 * rank);
    if (made && set_ir_tensor_shape(made, (const int[]){rank, 2}, 2) < 0)
        emit->status = tengine_error_code();
    return made;
}

static int raise_pad(struct graph* graph, struct node* node)
{
    int64_t pads[2 * MAX_SHAPE_DIM_NUM];
    struct tensor* input = get_ir_node_input(node, 0);
    const int rank = input->dim_num;
    const char* mode = get_ir_node_text(node, "mode", "constant");
    float value = 0;
    const bool is_constant = strcmp(mode, "constant") == 0;
    const bool has_value = is_constant && get_ir_node_input(node, 2);
    const bool is_known = read_raised_ints(node, 1, pads, 2 * rank) == 2 * rank;
    if (!is_known || get_ir_node_input(node, 3) || (!is_constant && strcmp(mode, "reflect") != 0))
        return refuse_raising(node,
                              "it pads with mode %s, or by values of a run, or along listed axes; "
                              "expected constant or reflect, and a constant for each axis",
                              mode);
    for (int i = 0; i < 2 * rank; ++i)
        if (pads[i] < 0) return refuse_raising(node, "pad %d is %lld", i, (long long)pads[i]);
    const bool is_zero = !has_value || (read_raised_float(node, 2, &value) && value == 0 &&
                                        input->data_type == TENGINE_DT_FP32);
    emitter_t emit = start_emitting(graph, node);
    struct tensor* list = emit_pads(&emit, pads, rank);
    if (!is_constant)
        begin_op(&emit, "tflite.MIRROR_PAD", 2, input, list);
    else if (is_zero)
        begin_op(&emit, "tflite.PAD", 2, input, list);
    else
        begin_op(&emit, "tflite.PADV2", 3, input, list, get_ir_node_input(node, 2));
    return finish_raised(&emit);
}

static int raise_expand(struct graph* graph, struct node* node)
{
    emitter_t emit = start_emitting(graph, node);
    begin_op(&emit, "tflite.BROADCAST_TO", 2, get_ir_node_input(node, 0),
             emit_dims(&emit, get_ir_node_output(node, 0)));
    return finish_raised(&emit);
}

static int raise_tile(struct graph* graph, struct node* node)
{
    int64_t repeats[MAX_SHAPE_DIM_NUM];
    const int number = read_raised_ints(node, 1, repeats, MAX_SHAPE_DIM_NUM);
    if (number < 0) return refuse_raising(node, "its repeats are known only at run time");
    emitter_t emit = start_emitting(graph, node);
    begin_op(&emit, "tflite.TILE", 2, get_ir_node_input(node, 0),
             emit_int32s(&emit, repeats, number));
    return finish_raised(&emit);
}

// ---- along axes ----

static int raise_reduction(struct graph* graph, struct node* node)
{
    static const char* const ops[][2] = {{"ReduceMax", "tflite.REDUCE_MAX"},
                                         {"ReduceMean", "tflite.MEAN"},
                                         {"ReduceMin", "tflite.REDUCE_MIN"},
                                         {"ReduceProd", "tflite.REDUCE_PROD"},
                                         {"ReduceSum", "tflite.SUM"}};
    const int rank = get_ir_node_input(node, 0)->dim_num;
    const char* op = get_ir_node_op(node);
    int64_t axes[MAX_SHAPE_DIM_NUM];
    int number = 0, row = 0;
    while (strcmp(ops[row][0], op) != 0)
        ++row;
    if (get_ir_node_input(node, 1)) number = read_raised_ints(node, 1, axes, MAX_SHAPE_DIM_NUM);
    if (number < 0) return refuse_raising(node, "its axes are known only at run time");
    if (number == 0 && get_ir_node_int(node, "noop_with_empty_axes", 0) != 0)
        return rewrite_as(graph, node, "Identity");
    if (number == 0)
        for (; number < rank; ++number)
            axes[number] = number;
    emitter_t emit = start_emitting(graph, node);
    begin_op(&emit, ops[row][1], 2, get_ir_node_input(node, 0), emit_int32s(&emit, axes, number));
    emit_attr_int(&emit, "keep_dims", get_ir_node_int(node, "keepdims", 1));
    return finish_raised(&emit);
}

// SOFTMAX is along the last axis.
static int raise_softmax(struct graph* graph, struct node* node)
{
    const bool is_log = strcmp(get_ir_node_op(node), "LogSoftmax") == 0;
    struct tensor* input = get_ir_node_input(node, 0);
    const int rank = input->dim_num;
    const int64_t axis = find_axis(node, get_ir_node_int(node, "axis", -1));
    int64_t order[MAX_SHAPE_DIM_NUM];
    int dims[MAX_SHAPE_DIM_NUM];
    for (int i = 0; i < rank; ++i)
        order[i] = i;
    order[rank - 1] = axis;
    order[axis] = rank - 1;
    const bool is_last = axis == rank - 1;
    emitter_t emit = start_emitting(graph, node);
    struct tensor* turned = is_last ? input : emit_transpose(&emit, input, order, rank);
    begin_op(&emit, is_log ? "tflite.LOG_SOFTMAX" : "tflite.SOFTMAX", 1, turned);
    if (!is_log) emit_attr_float(&emit, "beta", 1);
    if (is_last) return finish_raised(&emit);
    for (int i = 0; i < rank; ++i)
        dims[i] = input->dims[order[i]];
    struct tensor* result = end_raised(&emit, input->data_type, dims, rank);
    return finish_emitting(&emit, 1, emit_transpose(&emit, result, order, rank));
}

static int raise_arg(struct graph* graph, struct node* node)
{
    const struct tensor* output = get_ir_node_output(node, 0);
    const struct tensor* input = get_ir_node_input(node, 0);
    const bool is_max = strcmp(get_ir_node_op(node), "ArgMax") == 0;
    const int64_t axis = find_axis(node, get_ir_node_int(node, "axis", 0));
    if (get_ir_node_int(node, "select_last_index", 0) != 0) return OP_NOT_RAISED;
    emitter_t emit = start_emitting(graph, node);
    begin_op(&emit, is_max ? "tflite.ARG_MAX" : "tflite.ARG_MIN", 2, get_ir_node_input(node, 0),
             emit_scalar(&emit, axis));
    emit_attr_int(&emit, "output_type", TFL_TYPE_INT64);
    if (get_ir_node_int(node, "keepdims", 1) == 0) return finish_raised(&emit);
    int dims[MAX_SHAPE_DIM_NUM], rank = 0;
    int64_t kept[MAX_SHAPE_DIM_NUM];
    for (int i = 0; i < input->dim_num; ++i)
        if (i != axis) dims[rank++] = input->dims[i];
    struct tensor* result = end_raised(&emit, output->data_type, dims, rank);
    begin_op(&emit, "tflite.RESHAPE", 2, result, emit_dims(&emit, output));
    emit_attr_ints(&emit, "new_shape", kept, read_dims(output, kept));
    return finish_raised(&emit);
}

static int raise_top_k(struct graph* graph, struct node* node)
{
    const struct tensor *values = get_ir_node_output(node, 0),
                        *places = get_ir_node_output(node, 1);
    const struct tensor* any = values ? values : places;
    const int rank = get_ir_node_input(node, 0)->dim_num;
    int64_t number = 0;
    if (find_axis(node, get_ir_node_int(node, "axis", -1)) != rank - 1 ||
        get_ir_node_int(node, "largest", 1) == 0 || read_raised_ints(node, 1, &number, 1) != 1)
        return refuse_raising(node,
                              "TOPK_V2 gives a constant number of largest elements along the "
                              "last axis");
    emitter_t emit = start_emitting(graph, node);
    struct tensor* results[2];
    begin_op(&emit, "tflite.TOPK_V2", 2, get_ir_node_input(node, 0), emit_scalar(&emit, number));
    end_op_with(&emit, results, 2);
    if (emit.status < 0) return emit.status;
    int status = set_ir_tensor_data_type(results[1], TENGINE_DT_INT32);
    if (status == TENGINE_OK) status = set_ir_tensor_shape(results[1], any->dims, rank);
    if (status == TENGINE_OK)
        status = set_ir_tensor_data_type(results[0], get_ir_node_input(node, 0)->data_type);
    if (status == TENGINE_OK) status = set_ir_tensor_shape(results[0], any->dims, rank);
    if (status < 0) return status;
    begin_op(&emit, "tflite.CAST", 1, results[1]);
    struct tensor* wide = places ? end_op(&emit) : NULL;
    return finish_emitting(&emit, 2, results[0], wide);
}

static int raise_cumsum(struct graph* graph, struct node* node)
{
    int64_t axis = 0;
    if (read_raised_ints(node, 1, &axis, 1) != 1)
        return refuse_raising(node, "its axis is known only at run time");
    emitter_t emit = start_emitting(graph, node);
    begin_op(&emit, "tflite.CUMSUM", 2, get_ir_node_input(node, 0),
             emit_scalar(&emit, find_axis(node, axis)));
    emit_attr_int(&emit, "exclusive", get_ir_node_int(node, "exclusive", 0));
    emit_attr_int(&emit, "reverse", get_ir_node_int(node, "reverse", 0));
    return finish_raised(&emit);
}

static const tfl_raising_t rows[] = {
    {"ArgMax", raise_arg},          {"ArgMin", raise_arg},
    {"Concat", raise_concat},       {"CumSum", raise_cumsum},
    {"Expand", raise_expand},       {"Flatten", raise_as_tfl_reshape},
    {"Gather", raise_gather},       {"GatherND", raise_gather_nd},
    {"LogSoftmax", raise_softmax},  {"Pad", raise_pad},
    {"ReduceMax", raise_reduction}, {"ReduceMean", raise_reduction},
    {"ReduceMin", raise_reduction}, {"ReduceProd", raise_reduction},
    {"ReduceSum", raise_reduction}, {"Reshape", raise_as_tfl_reshape},
    {"Slice", raise_slice},         {"Softmax", raise_softmax},
    {"Split", raise_split},         {"Squeeze", raise_as_tfl_reshape},
    {"Tile", raise_tile},           {"TopK", raise_top_k},
    {"Transpose", raise_transpose}, {"Unsqueeze", raise_as_tfl_reshape},
};

TFL_RAISINGS(tfl_shape_raisings, rows);
