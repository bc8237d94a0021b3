// SPDX-License-Identifier: Apache-2.0
// Tengine's reductions along axes, positions of extremes, and the share of right answers.
#include <string.h>

#include "operator/row.h"
#include "operator/tengine/emit.h"
#include "operator/tengine/function.h"
#include "operator/tengine/raise.h"

#define REDUCTION_DIMS 4
#define UNUSED_DIM (-2)

struct tm_reduction_param
{
    int dim_0;
    int dim_1;
    int dim_2;
    int dim_3;
    int type;
    int keepdim;
};

struct tm_reduce_l2_param
{
    int axis;
    int keepdim;
};

// ArgMax, ArgMin.
struct tm_arg_param
{
    int axis;
    int keepdims;
};

struct tm_topk_param
{
    int k;
    int sorted;
};

static const op_field_t reduction_fields[] = {
    TM_FIELD(struct tm_reduction_param, INT, dim_0, WORD, 0, .number = UNUSED_DIM),
    TM_FIELD(struct tm_reduction_param, INT, dim_1, WORD, 4, .number = UNUSED_DIM),
    TM_FIELD(struct tm_reduction_param, INT, dim_2, WORD, 8, .number = UNUSED_DIM),
    TM_FIELD(struct tm_reduction_param, INT, dim_3, WORD, 12, .number = UNUSED_DIM),
    TM_FIELD(struct tm_reduction_param, INT, type, WORD, 16, .number = 0),
    TM_FIELD(struct tm_reduction_param, INT, keepdim, WORD, 20, .number = 0),
};

static const op_field_t reduce_l2_fields[] = {
    TM_FIELD(struct tm_reduce_l2_param, INT, axis, WORD, 0, .number = 0),
    TM_FIELD(struct tm_reduce_l2_param, INT, keepdim, WORD, 4, .number = 1),
};

static const op_field_t arg_fields[] = {
    TM_FIELD(struct tm_arg_param, INT, axis, WORD, 0, .number = 0),
    TM_FIELD(struct tm_arg_param, INT, keepdims, WORD, 4, .number = 1),
};

static const op_field_t topk_fields[] = {
    TM_FIELD(struct tm_topk_param, INT, k, WORD, 0, .number = 1),
    TM_FIELD(struct tm_topk_param, INT, sorted, WORD, 4, .number = 0),
};

// Tengine has no tensors without dimensions: one number has shape [1].
static struct tensor* emit_one_dimension(emitter_t* emit, struct tensor* tensor)
{
    const int64_t one = 1;
    if (!tensor || tensor->dim_num > 0) return tensor;
    return emit_reshape(emit, tensor, &one, 1);
}

static struct tensor* emit_reduce(emitter_t* emit, const char* op, const int64_t* axes, int num,
                                  bool keep)
{
    struct tensor* input = get_ir_node_input(emit->origin, 0);
    begin_op(emit, op, 2, input, emit_ints(emit, axes, num));
    emit_attr_int(emit, "keepdims", keep);
    return emit_one_dimension(emit, end_op(emit));
}

// ---- Reduction ----

// By Reduction's type; where two types compute the same, the second is only read, never written.
static const char* const reductions[] = {
    "ReduceSum",  "ReduceMean", "ReduceL1",        "ReduceSumSquare", "ReduceMax",      "ReduceMin",
    "ReduceProd", "ReduceL1",   "ReduceSumSquare", "ReduceLogSum",    "ReduceLogSumExp"};
#define REDUCTION_NUM ((int)(sizeof(reductions) / sizeof(reductions[0])))
#define REDUCTION_SUM_SQUARE 3

static int lower_reduction(struct graph* graph, struct node* node)
{
    const struct tm_reduction_param* param = node->op.param_mem;
    const int dims[REDUCTION_DIMS] = {param->dim_0, param->dim_1, param->dim_2, param->dim_3};
    int64_t axes[REDUCTION_DIMS];
    int num = 0;
    if (param->type < 0 || param->type >= REDUCTION_NUM)
        return fail_node(node, TENGINE_EINVAL,
                         "unknown type %d: expected 0 (sum) to 10 (log of sum of exponentials)",
                         param->type);
    for (int i = 0; i < REDUCTION_DIMS; ++i) {
        int axis;
        if (dims[i] == UNUSED_DIM) continue;
        TENGINE_RETURN_IF_ERROR(
            normalize_axis(node, dims[i], get_ir_node_input(node, 0)->dim_num, &axis));
        axes[num++] = axis;
    }
    emitter_t emit = start_emitting(graph, node);
    return finish_emitting(
        &emit, 1, emit_reduce(&emit, reductions[param->type], axes, num, param->keepdim != 0));
}

// Reads the dimensions that an ONNX reduction reduces; false after refusing.
static bool read_reduced(struct node* node, bool out_reduced[MAX_SHAPE_DIM_NUM])
{
    const struct tensor* input = get_ir_node_input(node, 0);
    int64_t axes[MAX_SHAPE_DIM_NUM];
    const int num =
        get_ir_node_input(node, 1) ? read_raised_ints(node, 1, axes, MAX_SHAPE_DIM_NUM) : 0;
    if (num < 0 || (num == 0 && get_ir_node_int(node, "noop_with_empty_axes", 0))) {
        refuse_raising(
            node, num < 0 ? "its axes are not a constant of at most 8 integers"
                          : "it reduces nothing, Tengine's Reduction without axes reduces all");
        return false;
    }
    for (int i = 0; i < MAX_SHAPE_DIM_NUM; ++i)
        out_reduced[i] = num == 0 && i < input->dim_num;
    for (int i = 0; i < num; ++i) {
        int axis;
        if (normalize_axis(node, axes[i], input->dim_num, &axis) < 0) return false;
        out_reduced[axis] = true;
    }
    return true;
}

static bool is_reduction_expressible(struct node* node)
{
    const struct tensor* input = get_ir_node_input(node, 0);
    if (input->dim_num == 0 || input->dim_num > REDUCTION_DIMS) {
        refuse_raising(node, "its input has %d dimensions, Tengine reduces 1 to 4", input->dim_num);
        return false;
    }
    if (get_ir_node_output(node, 0)->dim_num == 0) {
        refuse_raising(node, "its result has no dimension, Tengine's has at least one");
        return false;
    }
    return has_tengine_type(node);
}

static struct tensor* emit_tm_reduction(emitter_t* emit, int type,
                                        const bool reduced[MAX_SHAPE_DIM_NUM], bool keep)
{
    static const char* const names[] = {"dim_0", "dim_1", "dim_2", "dim_3"};
    struct tensor* input = get_ir_node_input(emit->origin, 0);
    int num = 0;
    begin_op(emit, "tengine.Reduction", 1, input);
    for (int i = 0; i < input->dim_num; ++i)
        if (reduced[i]) emit_attr_int(emit, names[num++], i);
    emit_attr_int(emit, "type", type);
    emit_attr_int(emit, "keepdim", keep);
    return end_op(emit);
}

static int raise_reduction(struct graph* graph, struct node* node)
{
    bool reduced[MAX_SHAPE_DIM_NUM];
    if (!is_reduction_expressible(node) || !read_reduced(node, reduced)) return OP_NOT_RAISED;
    int type = 0;
    while (strcmp(reductions[type], get_ir_node_op(node)) != 0)
        ++type;
    const bool keep = get_ir_node_int(node, "keepdims", 1) != 0;
    emitter_t emit = start_emitting(graph, node);
    return finish_emitting(&emit, 1, emit_tm_reduction(&emit, type, reduced, keep));
}

// ---- ReduceL2 ----

// ReduceL2 reduces `axis` and all that follow it.
static int lower_reduce_l2(struct graph* graph, struct node* node)
{
    const struct tm_reduce_l2_param* param = node->op.param_mem;
    const struct tensor* input = get_ir_node_input(node, 0);
    int64_t axes[MAX_SHAPE_DIM_NUM];
    int axis;
    int num = 0;
    TENGINE_RETURN_IF_ERROR(normalize_axis(node, param->axis, input->dim_num, &axis));
    while (axis < input->dim_num)
        axes[num++] = axis++;
    emitter_t emit = start_emitting(graph, node);
    return finish_emitting(&emit, 1,
                           emit_reduce(&emit, "ReduceL2", axes, num, param->keepdim != 0));
}

// Returns the first of the reduced dimensions when these are the last ones, else -1.
static int find_first_reduced(const struct tensor* input, const bool reduced[MAX_SHAPE_DIM_NUM])
{
    int axis = 0;
    while (axis < input->dim_num && !reduced[axis])
        ++axis;
    for (int i = axis; i < input->dim_num; ++i)
        if (!reduced[i]) return -1;
    return axis < input->dim_num ? axis : -1;
}

static int raise_reduce_l2(struct graph* graph, struct node* node)
{
    bool reduced[MAX_SHAPE_DIM_NUM];
    if (!is_reduction_expressible(node) || !read_reduced(node, reduced)) return OP_NOT_RAISED;
    const bool keep = get_ir_node_int(node, "keepdims", 1) != 0;
    const int axis = find_first_reduced(get_ir_node_input(node, 0), reduced);
    // Tengine Lite's ReduceL2 has no rule for the shape without the reduced dimensions.
    const bool in_two_steps = axis < 0 || !keep;
    const int data_type = get_ir_node_input(node, 0)->data_type;
    if (in_two_steps && data_type != TENGINE_DT_FP32 && data_type != TENGINE_DT_FP16)
        return refuse_raising(node, "Tengine's square root takes floats, not %s",
                              get_data_type_name(data_type));
    emitter_t emit = start_emitting(graph, node);
    if (in_two_steps) {
        struct tensor* squares = emit_tm_reduction(&emit, REDUCTION_SUM_SQUARE, reduced, keep);
        return finish_emitting(&emit, 1, emit_tm_unary(&emit, TM_UNARY_SQRT, squares));
    }
    begin_op(&emit, "tengine.ReduceL2", 1, get_ir_node_input(node, 0));
    emit_attr_int(&emit, "axis", axis);
    emit_attr_int(&emit, "keepdim", 1);
    return finish_emitting(&emit, 1, end_op(&emit));
}

// ---- positions ----

static int lower_arg(struct graph* graph, struct node* node)
{
    const struct tm_arg_param* param = node->op.param_mem;
    emitter_t emit = start_emitting(graph, node);
    // ONNX has an operator of this name.
    begin_op(&emit, get_ir_node_op(node), 1, get_ir_node_input(node, 0));
    emit_attr_int(&emit, "axis", param->axis);
    emit_attr_int(&emit, "keepdims", param->keepdims != 0);
    struct tensor* position = emit_cast(&emit, end_op(&emit), TENGINE_DT_INT32);
    return finish_emitting(&emit, 1, emit_one_dimension(&emit, position));
}

static int refuse_positions(struct node* node)
{
    return refuse_raising(node, "its positions are used as int64, Tengine's are int32");
}

static int set_positions_type(struct node* node, int index)
{
    struct tensor* positions = get_ir_node_output(node, index);
    return positions ? set_ir_tensor_data_type(positions, TENGINE_DT_INT32) : TENGINE_OK;
}

static int raise_arg(struct graph* graph, struct node* node)
{
    int axis;
    if (get_ir_node_int(node, "select_last_index", 0))
        return refuse_raising(node, "of equal values it takes the last, Tengine the first");
    if (get_ir_node_output(node, 0)->dim_num == 0)
        return refuse_raising(node, "its result has no dimension, Tengine's has at least one");
    if (!is_type_free(node, 0)) return refuse_positions(node);
    TENGINE_RETURN_IF_ERROR(normalize_axis(node, get_ir_node_int(node, "axis", 0),
                                           get_ir_node_input(node, 0)->dim_num, &axis));
    TENGINE_RETURN_IF_ERROR(set_positions_type(node, 0));
    emitter_t emit = start_emitting(graph, node);
    const bool maximum = strcmp(get_ir_node_op(node), "ArgMax") == 0;
    begin_op(&emit, maximum ? "tengine.ArgMax" : "tengine.ArgMin", 1, get_ir_node_input(node, 0));
    emit_attr_int(&emit, "axis", axis);
    emit_attr_int(&emit, "keepdims", get_ir_node_int(node, "keepdims", 1));
    return finish_emitting(&emit, 1, end_op(&emit));
}

// Lowers to the k largest of the last dimension, the largest first whatever `sorted` says, and
// their indices.
static int lower_topk(struct graph* graph, struct node* node)
{
    const int64_t k = ((const struct tm_topk_param*)node->op.param_mem)->k;
    struct tensor* results[2];
    emitter_t emit = start_emitting(graph, node);
    begin_op(&emit, "TopK", 2, get_ir_node_input(node, 0), emit_ints(&emit, &k, 1));
    emit_attr_int(&emit, "axis", -1);
    end_op_with(&emit, results, 2);
    return finish_emitting(&emit, 2, results[0], emit_cast(&emit, results[1], TENGINE_DT_INT32));
}

static int raise_topk(struct graph* graph, struct node* node)
{
    int64_t k;
    int axis;
    const int dim_num = get_ir_node_input(node, 0)->dim_num;
    TENGINE_RETURN_IF_ERROR(
        normalize_axis(node, get_ir_node_int(node, "axis", -1), dim_num, &axis));
    if (axis != dim_num - 1)
        return refuse_raising(node, "its axis is %d, Tengine's Topkv2 takes the last, %d", axis,
                              dim_num - 1);
    if (!get_ir_node_int(node, "largest", 1))
        return refuse_raising(node, "it takes the smallest, Tengine's Topkv2 the largest");
    if (read_raised_ints(node, 1, &k, 1) != 1)
        return refuse_raising(node, "its K is not a constant");
    if (!is_type_free(node, 1)) return refuse_positions(node);
    if (!has_tengine_type(node)) return OP_NOT_RAISED;
    TENGINE_RETURN_IF_ERROR(set_positions_type(node, 1));
    struct tensor* results[2];
    emitter_t emit = start_emitting(graph, node);
    begin_op(&emit, "tengine.Topkv2", 1, get_ir_node_input(node, 0));
    emit_attr_int(&emit, "k", k);
    emit_attr_int(&emit, "sorted", 1);
    end_op_with(&emit, results, 2);
    return finish_emitting_list(&emit, results, 2);
}

// ---- Accuracy ----

// Caffe's: scores with classes along dimension 1, a label for each score's place; the share of
// places where the highest score is the label's.
static int lower_accuracy(struct graph* graph, struct node* node)
{
    const struct tensor* scores = get_ir_node_input(node, 0);
    struct tensor* labels = get_ir_node_input(node, 1);
    const int axis = scores->dim_num > 1 ? 1 : 0;
    if (scores->dim_num == 0 || scores->dims[axis] == 0 ||
        labels->elem_num != scores->elem_num / scores->dims[axis])
        return fail_node(node, TENGINE_EINVAL,
                         "%lld labels for %lld scores, expected a label for each group of classes, "
                         "which are dimension 1",
                         (long long)labels->elem_num, (long long)scores->elem_num);
    const int64_t place_num = labels->elem_num;
    emitter_t emit = start_emitting(graph, node);
    begin_op(&emit, "ArgMax", 1, get_ir_node_input(node, 0));
    emit_attr_int(&emit, "axis", axis);
    struct tensor* best = emit_reshape(&emit, end_op(&emit), &place_num, 1);
    labels = emit_reshape(&emit, emit_cast(&emit, labels, TENGINE_DT_INT64), &place_num, 1);
    struct tensor* right =
        emit_cast(&emit, emit_op(&emit, "Equal", 2, best, labels), TENGINE_DT_FP32);
    // keepdims is 1, so that the shape is [1].
    return finish_emitting(&emit, 1, emit_op(&emit, "ReduceMean", 1, right));
}

#define REDUCE(inputs, outputs, type, fields)                                               \
    .min_input = inputs, .max_input = inputs, .min_output = outputs, .max_output = outputs, \
    OP_FIELDS(fields), .param_size = sizeof(struct type), .traits = OP_LEGACY

static const ir_method_t* const rows[] = {
    TENGINE_ROW(Accuracy, -1, 0, 0, .min_input = 2, .max_input = 2, .min_output = 1,
                .max_output = 1, .traits = OP_LEGACY, .lower = lower_accuracy),
    TENGINE_ROW(ArgMax, 3, 42, 8, REDUCE(1, 1, tm_arg_param, arg_fields), .lower = lower_arg,
                RAISED("ArgMax", raise_arg)),
    TENGINE_ROW(ArgMin, 4, 43, 8, REDUCE(1, 1, tm_arg_param, arg_fields), .lower = lower_arg,
                RAISED("ArgMin", raise_arg)),
    TENGINE_ROW(ReduceL2, 53, 89, 8, REDUCE(1, 1, tm_reduce_l2_param, reduce_l2_fields),
                .lower = lower_reduce_l2, RAISED("ReduceL2", raise_reduce_l2)),
    TENGINE_ROW(
        Reduction, 54, 45, 24, REDUCE(1, 1, tm_reduction_param, reduction_fields),
        .lower = lower_reduction,
        RAISED("ReduceSum|ReduceMean|ReduceL1|ReduceSumSquare|ReduceMax|ReduceMin|ReduceProd|"
               "ReduceLogSum|ReduceLogSumExp",
               raise_reduction)),
    TENGINE_ROW(Topkv2, 83, 44, 8, REDUCE(1, 2, tm_topk_param, topk_fields), .lower = lower_topk,
                RAISED("TopK", raise_topk)),
};

OPERATOR_TABLE(tengine_reduce_ops, rows);
