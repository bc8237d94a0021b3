// SPDX-License-Identifier: Apache-2.0
// StableHLO's functions of single elements, and those that move elements.
#include "operator/tengine/function.h"
#include "operator/tflite/stablehlo.h"

struct tfl_hlo_axis_param
{
    int axis;
};

struct tfl_hlo_list_param
{
    struct op_ints list;
};

struct tfl_hlo_compare_param
{
    int direction;
};

struct tfl_hlo_slice_param
{
    struct op_ints starts;
    struct op_ints limits;
    struct op_ints strides;
};

struct tfl_hlo_pad_param
{
    struct op_ints low;
    struct op_ints high;
    struct op_ints interior;
};

enum hlo_direction
{
    HLO_EQ,
    HLO_NE,
    HLO_GE,
    HLO_GT,
    HLO_LE,
    HLO_LT
};

static const op_field_t hlo_axis_fields[] = {
    HLO_NUMBER(struct tfl_hlo_axis_param, axis, 0),
};

static const op_field_t hlo_list_fields[] = {
    HLO_LIST(struct tfl_hlo_list_param, list, 0),
};

static const op_field_t hlo_compare_fields[] = {
    TM_FIELD(struct tfl_hlo_compare_param, INT, direction, WORD, 0, .maximum = HLO_LT),
};

static const op_field_t hlo_slice_fields[] = {
    HLO_LIST(struct tfl_hlo_slice_param, starts, 0),
    HLO_LIST(struct tfl_hlo_slice_param, limits, 1),
    HLO_LIST(struct tfl_hlo_slice_param, strides, 2),
};

static const op_field_t hlo_pad_fields[] = {
    HLO_LIST(struct tfl_hlo_pad_param, low, 0),
    HLO_LIST(struct tfl_hlo_pad_param, high, 1),
    HLO_LIST(struct tfl_hlo_pad_param, interior, 2),
};

// ---- what the other tables use ----

void read_hlo_list(emitter_t* emit, const struct op_ints* list, const char* name, int num,
                   int64_t otherwise, int64_t out_values[])
{
    if (emit->status == TENGINE_OK && list->num != 0 && list->num != num)
        fail_emitting(emit, TENGINE_EINVAL, "its %s has %d elements, expected %d", name, list->num,
                      num);
    for (int i = 0; i < num; ++i)
        out_values[i] = list->num == num ? list->values[i] : otherwise;
}

void check_hlo_axes(emitter_t* emit, const struct op_ints* list, const char* name, int rank)
{
    unsigned seen = 0;
    for (int i = 0; i < list->num && emit->status == TENGINE_OK; ++i) {
        const int64_t axis = list->values[i];
        if (axis < 0 || axis >= rank || (seen >> axis & 1))
            fail_emitting(emit, TENGINE_EINVAL,
                          "its %s has the axis %lld, expected different ones below %d", name,
                          (long long)axis, rank);
        else
            seen |= 1u << axis;
    }
}

struct tensor* emit_hlo_order(emitter_t* emit, struct tensor* input, const int64_t order[], int num)
{
    bool moves = false;
    for (int i = 0; i < num; ++i)
        moves = moves || order[i] != i;
    return moves ? emit_transpose(emit, input, order, num) : input;
}

struct tensor* emit_hlo_pad(emitter_t* emit, struct tensor* input, const int64_t low[],
                            const int64_t high[], const int64_t interior[], struct tensor* value)
{
    if (emit->status < 0) return NULL;
    const int rank = input->dim_num;
    int64_t pads[2 * MAX_SHAPE_DIM_NUM];
    bool pads_ends = false;
    struct tensor* result = input;
    for (int i = 0; i < rank && emit->status == TENGINE_OK; ++i) {
        const int64_t size = input->dims[i];
        const bool is_small = interior[i] >= 0 && interior[i] <= INT32_MAX && low[i] <= INT32_MAX &&
                              high[i] <= INT32_MAX;
        const int64_t step = is_small ? interior[i] + 1 : 1;
        const int64_t wide = size == 0 ? 0 : (size - 1) * step + 1;
        if (!is_small || low[i] < -wide || high[i] < -wide || wide + low[i] + high[i] > INT32_MAX ||
            wide + low[i] + high[i] < 0) {
            fail_emitting(emit, TENGINE_ERANGE,
                          "its padding of axis %d, which has %lld elements, is %lld, %lld and %lld "
                          "between them",
                          i, (long long)size, (long long)low[i], (long long)high[i],
                          (long long)interior[i]);
            return NULL;
        }
        pads[i] = low[i];
        pads[rank + i] = high[i];
        pads_ends = pads_ends || low[i] != 0 || high[i] != 0;
        result = emit_gaps(emit, result, i, step, value);
    }
    if (!pads_ends) return result;
    return emit_op(emit, "Pad", 3, result, emit_ints(emit, pads, 2 * rank), value);
}

struct tensor* emit_hlo_starts(emitter_t* emit, int first, int num)
{
    struct tensor* parts[MAX_SHAPE_DIM_NUM];
    for (int i = 0; i < num; ++i)
        parts[i] = emit_reshape(emit, emit_indices(emit, get_operand(emit, first + i)),
                                (const int64_t[]){1}, 1);
    begin_op(emit, "Concat", 0);
    for (int i = 0; i < num; ++i)
        emit_input(emit, parts[i]);
    emit_attr_int(emit, "axis", 0);
    return end_op(emit);
}

const char* find_hlo_operator(int body, const struct tensor* like)
{
    const bool is_bool = like->data_type == TENGINE_DT_BOOL;
    switch (body) {
        case TFL_BODY_ADD:
            return is_bool ? "Or" : "Add";
        case TFL_BODY_MULTIPLY:
            return is_bool ? "And" : "Mul";
        case TFL_BODY_MAXIMUM:
            return is_bool ? "Or" : "Max";
        case TFL_BODY_MINIMUM:
            return is_bool ? "And" : "Min";
        case TFL_BODY_AND:
            return is_bool ? "And" : "BitwiseAnd";
        case TFL_BODY_OR:
            return is_bool ? "Or" : "BitwiseOr";
        default:
            return NULL;
    }
}

// ---- functions of elements ----

TFL_LOWER_AS(lower_abs, "Abs")
TFL_LOWER_AS(lower_cosine, "Cos")
TFL_LOWER_AS(lower_divide, "Div")
TFL_LOWER_AS(lower_exponential, "Exp")
TFL_LOWER_AS(lower_floor, "Floor")
TFL_LOWER_AS(lower_log, "Log")
TFL_LOWER_AS(lower_logistic, "Sigmoid")
TFL_LOWER_AS(lower_negate, "Neg")
TFL_LOWER_AS(lower_power, "Pow")
TFL_LOWER_AS(lower_select, "Where")
TFL_LOWER_AS(lower_subtract, "Sub")
TFL_LOWER_AS(lower_tanh, "Tanh")

static int lower_pair(struct graph* graph, struct node* node, int body)
{
    return rewrite_as(graph, node, find_hlo_operator(body, get_ir_node_input(node, 0)));
}

static int lower_add(struct graph* graph, struct node* node)
{
    return lower_pair(graph, node, TFL_BODY_ADD);
}

static int lower_multiply(struct graph* graph, struct node* node)
{
    return lower_pair(graph, node, TFL_BODY_MULTIPLY);
}

static int lower_maximum(struct graph* graph, struct node* node)
{
    return lower_pair(graph, node, TFL_BODY_MAXIMUM);
}

static int lower_minimum(struct graph* graph, struct node* node)
{
    return lower_pair(graph, node, TFL_BODY_MINIMUM);
}

static int lower_and(struct graph* graph, struct node* node)
{
    return lower_pair(graph, node, TFL_BODY_AND);
}

static int lower_or(struct graph* graph, struct node* node)
{
    return lower_pair(graph, node, TFL_BODY_OR);
}

// The sign of the remainder is that of the dividend.
static int lower_remainder(struct graph* graph, struct node* node)
{
    emitter_t emit = start_emitting(graph, node);
    begin_op(&emit, "Mod", 2, get_operand(&emit, 0), get_operand(&emit, 1));
    emit_attr_int(&emit, "fmod", 1);
    return finish_emitting(&emit, 1, end_op(&emit));
}

static int lower_rsqrt(struct graph* graph, struct node* node)
{
    emitter_t emit = start_emitting(graph, node);
    return finish_emitting(&emit, 1, emit_tm_function(&emit, "Rsqrt", get_operand(&emit, 0)));
}

static int lower_cbrt(struct graph* graph, struct node* node)
{
    emitter_t emit = start_emitting(graph, node);
    struct tensor* x = get_operand(&emit, 0);
    struct tensor* root =
        emit_op(&emit, "Pow", 2, emit_op(&emit, "Abs", 1, x), emit_number(&emit, 1.0f / 3, x));
    return finish_emitting(&emit, 1, emit_op(&emit, "Mul", 2, emit_op(&emit, "Sign", 1, x), root));
}

// Bits that leave the type are lost.
static int lower_shift_left(struct graph* graph, struct node* node)
{
    emitter_t emit = start_emitting(graph, node);
    struct tensor *x = get_operand(&emit, 0), *places = get_operand(&emit, 1);
    struct tensor* factor =
        emit_op(&emit, "Pow", 2, emit_int(&emit, 2), emit_cast(&emit, places, TENGINE_DT_INT64));
    struct tensor* product =
        emit_op(&emit, "Mul", 2, emit_cast(&emit, x, TENGINE_DT_INT64), factor);
    return finish_emitting(&emit, 1, emit_cast(&emit, product, x->data_type));
}

static int lower_clamp(struct graph* graph, struct node* node)
{
    emitter_t emit = start_emitting(graph, node);
    struct tensor* low = emit_op(&emit, "Min", 2, get_operand(&emit, 1), get_operand(&emit, 2));
    return finish_emitting(&emit, 1, emit_op(&emit, "Max", 2, low, get_operand(&emit, 0)));
}

static int lower_compare(struct graph* graph, struct node* node)
{
    static const char* const ops[] = {"Equal",   "Equal",       "GreaterOrEqual",
                                      "Greater", "LessOrEqual", "Less"};
    const struct tfl_hlo_compare_param* param = node->op.param_mem;
    emitter_t emit = start_emitting(graph, node);
    struct tensor* result =
        emit_op(&emit, ops[param->direction], 2, get_operand(&emit, 0), get_operand(&emit, 1));
    if (param->direction == HLO_NE) result = emit_op(&emit, "Not", 1, result);
    return finish_emitting(&emit, 1, result);
}

static int lower_convert(struct graph* graph, struct node* node)
{
    emitter_t emit = start_emitting(graph, node);
    return finish_emitting(&emit, 1,
                           emit_cast(&emit, get_operand(&emit, 0), get_declared_type(&emit, 0)));
}

// ---- elements that move ----

static int lower_reshape(struct graph* graph, struct node* node)
{
    emitter_t emit = start_emitting(graph, node);
    int64_t dims[MAX_SHAPE_DIM_NUM];
    const int rank = read_declared_shape(&emit, 0, dims);
    return finish_emitting(&emit, 1, emit_reshape(&emit, get_operand(&emit, 0), dims, rank));
}

static int lower_transpose(struct graph* graph, struct node* node)
{
    const struct tfl_hlo_list_param* param = node->op.param_mem;
    emitter_t emit = start_emitting(graph, node);
    struct tensor* input = get_operand(&emit, 0);
    int64_t order[MAX_SHAPE_DIM_NUM];
    check_hlo_axes(&emit, &param->list, "permutation", input->dim_num);
    read_hlo_list(&emit, &param->list, "permutation", input->dim_num, 0, order);
    return finish_emitting(&emit, 1, emit_transpose(&emit, input, order, input->dim_num));
}

static int lower_concatenate(struct graph* graph, struct node* node)
{
    const struct tfl_hlo_axis_param* param = node->op.param_mem;
    emitter_t emit = start_emitting(graph, node);
    begin_op(&emit, "Concat", 0);
    for (int i = 0; i < node->input_num; ++i)
        emit_input(&emit, get_operand(&emit, i));
    emit_attr_int(&emit, "axis", param->axis);
    return finish_emitting(&emit, 1, end_op(&emit));
}

// The axes of the input are these axes of the result.
static int lower_broadcast_in_dim(struct graph* graph, struct node* node)
{
    const struct tfl_hlo_list_param* param = node->op.param_mem;
    emitter_t emit = start_emitting(graph, node);
    struct tensor* input = get_operand(&emit, 0);
    int64_t dims[MAX_SHAPE_DIM_NUM], places[MAX_SHAPE_DIM_NUM], shown[MAX_SHAPE_DIM_NUM];
    const int rank = read_declared_shape(&emit, 0, dims);
    check_hlo_axes(&emit, &param->list, "list of axes", rank);
    read_hlo_list(&emit, &param->list, "list of axes", input->dim_num, 0, places);
    for (int i = 0; i < rank; ++i)
        shown[i] = 1;
    for (int i = 0; i < input->dim_num && emit.status == TENGINE_OK; ++i) {
        if (i > 0 && places[i] < places[i - 1])
            fail_emitting(&emit, TENGINE_ENOTSUP, "its list of axes does not ascend");
        shown[places[i]] = input->dims[i];
    }
    struct tensor* result = emit_reshape(&emit, input, shown, rank);
    return finish_emitting(&emit, 1,
                           emit_op(&emit, "Expand", 2, result, emit_ints(&emit, dims, rank)));
}

static int lower_slice(struct graph* graph, struct node* node)
{
    const struct tfl_hlo_slice_param* param = node->op.param_mem;
    emitter_t emit = start_emitting(graph, node);
    struct tensor* input = get_operand(&emit, 0);
    const int rank = input->dim_num;
    int64_t lists[3][MAX_SHAPE_DIM_NUM];
    read_hlo_list(&emit, &param->starts, "list of starts", rank, 0, lists[0]);
    read_hlo_list(&emit, &param->limits, "list of limits", rank, INT64_MAX, lists[1]);
    read_hlo_list(&emit, &param->strides, "list of strides", rank, 1, lists[2]);
    struct axis_cut cuts[MAX_SHAPE_DIM_NUM];
    for (int i = 0; i < rank; ++i) {
        cuts[i] = (struct axis_cut){i, lists[0][i], lists[1][i], lists[2][i]};
        if (emit.status == TENGINE_OK && (cuts[i].begin < 0 || cuts[i].end < 0 || cuts[i].step < 1))
            fail_emitting(&emit, TENGINE_ERANGE, "it takes %lld to %lld by %lld of axis %d",
                          (long long)cuts[i].begin, (long long)cuts[i].end, (long long)cuts[i].step,
                          i);
    }
    struct tensor* result = emit_cuts(&emit, input, cuts, rank);
    return finish_emitting(&emit, 1,
                           result == input ? emit_op(&emit, "Identity", 1, input) : result);
}

// Starts are moved where a slice would reach beyond the end.
static int lower_dynamic_slice(struct graph* graph, struct node* node)
{
    const struct tfl_hlo_list_param* param = node->op.param_mem;
    emitter_t emit = start_emitting(graph, node);
    struct tensor* input = get_operand(&emit, 0);
    const int rank = input->dim_num;
    int64_t sizes[MAX_SHAPE_DIM_NUM], last[MAX_SHAPE_DIM_NUM];
    read_hlo_list(&emit, &param->list, "list of sizes", rank, 0, sizes);
    if (emit.status == TENGINE_OK && node->input_num != 1 + rank)
        fail_emitting(&emit, TENGINE_EINVAL, "it has %d starts, its input rank %d",
                      node->input_num - 1, rank);
    for (int i = 0; i < rank && emit.status == TENGINE_OK; ++i) {
        last[i] = input->dims[i] - sizes[i];
        if (sizes[i] < 0 || last[i] < 0)
            fail_emitting(&emit, TENGINE_ERANGE, "its size of axis %d is %lld of %d elements", i,
                          (long long)sizes[i], input->dims[i]);
    }
    if (emit.status < 0) return emit.status;
    if (rank == 0) return finish_emitting(&emit, 1, emit_op(&emit, "Identity", 1, input));
    struct tensor* begin = emit_hlo_starts(&emit, 1, rank);
    begin = emit_op(&emit, "Max", 2, begin, emit_int(&emit, 0));
    begin = emit_op(&emit, "Min", 2, begin, emit_ints(&emit, last, rank));
    struct tensor* end = emit_op(&emit, "Add", 2, begin, emit_ints(&emit, sizes, rank));
    int64_t dims[MAX_SHAPE_DIM_NUM];
    for (int i = 0; i < rank; ++i)
        dims[i] = sizes[i];
    struct tensor* taken = emit_op(&emit, "Slice", 3, input, begin, end);
    return finish_emitting(&emit, 1, emit_reshape(&emit, taken, dims, rank));
}

static int lower_dynamic_update_slice(struct graph* graph, struct node* node)
{
    emitter_t emit = start_emitting(graph, node);
    struct tensor *input = get_operand(&emit, 0), *update = get_operand(&emit, 1);
    const int rank = input->dim_num;
    if (node->input_num != 2 + rank)
        return fail_emitting(&emit, TENGINE_EINVAL, "it has %d starts, its input rank %d",
                             node->input_num - 2, rank);
    struct tensor* starts = rank == 0 ? emit_ints(&emit, NULL, 0) : emit_hlo_starts(&emit, 2, rank);
    return finish_emitting(&emit, 1, emit_update(&emit, input, update, starts));
}

static int lower_pad(struct graph* graph, struct node* node)
{
    const struct tfl_hlo_pad_param* param = node->op.param_mem;
    emitter_t emit = start_emitting(graph, node);
    struct tensor *input = get_operand(&emit, 0), *value = get_operand(&emit, 1);
    const int rank = input->dim_num;
    int64_t lists[3][MAX_SHAPE_DIM_NUM];
    read_hlo_list(&emit, &param->low, "low padding", rank, 0, lists[0]);
    read_hlo_list(&emit, &param->high, "high padding", rank, 0, lists[1]);
    read_hlo_list(&emit, &param->interior, "interior padding", rank, 0, lists[2]);
    if (value->dim_num != 0) value = emit_reshape(&emit, value, NULL, 0);
    struct tensor* result = emit_hlo_pad(&emit, input, lists[0], lists[1], lists[2], value);
    return finish_emitting(&emit, 1,
                           result == input ? emit_op(&emit, "Identity", 1, input) : result);
}

// Counts along one axis.
static int lower_iota(struct graph* graph, struct node* node)
{
    const struct tfl_hlo_axis_param* param = node->op.param_mem;
    emitter_t emit = start_emitting(graph, node);
    int64_t dims[MAX_SHAPE_DIM_NUM], along[MAX_SHAPE_DIM_NUM];
    const int rank = read_declared_shape(&emit, 0, dims);
    if (emit.status == TENGINE_OK && (param->axis < 0 || param->axis >= rank))
        fail_emitting(&emit, TENGINE_EINVAL, "its axis is %d, that of its result are %d",
                      param->axis, rank);
    if (emit.status < 0) return emit.status;
    for (int i = 0; i < rank; ++i)
        along[i] = i == param->axis ? dims[i] : 1;
    struct tensor* count = emit_op(&emit, "Range", 3, emit_int(&emit, 0),
                                   emit_int(&emit, dims[param->axis]), emit_int(&emit, 1));
    count = emit_cast(&emit, count, get_declared_type(&emit, 0));
    count = emit_reshape(&emit, count, along, rank);
    return finish_emitting(&emit, 1,
                           emit_op(&emit, "Expand", 2, count, emit_ints(&emit, dims, rank)));
}

#define ONE TFL_COUNTS(1, 1, 1)
#define TWO TFL_COUNTS(2, 2, 1)

static const ir_method_t* const rows[] = {
    TFLITE_ROW(STABLEHLO_ABS, 175, ONE, .lower = lower_abs),
    TFLITE_ROW(STABLEHLO_ADD, 163, TWO, .lower = lower_add),
    TFLITE_ROW(STABLEHLO_AND, 176, TWO, .lower = lower_and),
    TFLITE_ROW(STABLEHLO_BROADCAST_IN_DIM, 170, ONE, TFL_PARAMS(hlo_list),
               .lower = lower_broadcast_in_dim),
    TFLITE_ROW(STABLEHLO_CBRT, 208, ONE, .lower = lower_cbrt),
    TFLITE_ROW(STABLEHLO_CLAMP, 168, TFL_COUNTS(3, 3, 1), .lower = lower_clamp),
    TFLITE_ROW(STABLEHLO_COMPARE, 191, TWO, TFL_PARAMS(hlo_compare), .lower = lower_compare),
    TFLITE_ROW(STABLEHLO_CONCATENATE, 169, TFL_COUNTS(1, -1, 1), TFL_PARAMS(hlo_axis),
               .lower = lower_concatenate),
    TFLITE_ROW(STABLEHLO_CONVERT, 192, ONE, .lower = lower_convert),
    TFLITE_ROW(STABLEHLO_COSINE, 177, ONE, .lower = lower_cosine),
    TFLITE_ROW(STABLEHLO_DIVIDE, 164, TWO, .lower = lower_divide),
    TFLITE_ROW(STABLEHLO_DYNAMIC_SLICE, 193, TFL_COUNTS(1, -1, 1), TFL_PARAMS(hlo_list),
               .lower = lower_dynamic_slice),
    TFLITE_ROW(STABLEHLO_DYNAMIC_UPDATE_SLICE, 194, TFL_COUNTS(2, -1, 1),
               .lower = lower_dynamic_update_slice),
    TFLITE_ROW(STABLEHLO_EXPONENTIAL, 178, ONE, .lower = lower_exponential),
    TFLITE_ROW(STABLEHLO_FLOOR, 179, ONE, .lower = lower_floor),
    TFLITE_ROW(STABLEHLO_IOTA, 196, TFL_COUNTS(0, 0, 1), TFL_PARAMS(hlo_axis), .lower = lower_iota),
    TFLITE_ROW(STABLEHLO_LOG, 180, ONE, .lower = lower_log),
    TFLITE_ROW(STABLEHLO_LOGISTIC, 162, ONE, .lower = lower_logistic),
    TFLITE_ROW(STABLEHLO_MAXIMUM, 166, TWO, .lower = lower_maximum),
    TFLITE_ROW(STABLEHLO_MINIMUM, 181, TWO, .lower = lower_minimum),
    TFLITE_ROW(STABLEHLO_MULTIPLY, 165, TWO, .lower = lower_multiply),
    TFLITE_ROW(STABLEHLO_NEGATE, 182, ONE, .lower = lower_negate),
    TFLITE_ROW(STABLEHLO_OR, 183, TWO, .lower = lower_or),
    TFLITE_ROW(STABLEHLO_PAD, 195, TWO, TFL_PARAMS(hlo_pad), .lower = lower_pad),
    TFLITE_ROW(STABLEHLO_POWER, 184, TWO, .lower = lower_power),
    TFLITE_ROW(STABLEHLO_REMAINDER, 185, TWO, .lower = lower_remainder),
    TFLITE_ROW(STABLEHLO_RESHAPE, 167, ONE, .lower = lower_reshape),
    TFLITE_ROW(STABLEHLO_RSQRT, 186, ONE, .lower = lower_rsqrt),
    TFLITE_ROW(STABLEHLO_SELECT, 187, TFL_COUNTS(3, 3, 1), .lower = lower_select),
    TFLITE_ROW(STABLEHLO_SHIFT_LEFT, 207, TWO, .lower = lower_shift_left),
    TFLITE_ROW(STABLEHLO_SLICE, 172, ONE, TFL_PARAMS(hlo_slice), .lower = lower_slice),
    TFLITE_ROW(STABLEHLO_SUBTRACT, 188, TWO, .lower = lower_subtract),
    TFLITE_ROW(STABLEHLO_TANH, 189, ONE, .lower = lower_tanh),
    TFLITE_ROW(STABLEHLO_TRANSPOSE, 202, ONE, TFL_PARAMS(hlo_list), .lower = lower_transpose),
};

OPERATOR_TABLE(tflite_stablehlo_ops, rows);
