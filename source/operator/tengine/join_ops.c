// SPDX-License-Identifier: Apache-2.0
// Tengine's Concat and Split. Slice, which splits too in caffe's flavour, is in slice_ops.c.
#include "base/alloc.h"
#include "operator/row.h"
#include "operator/tengine/move.h"

struct tm_concat_param
{
    int axis;
};

struct tm_split_param
{
    int axis;
    int split_dim;  // number of equal parts, used when split_sizes_ is empty
    int is_caffe;   // every output is the whole input
    int is_onnx;
    struct op_ints split_sizes_;
};

static const op_field_t concat_fields[] = {
    TM_FIELD(struct tm_concat_param, INT, axis, WORD, 0, .number = 0),
};

static const op_field_t split_fields[] = {
    TM_FIELD(struct tm_split_param, INT, axis, WORD, 0, .number = 0),
    TM_FIELD(struct tm_split_param, INT, split_dim, WORD, 4, .number = 1),
    TM_FIELD(struct tm_split_param, INT, is_caffe, BYTE, 8, .number = 0),
    TM_FIELD(struct tm_split_param, INT, is_onnx, BYTE, 9, .number = 0),
    TM_FIELD(struct tm_split_param, INTS, split_sizes_, OFFSET, 12, .in_vector = 1),
};

// ---- Concat ----

// In a model that was NHWC, the axis counts NHWC dimensions, but the tensors are NCHW.
static int find_concat_axis(const struct graph* graph, int axis, int rank)
{
    static const int of_four[] = {0, 2, 3, 1};
    static const int of_three[] = {0, 2, 1};
    if (graph->model_layout != TENGINE_LAYOUT_NHWC) return axis;
    return rank == 4 ? of_four[axis] : rank == 3 ? of_three[axis] : axis;
}

static int lower_concat(struct graph* graph, struct node* node)
{
    const struct tm_concat_param* param = node->op.param_mem;
    struct tensor* first = get_ir_node_input(node, 0);
    int axis;
    TENGINE_RETURN_IF_ERROR(normalize_axis(node, param->axis, first->dim_num, &axis));
    axis = find_concat_axis(graph, axis, first->dim_num);
    emitter_t emit = start_emitting(graph, node);
    begin_op(&emit, "Concat", 1, first);
    for (int i = 1; i < node->input_num; ++i)
        emit_input(&emit, get_ir_node_input(node, i));
    emit_attr_int(&emit, "axis", axis);
    return finish_emitting(&emit, 1, end_op(&emit));
}

static int raise_concat(struct graph* graph, struct node* node)
{
    struct tensor* first = get_ir_node_input(node, 0);
    int64_t axis = get_ir_node_int(node, "axis", 0);
    if (axis < 0) axis += first->dim_num;
    emitter_t emit = start_emitting(graph, node);
    begin_op(&emit, "tengine.Concat", 1, first);
    for (int i = 1; i < node->input_num; ++i)
        emit_input(&emit, get_ir_node_input(node, i));
    emit_attr_int(&emit, "axis", axis);
    return finish_emitting(&emit, 1, end_op(&emit));
}

// ---- Split ----

// Caffe's Split copies its input to several readers.
static int finish_with_copies(emitter_t* emit, struct tensor* input, int num)
{
    struct tensor** copies = alloc_memory(sizeof *copies * (size_t)num);
    if (!copies) return fail_emitting(emit, TENGINE_ENOMEM, "out of memory for %d copies", num);
    for (int i = 0; i < num; ++i)
        copies[i] =
            get_ir_node_output(emit->origin, i) ? emit_op(emit, "Identity", 1, input) : NULL;
    const int status = finish_emitting_list(emit, copies, num);
    free_memory(copies);
    return status;
}

// Given sizes, one for each output, must add up to `size`.
static int check_sizes(const struct node* node, const struct op_ints* sizes, int64_t size)
{
    int64_t sum = 0;
    if (sizes->num != node->output_num)
        return fail_node(node, TENGINE_EINVAL, "split_sizes_ has %d values for %d outputs",
                         sizes->num, node->output_num);
    for (int i = 0; i < sizes->num; ++i)
        if (sizes->values[i] < 0 || __builtin_add_overflow(sum, sizes->values[i], &sum))
            return fail_node(node, TENGINE_ERANGE, "split_sizes_ has %lld at place %d",
                             (long long)sizes->values[i], i);
    if (sum == size) return TENGINE_OK;
    return fail_node(node, TENGINE_EINVAL, "split_sizes_ adds up to %lld, the axis has %lld",
                     (long long)sum, (long long)size);
}

static int finish_with_equal_parts(emitter_t* emit, struct tensor* input, int axis)
{
    const struct tm_split_param* param = emit->origin->op.param_mem;
    const int num = emit->origin->output_num;
    const int size = input->dims[axis];
    if (param->split_dim != num || size % num != 0)
        return fail_emitting(emit, TENGINE_EINVAL,
                             "split_dim is %d for %d outputs and an axis of %d, expected the "
                             "output count, a divisor of the axis",
                             param->split_dim, num, size);
    int64_t* sizes = alloc_memory(sizeof *sizes * (size_t)num);
    if (!sizes) return fail_emitting(emit, TENGINE_ENOMEM, "out of memory for %d sizes", num);
    for (int i = 0; i < num; ++i)
        sizes[i] = size / num;
    const int status = finish_with_parts(emit, input, axis, sizes, num);
    free_memory(sizes);
    return status;
}

static int lower_split(struct graph* graph, struct node* node)
{
    const struct tm_split_param* param = node->op.param_mem;
    struct tensor* input = get_ir_node_input(node, 0);
    emitter_t emit = start_emitting(graph, node);
    if (param->is_caffe) return finish_with_copies(&emit, input, node->output_num);
    int axis;
    TENGINE_RETURN_IF_ERROR(normalize_axis(node, param->axis, input->dim_num, &axis));
    if (param->split_sizes_.num == 0) return finish_with_equal_parts(&emit, input, axis);
    TENGINE_RETURN_IF_ERROR(check_sizes(node, &param->split_sizes_, input->dims[axis]));
    return finish_with_parts(&emit, input, axis, param->split_sizes_.values, node->output_num);
}

static int raise_split(struct graph* graph, struct node* node)
{
    struct tensor* input = get_ir_node_input(node, 0);
    const int num = node->output_num;
    int axis;
    TENGINE_RETURN_IF_ERROR(
        normalize_axis(node, get_ir_node_int(node, "axis", 0), input->dim_num, &axis));
    for (int i = 0; i < num; ++i)
        if (!get_ir_node_output(node, i))
            return refuse_raising(node, "its output %d is missing", i);
    struct tensor** parts = alloc_memory(sizeof *parts * (size_t)num);
    int64_t* sizes = alloc_memory(sizeof *sizes * (size_t)num);
    emitter_t emit = start_emitting(graph, node);
    if (!parts || !sizes) fail_emitting(&emit, TENGINE_ENOMEM, "out of memory for %d parts", num);
    if (emit.status == TENGINE_OK) {
        for (int i = 0; i < num; ++i)
            sizes[i] = get_ir_node_output(node, i)->dims[axis];
        begin_op(&emit, "tengine.Split", 1, input);
        emit_attr_int(&emit, "axis", axis);
        emit_attr_int(&emit, "split_dim", num);
        emit_attr_int(&emit, "is_onnx", 1);
        emit_attr_ints(&emit, "split_sizes_", sizes, num);
        end_op_with(&emit, parts, num);
        finish_emitting_list(&emit, parts, num);
    }
    free_memory(sizes);
    free_memory(parts);
    return emit.status;
}

static const ir_method_t* const rows[] = {
    TENGINE_ROW(Concat, 13, 3, 4, .min_input = 1, .max_input = -1, .min_output = 1, .max_output = 1,
                .traits = OP_LEGACY, OP_FIELDS(concat_fields),
                .param_size = sizeof(struct tm_concat_param), .lower = lower_concat,
                RAISED("Concat", raise_concat)),
    TENGINE_ROW(Split, 76, 29, 16, .min_input = 1, .max_input = -1, .min_output = 1,
                .max_output = -1, .traits = OP_LEGACY, OP_FIELDS(split_fields),
                .param_size = sizeof(struct tm_split_param), .lower = lower_split,
                RAISED("Split", raise_split)),
};

OPERATOR_TABLE(tengine_join_ops, rows);
