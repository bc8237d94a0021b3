// SPDX-License-Identifier: Apache-2.0
// StableHLO's operators with a function of two values: reductions, sorting and scattering; and
// gathering, which has the indices of scattering.
#include "operator/tflite/stablehlo.h"

struct tfl_hlo_reduce_param
{
    struct op_ints axes;
    int body;
};

struct tfl_hlo_window_param
{
    struct op_ints sizes;
    struct op_ints strides;
    struct op_ints base_dilations;
    struct op_ints window_dilations;
    struct op_ints padding;
    int body;
};

struct tfl_listed_window_param
{
    int reduce_function;  // 1 to 6: sum, product, minimum, maximum, all, any
};

struct tfl_hlo_sort_param
{
    int axis;
    int is_stable;
    int body;
};

struct tfl_hlo_gather_param
{
    struct op_ints offset_axes;
    struct op_ints collapsed_axes;
    struct op_ints index_axes;
    int vector_axis;
    struct op_ints sizes;
};

struct tfl_hlo_scatter_param
{
    struct op_ints window_axes;
    struct op_ints inserted_axes;
    struct op_ints index_axes;
    int vector_axis;
    int body;
};

static const op_field_t hlo_reduce_fields[] = {
    HLO_LIST(struct tfl_hlo_reduce_param, axes, 0),
    HLO_BODY(struct tfl_hlo_reduce_param, 1),
};

static const op_field_t hlo_window_fields[] = {
    HLO_LIST(struct tfl_hlo_window_param, sizes, 0),
    HLO_LIST(struct tfl_hlo_window_param, strides, 1),
    HLO_LIST(struct tfl_hlo_window_param, base_dilations, 2),
    HLO_LIST(struct tfl_hlo_window_param, window_dilations, 3),
    HLO_LIST(struct tfl_hlo_window_param, padding, 4),
    HLO_BODY(struct tfl_hlo_window_param, 5),
};

static const op_field_t listed_window_fields[] = {
    TM_FIELD(struct tfl_listed_window_param, INT, reduce_function, WORD, 0, .number = 0,
             .minimum = 1, .maximum = 6),
};

static const op_field_t hlo_sort_fields[] = {
    HLO_NUMBER(struct tfl_hlo_sort_param, axis, 0),
    TFL_BOOL(struct tfl_hlo_sort_param, is_stable, 1),
    HLO_BODY(struct tfl_hlo_sort_param, 2),
};

static const op_field_t hlo_gather_fields[] = {
    HLO_LIST(struct tfl_hlo_gather_param, offset_axes, 0),
    HLO_LIST(struct tfl_hlo_gather_param, collapsed_axes, 1),
    HLO_LIST(struct tfl_hlo_gather_param, index_axes, 2),
    HLO_NUMBER(struct tfl_hlo_gather_param, vector_axis, 3),
    HLO_LIST(struct tfl_hlo_gather_param, sizes, 4),
};

static const op_field_t hlo_scatter_fields[] = {
    HLO_LIST(struct tfl_hlo_scatter_param, window_axes, 1),
    HLO_LIST(struct tfl_hlo_scatter_param, inserted_axes, 2),
    HLO_LIST(struct tfl_hlo_scatter_param, index_axes, 3),
    HLO_NUMBER(struct tfl_hlo_scatter_param, vector_axis, 4),
    HLO_BODY(struct tfl_hlo_scatter_param, 6),
};

static struct tensor* as_scalar(emitter_t* emit, struct tensor* value)
{
    return value->dim_num == 0 ? value : emit_reshape(emit, value, NULL, 0);
}

// ---- REDUCE ----

// ONNX's operator; NULL if there is none for the body.
static const char* find_reduction(int body)
{
    switch (body) {
        case TFL_BODY_ADD:
            return "ReduceSum";
        case TFL_BODY_MULTIPLY:
            return "ReduceProd";
        case TFL_BODY_MAXIMUM:
        case TFL_BODY_OR:
            return "ReduceMax";
        case TFL_BODY_MINIMUM:
        case TFL_BODY_AND:
            return "ReduceMin";
        default:
            return NULL;
    }
}

static int lower_reduce(struct graph* graph, struct node* node)
{
    const struct tfl_hlo_reduce_param* param = node->op.param_mem;
    emitter_t emit = start_emitting(graph, node);
    struct tensor *input = get_operand(&emit, 0), *result = input;
    const bool is_bool = input->data_type == TENGINE_DT_BOOL;
    const char* op = find_reduction(param->body);
    const bool needs_bits = param->body == TFL_BODY_AND || param->body == TFL_BODY_OR;
    check_hlo_axes(&emit, &param->axes, "list of axes", input->dim_num);
    if (!op || (needs_bits && !is_bool))
        return fail_emitting(&emit, TENGINE_ENOTSUP,
                             "its body is not a sum, product, maximum or minimum");
    if (is_bool) result = emit_cast(&emit, input, TENGINE_DT_INT32);
    begin_op(&emit, op, 2, result, emit_ints(&emit, param->axes.values, param->axes.num));
    emit_attr_int(&emit, "keepdims", 0);
    emit_attr_int(&emit, "noop_with_empty_axes", 1);
    result = end_op(&emit);
    if (is_bool) result = emit_cast(&emit, result, TENGINE_DT_BOOL);
    struct tensor* first = as_scalar(&emit, get_operand(&emit, 1));
    return finish_emitting(&emit, 1,
                           emit_op(&emit, find_hlo_operator(param->body, input), 2, result, first));
}

// ---- REDUCE_WINDOW ----

// The axes along which windows have more than one element or move by more than one: they become the
// spatial ones of a pool, and all others its channels.
typedef struct hlo_window
{
    int rank, axis_num;
    int body;
    int64_t order[MAX_SHAPE_DIM_NUM];  // the others, then these
    int64_t sizes[MAX_SHAPE_DIM_NUM], strides[MAX_SHAPE_DIM_NUM], dilations[MAX_SHAPE_DIM_NUM];
    int64_t low[MAX_SHAPE_DIM_NUM], high[MAX_SHAPE_DIM_NUM], interior[MAX_SHAPE_DIM_NUM];
} hlo_window_t;

// Checks the lists of a window, and chooses the axes.
static void finish_window(emitter_t* emit, hlo_window_t* window)
{
    const int rank = window->rank;
    for (int i = 0; i < rank; ++i) {
        window->interior[i] -= 1;
        if (emit->status == TENGINE_OK &&
            (window->sizes[i] < 1 || window->strides[i] < 1 || window->dilations[i] < 1))
            fail_emitting(emit, TENGINE_ERANGE,
                          "its window of axis %d has %lld elements, stride %lld and dilation %lld",
                          i, (long long)window->sizes[i], (long long)window->strides[i],
                          (long long)window->dilations[i]);
    }
    int others = 0;
    for (int i = 0; i < rank; ++i)
        if (window->sizes[i] == 1 && window->strides[i] == 1) window->order[others++] = i;
    for (int i = 0; i < rank; ++i)
        if (window->sizes[i] > 1 || window->strides[i] > 1)
            window->order[others + window->axis_num++] = i;
}

static void resolve_window(emitter_t* emit, const struct tensor* input, hlo_window_t* window)
{
    const struct tfl_hlo_window_param* param = emit->origin->op.param_mem;
    const int rank = window->rank = input->dim_num;
    int64_t pairs[2 * MAX_SHAPE_DIM_NUM];
    window->body = param->body;
    read_hlo_list(emit, &param->sizes, "list of sizes", rank, 1, window->sizes);
    read_hlo_list(emit, &param->strides, "list of strides", rank, 1, window->strides);
    read_hlo_list(emit, &param->base_dilations, "dilation of the input", rank, 1, window->interior);
    read_hlo_list(emit, &param->window_dilations, "dilation of windows", rank, 1,
                  window->dilations);
    read_hlo_list(emit, &param->padding, "padding", 2 * rank, 0, pairs);
    for (int i = 0; i < rank; ++i) {
        window->low[i] = pairs[2 * i];
        window->high[i] = pairs[2 * i + 1];
    }
    finish_window(emit, window);
}

// The operator of TensorFlow Lite has the lists as constant inputs, and a number for the function.
static void resolve_listed_window(emitter_t* emit, const struct tensor* input, hlo_window_t* window)
{
    static const int bodies[] = {0,
                                 TFL_BODY_ADD,
                                 TFL_BODY_MULTIPLY,
                                 TFL_BODY_MINIMUM,
                                 TFL_BODY_MAXIMUM,
                                 TFL_BODY_AND,
                                 TFL_BODY_OR};
    static const char* const words[] = {"list of sizes", "list of strides", "dilation of the input",
                                        "dilation of windows"};
    const struct tfl_listed_window_param* param = emit->origin->op.param_mem;
    int64_t* const lists[] = {window->sizes, window->strides, window->interior, window->dilations};
    window->rank = input->dim_num;
    window->body = bodies[param->reduce_function];
    for (int i = 0; i < 4; ++i) {
        const int number = read_tfl_ints(emit, 2 + i, words[i], lists[i], MAX_SHAPE_DIM_NUM);
        if (emit->status == TENGINE_OK && number != window->rank)
            fail_emitting(emit, TENGINE_EINVAL, "its %s has %d elements, its input rank %d",
                          words[i], number, window->rank);
    }
    finish_window(emit, window);
}

// The pool of an input [channels, 1, axes].
static struct tensor* emit_pool(emitter_t* emit, const hlo_window_t* window, const char* op,
                                struct tensor* input)
{
    int64_t lists[3][MAX_SHAPE_DIM_NUM];
    const int others = window->rank - window->axis_num;
    for (int i = 0; i < window->axis_num; ++i) {
        lists[0][i] = window->sizes[window->order[others + i]];
        lists[1][i] = window->strides[window->order[others + i]];
        lists[2][i] = window->dilations[window->order[others + i]];
    }
    begin_op(emit, op, 1, input);
    emit_attr_ints(emit, "kernel_shape", lists[0], window->axis_num);
    emit_attr_ints(emit, "strides", lists[1], window->axis_num);
    emit_attr_ints(emit, "dilations", lists[2], window->axis_num);
    return end_op(emit);
}

static struct tensor* emit_reduced_windows(emitter_t* emit, const hlo_window_t* window,
                                           struct tensor* input)
{
    int64_t elements = 1;
    for (int i = 0; i < window->rank; ++i)
        elements *= window->sizes[i];
    if (window->body == TFL_BODY_MAXIMUM) return emit_pool(emit, window, "MaxPool", input);
    if (window->body == TFL_BODY_MINIMUM) {
        struct tensor* largest = emit_pool(emit, window, "MaxPool", emit_op(emit, "Neg", 1, input));
        return emit_op(emit, "Neg", 1, largest);
    }
    if (window->body == TFL_BODY_ADD)
        return emit_op(emit, "Mul", 2, emit_pool(emit, window, "AveragePool", input),
                       emit_number(emit, (float)elements, input));
    fail_emitting(emit, TENGINE_ENOTSUP, "its body is not a sum, maximum or minimum");
    return NULL;
}

// Reduces the windows of an input that has its padding.
static struct tensor* emit_windows(emitter_t* emit, const hlo_window_t* window,
                                   struct tensor* input)
{
    if (emit->status < 0 || window->axis_num == 0) return input;
    const int rank = window->rank, others = rank - window->axis_num;
    int64_t dims[MAX_SHAPE_DIM_NUM + 2] = {1, 1}, back[MAX_SHAPE_DIM_NUM];
    int64_t moved[MAX_SHAPE_DIM_NUM];
    for (int i = 0; i < rank; ++i) {
        moved[i] = input->dims[window->order[i]];
        back[window->order[i]] = i;
        if (i < others)
            dims[0] *= moved[i];
        else
            dims[2 + i - others] = moved[i];
    }
    struct tensor* result = emit_hlo_order(emit, input, window->order, rank);
    result = emit_reshape(emit, result, dims, 2 + window->axis_num);
    result = emit_reduced_windows(emit, window, result);
    for (int i = others; i < rank && emit->status == TENGINE_OK; ++i)
        moved[i] = result->dims[2 + i - others];
    return emit_hlo_order(emit, emit_reshape(emit, result, moved, rank), back, rank);
}

// Padding has the initial value, so that it is in each window once at least. Windows of truth
// values are those of 0 and 1.
static int finish_windows(emitter_t* emit, const hlo_window_t* window)
{
    struct tensor *input = get_operand(emit, 0), *first = as_scalar(emit, get_operand(emit, 1));
    const int type = input->data_type;
    hlo_window_t numeric = *window;
    if (type == TENGINE_DT_BOOL) {
        input = emit_cast(emit, input, TENGINE_DT_FP32);
        first = emit_cast(emit, first, TENGINE_DT_FP32);
        numeric.body = window->body == TFL_BODY_AND  ? TFL_BODY_MINIMUM
                       : window->body == TFL_BODY_OR ? TFL_BODY_MAXIMUM
                                                     : window->body;
    } else if (type != TENGINE_DT_FP32) {
        fail_emitting(emit, TENGINE_ENOTSUP, "its input is %s, expected fp32 or bool",
                      get_data_type_name(type));
    }
    if (emit->status < 0) return emit->status;
    struct tensor* result =
        emit_hlo_pad(emit, input, window->low, window->high, window->interior, first);
    result = emit_windows(emit, &numeric, result);
    const char* op = find_hlo_operator(numeric.body, input);
    result = emit_op(emit, op ? op : "Add", 2, result, first);
    if (type == TENGINE_DT_BOOL) result = emit_cast(emit, result, type);
    return finish_emitting(emit, 1, result);
}

static int lower_reduce_window(struct graph* graph, struct node* node)
{
    emitter_t emit = start_emitting(graph, node);
    hlo_window_t window = {0};
    resolve_window(&emit, get_operand(&emit, 0), &window);
    return finish_windows(&emit, &window);
}

static int lower_listed_window(struct graph* graph, struct node* node)
{
    emitter_t emit = start_emitting(graph, node);
    hlo_window_t window = {0};
    resolve_listed_window(&emit, get_operand(&emit, 0), &window);
    return finish_windows(&emit, &window);
}

// ---- SORT ----

// The first operand is compared; the others follow it.
static int lower_sort(struct graph* graph, struct node* node)
{
    const struct tfl_hlo_sort_param* param = node->op.param_mem;
    emitter_t emit = start_emitting(graph, node);
    struct tensor *key = get_operand(&emit, 0), *results[2] = {NULL, NULL};
    int axis = 0;
    const int status = normalize_axis(node, param->axis, key->dim_num, &axis);
    if (status < 0) return status;
    if (param->body != TFL_BODY_LESS && param->body != TFL_BODY_GREATER)
        return fail_emitting(&emit, TENGINE_ENOTSUP,
                             "its body does not compare two values of its first operand");
    begin_op(&emit, "TopK", 2, key, emit_ints(&emit, (const int64_t[]){key->dims[axis]}, 1));
    emit_attr_int(&emit, "axis", axis);
    emit_attr_int(&emit, "largest", param->body == TFL_BODY_GREATER);
    end_op_with(&emit, results, 2);
    struct tensor* sorted[MAX_SHAPE_DIM_NUM] = {results[0]};
    if (node->input_num != node->output_num || node->input_num > MAX_SHAPE_DIM_NUM)
        return fail_emitting(&emit, TENGINE_EINVAL, "it has %d inputs and %d outputs",
                             node->input_num, node->output_num);
    for (int i = 1; i < node->input_num; ++i) {
        begin_op(&emit, "GatherElements", 2, get_operand(&emit, i), results[1]);
        emit_attr_int(&emit, "axis", axis);
        sorted[i] = end_op(&emit);
    }
    return finish_emitting_list(&emit, sorted, node->input_num);
}

// ---- GATHER and SCATTER ----

// The axes of an operand: those that indices are of, then the others, all of which a window has.
typedef struct indexed
{
    int index_num;
    int64_t order[MAX_SHAPE_DIM_NUM];
} indexed_t;

static void resolve_indexed(emitter_t* emit, const struct tensor* operand,
                            const struct op_ints* index_axes, indexed_t* out)
{
    check_hlo_axes(emit, index_axes, "list of indexed axes", operand->dim_num);
    if (emit->status < 0) return;
    int num = 0;
    for (int i = 0; i < index_axes->num; ++i)
        out->order[num++] = index_axes->values[i];
    out->index_num = num;
    for (int i = 0; i < operand->dim_num; ++i)
        if (!has_hlo_axis(index_axes, i)) out->order[num++] = i;
}

// The indices as lists along the last axis, held in the operand.
static struct tensor* emit_index_lists(emitter_t* emit, const struct tensor* operand,
                                       const indexed_t* indexed, int vector_axis, bool clamps)
{
    struct tensor* indices = emit_indices(emit, get_operand(emit, 1));
    if (emit->status < 0) return NULL;
    const int rank = indices->dim_num;
    int64_t dims[MAX_SHAPE_DIM_NUM], last[MAX_SHAPE_DIM_NUM];
    if (vector_axis == rank && rank < MAX_SHAPE_DIM_NUM) {
        read_dims(indices, dims);
        dims[rank] = 1;
        indices = emit_reshape(emit, indices, dims, rank + 1);
    } else if (vector_axis >= 0 && vector_axis < rank) {
        indices = emit_moved_axis(emit, indices, vector_axis, rank - 1);
    } else {
        fail_emitting(emit, TENGINE_EINVAL, "its index_vector_dim is %d, its indices have rank %d",
                      vector_axis, rank);
    }
    if (emit->status < 0) return NULL;
    if (indices->dims[indices->dim_num - 1] != indexed->index_num) {
        fail_emitting(emit, TENGINE_EINVAL, "an index has %d elements, its list of axes %d",
                      indices->dims[indices->dim_num - 1], indexed->index_num);
        return NULL;
    }
    if (!clamps) return indices;
    for (int i = 0; i < indexed->index_num; ++i)
        last[i] = operand->dims[indexed->order[i]] - 1;
    indices = emit_op(emit, "Max", 2, indices, emit_int(emit, 0));
    return emit_op(emit, "Min", 2, indices, emit_ints(emit, last, indexed->index_num));
}

// The order of a tensor that has these window axes, the others being those of the indices: all of
// the indices first.
static void order_window(emitter_t* emit, const struct op_ints* window_axes, int rank,
                         int64_t order[])
{
    check_hlo_axes(emit, window_axes, "list of window axes", rank);
    if (emit->status < 0) return;
    int num = 0;
    for (int i = 0; i < rank; ++i)
        if (!has_hlo_axis(window_axes, i)) order[num++] = i;
    for (int i = 0; i < window_axes->num; ++i)
        order[num++] = window_axes->values[i];
}

static void check_gathered(emitter_t* emit, const struct tensor* operand, const int64_t sizes[])
{
    const struct tfl_hlo_gather_param* param = emit->origin->op.param_mem;
    for (int i = 0; i < operand->dim_num && emit->status == TENGINE_OK; ++i) {
        const bool is_indexed = has_hlo_axis(&param->index_axes, i);
        const bool is_collapsed = has_hlo_axis(&param->collapsed_axes, i);
        const int64_t expected = is_indexed || is_collapsed ? 1 : operand->dims[i];
        if (sizes[i] != expected || (is_collapsed && !is_indexed))
            fail_emitting(emit, TENGINE_ENOTSUP,
                          "its slices have %lld elements of axis %d, expected %lld",
                          (long long)sizes[i], i, (long long)expected);
    }
}

static int lower_gather(struct graph* graph, struct node* node)
{
    const struct tfl_hlo_gather_param* param = node->op.param_mem;
    emitter_t emit = start_emitting(graph, node);
    struct tensor* operand = get_operand(&emit, 0);
    int64_t sizes[MAX_SHAPE_DIM_NUM], dims[MAX_SHAPE_DIM_NUM], order[MAX_SHAPE_DIM_NUM];
    int64_t back[MAX_SHAPE_DIM_NUM];
    indexed_t indexed = {0};
    read_hlo_list(&emit, &param->sizes, "list of sizes", operand->dim_num, 1, sizes);
    check_gathered(&emit, operand, sizes);
    resolve_indexed(&emit, operand, &param->index_axes, &indexed);
    struct tensor* indices = emit_index_lists(&emit, operand, &indexed, param->vector_axis, true);
    if (emit.status < 0) return emit.status;
    struct tensor* source = emit_hlo_order(&emit, operand, indexed.order, operand->dim_num);
    struct tensor* result = emit_op(&emit, "GatherND", 2, source, indices);
    if (emit.status < 0) return emit.status;
    // Axes that are not collapsed have one element of each indexed axis.
    const int batch_rank = indices->dim_num - 1, windows = param->offset_axes.num;
    const int rank = batch_rank + windows;
    if (windows != operand->dim_num - param->collapsed_axes.num || rank > MAX_SHAPE_DIM_NUM)
        return fail_emitting(&emit, TENGINE_EINVAL, "it has %d window axes, expected %d", windows,
                             operand->dim_num - param->collapsed_axes.num);
    for (int i = 0; i < batch_rank; ++i)
        dims[i] = indices->dims[i];
    int next = batch_rank;
    for (int i = 0; i < operand->dim_num; ++i)
        if (!has_hlo_axis(&param->collapsed_axes, i)) dims[next++] = sizes[i];
    order_window(&emit, &param->offset_axes, rank, order);
    if (emit.status < 0) return emit.status;
    for (int i = 0; i < rank; ++i)
        back[order[i]] = i;
    result = emit_reshape(&emit, result, dims, rank);
    return finish_emitting(&emit, 1, emit_hlo_order(&emit, result, back, rank));
}

static const char* find_scattering(int body)
{
    switch (body) {
        case TFL_BODY_ADD:
            return "add";
        case TFL_BODY_MULTIPLY:
            return "mul";
        case TFL_BODY_MAXIMUM:
            return "max";
        case TFL_BODY_MINIMUM:
            return "min";
        case TFL_BODY_SECOND:
            return "none";
        default:
            return NULL;
    }
}

// Checks that a window has one element of each indexed axis and all of the others, and finds the
// rows of updates. `order` is that of the updates; returns the rank of the rows.
static int resolve_rows(emitter_t* emit, const struct tensor* indices, const int64_t order[],
                        int64_t dims[])
{
    const struct tfl_hlo_scatter_param* param = emit->origin->op.param_mem;
    const struct tensor *operand = get_operand(emit, 0), *updates = get_operand(emit, 2);
    const int batch_rank = indices->dim_num - 1;
    const int windows = operand->dim_num - param->inserted_axes.num;
    if (updates->dim_num != batch_rank + windows || param->window_axes.num != windows) {
        fail_emitting(emit, TENGINE_EINVAL, "its updates have rank %d, expected %d",
                      updates->dim_num, batch_rank + windows);
        return 0;
    }
    int next = batch_rank, at = batch_rank;
    for (int i = 0; i < batch_rank; ++i)
        dims[i] = indices->dims[i];
    for (int i = 0; i < operand->dim_num && emit->status == TENGINE_OK; ++i) {
        const bool is_indexed = has_hlo_axis(&param->index_axes, i);
        const bool is_inserted = has_hlo_axis(&param->inserted_axes, i);
        const int64_t size = is_inserted ? 1 : updates->dims[order[at++]];
        if (size != (is_indexed ? 1 : operand->dims[i]))
            fail_emitting(emit, TENGINE_ENOTSUP, "its windows have %lld elements of axis %d",
                          (long long)size, i);
        if (!is_indexed) dims[next++] = size;
    }
    return next;
}

static int lower_scatter(struct graph* graph, struct node* node)
{
    const struct tfl_hlo_scatter_param* param = node->op.param_mem;
    emitter_t emit = start_emitting(graph, node);
    struct tensor *operand = get_operand(&emit, 0), *updates = get_operand(&emit, 2);
    const char* reduction = find_scattering(param->body);
    if (!reduction)
        return fail_emitting(&emit, TENGINE_ENOTSUP,
                             "its body is not a sum, product, maximum, minimum or the update");
    const int rank = operand->dim_num;
    int64_t order[MAX_SHAPE_DIM_NUM], back[MAX_SHAPE_DIM_NUM], dims[MAX_SHAPE_DIM_NUM];
    indexed_t indexed = {0};
    resolve_indexed(&emit, operand, &param->index_axes, &indexed);
    struct tensor* indices = emit_index_lists(&emit, operand, &indexed, param->vector_axis, false);
    order_window(&emit, &param->window_axes, updates->dim_num, order);
    if (emit.status < 0) return emit.status;
    const int row_rank = resolve_rows(&emit, indices, order, dims);
    if (emit.status < 0) return emit.status;
    for (int i = 0; i < rank; ++i)
        back[indexed.order[i]] = i;
    struct tensor* rows = emit_hlo_order(&emit, updates, order, updates->dim_num);
    rows = emit_reshape(&emit, rows, dims, row_rank);
    struct tensor* target = emit_hlo_order(&emit, operand, indexed.order, rank);
    begin_op(&emit, "ScatterND", 3, target, indices, rows);
    emit_attr_text(&emit, "reduction", reduction);
    return finish_emitting(&emit, 1, emit_hlo_order(&emit, end_op(&emit), back, rank));
}

static const ir_method_t* const rows[] = {
    TFLITE_ROW(STABLEHLO_GATHER, 201, TFL_COUNTS(2, 2, 1), TFL_PARAMS(hlo_gather),
               .lower = lower_gather),
    TFLITE_ROW(STABLEHLO_REDUCE, 174, TFL_COUNTS(2, 2, 1), TFL_PARAMS(hlo_reduce),
               .lower = lower_reduce),
    TFLITE_ROW(STABLEHLO_REDUCE_WINDOW, 198, TFL_COUNTS(2, 2, 1), TFL_PARAMS(hlo_window),
               .lower = lower_reduce_window),
    TFLITE_ROW(REDUCE_WINDOW, 205, TFL_COUNTS(6, 6, 1), TFL_PARAMS(listed_window),
               .lower = lower_listed_window),
    TFLITE_ROW(STABLEHLO_SCATTER, 190, TFL_COUNTS(3, 3, 1), TFL_PARAMS(hlo_scatter),
               .lower = lower_scatter),
    TFLITE_ROW(STABLEHLO_SORT, 199, .min_input = 1, .max_input = -1, .min_output = 1,
               .max_output = -1, TFL_PARAMS(hlo_sort), .lower = lower_sort),
};

OPERATOR_TABLE(tflite_stablehlo_reduce_ops, rows);
