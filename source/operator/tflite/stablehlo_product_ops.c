// SPDX-License-Identifier: Apache-2.0
// StableHLO's products: matrices with axes in any order, and convolutions.
#include "operator/tflite/stablehlo.h"

struct tfl_hlo_dot_param
{
    struct op_ints left_batch;
    struct op_ints right_batch;
    struct op_ints left_contracted;
    struct op_ints right_contracted;
};

struct tfl_hlo_conv_param
{
    struct op_ints strides;
    struct op_ints padding;
    struct op_ints input_dilation;
    struct op_ints filter_dilation;
    struct op_ints reversal;
    int input_batch;
    int input_feature;
    struct op_ints input_spatial;
    int filter_input;
    int filter_output;
    struct op_ints filter_spatial;
    int output_batch;
    int output_feature;
    struct op_ints output_spatial;
    int feature_groups;
    int batch_groups;
};

static const op_field_t hlo_dot_fields[] = {
    HLO_LIST(struct tfl_hlo_dot_param, left_batch, 0),
    HLO_LIST(struct tfl_hlo_dot_param, right_batch, 1),
    HLO_LIST(struct tfl_hlo_dot_param, left_contracted, 2),
    HLO_LIST(struct tfl_hlo_dot_param, right_contracted, 3),
};

static const op_field_t hlo_conv_fields[] = {
    HLO_LIST(struct tfl_hlo_conv_param, strides, 0),
    HLO_LIST(struct tfl_hlo_conv_param, padding, 1),
    HLO_LIST(struct tfl_hlo_conv_param, input_dilation, 2),
    HLO_LIST(struct tfl_hlo_conv_param, filter_dilation, 3),
    TFL_FIELD(struct tfl_hlo_conv_param, INTS, reversal, FLAGS, 4),
    HLO_NUMBER(struct tfl_hlo_conv_param, input_batch, 5),
    HLO_NUMBER(struct tfl_hlo_conv_param, input_feature, 6),
    HLO_LIST(struct tfl_hlo_conv_param, input_spatial, 7),
    HLO_NUMBER(struct tfl_hlo_conv_param, filter_input, 8),
    HLO_NUMBER(struct tfl_hlo_conv_param, filter_output, 9),
    HLO_LIST(struct tfl_hlo_conv_param, filter_spatial, 10),
    HLO_NUMBER(struct tfl_hlo_conv_param, output_batch, 11),
    HLO_NUMBER(struct tfl_hlo_conv_param, output_feature, 12),
    HLO_LIST(struct tfl_hlo_conv_param, output_spatial, 13),
    HLO_NUMBER(struct tfl_hlo_conv_param, feature_groups, 14),
    HLO_NUMBER(struct tfl_hlo_conv_param, batch_groups, 15),
};

// ---- DOT_GENERAL ----

// An operand's axes: those that both have, those of the sums, and the others, in their order.
typedef struct dot_axes
{
    int free_num;
    int64_t free[MAX_SHAPE_DIM_NUM];
    int64_t batch_size, free_size, contracted_size;
} dot_axes_t;

static int64_t multiply_sizes(const struct tensor* input, const int64_t axes[], int num)
{
    int64_t size = 1;
    for (int i = 0; i < num; ++i)
        size *= input->dims[axes[i]];
    return size;
}

static void resolve_axes(emitter_t* emit, const struct tensor* input, const struct op_ints* batch,
                         const struct op_ints* contracted, dot_axes_t* axes)
{
    check_hlo_axes(emit, batch, "list of batch axes", input->dim_num);
    check_hlo_axes(emit, contracted, "list of contracted axes", input->dim_num);
    if (emit->status < 0) return;
    *axes =
        (dot_axes_t){.batch_size = multiply_sizes(input, batch->values, batch->num),
                     .contracted_size = multiply_sizes(input, contracted->values, contracted->num)};
    for (int i = 0; i < input->dim_num; ++i) {
        if (has_hlo_axis(batch, i) && has_hlo_axis(contracted, i))
            fail_emitting(emit, TENGINE_EINVAL, "its axis %d is one of the batch and contracted",
                          i);
        if (!has_hlo_axis(batch, i) && !has_hlo_axis(contracted, i))
            axes->free[axes->free_num++] = i;
    }
    axes->free_size = multiply_sizes(input, axes->free, axes->free_num);
}

// The operand as a stack of matrices.
static struct tensor* emit_stack(emitter_t* emit, struct tensor* input, const struct op_ints* batch,
                                 const struct op_ints* contracted, const dot_axes_t* axes,
                                 bool is_left)
{
    if (emit->status < 0) return NULL;
    int64_t order[MAX_SHAPE_DIM_NUM];
    int num = 0;
    for (int i = 0; i < batch->num; ++i)
        order[num++] = batch->values[i];
    for (int i = 0; !is_left && i < contracted->num; ++i)
        order[num++] = contracted->values[i];
    for (int i = 0; i < axes->free_num; ++i)
        order[num++] = axes->free[i];
    for (int i = 0; is_left && i < contracted->num; ++i)
        order[num++] = contracted->values[i];
    const int64_t dims[] = {axes->batch_size, is_left ? axes->free_size : axes->contracted_size,
                            is_left ? axes->contracted_size : axes->free_size};
    return emit_reshape(emit, emit_hlo_order(emit, input, order, num), dims, 3);
}

static int lower_dot_general(struct graph* graph, struct node* node)
{
    const struct tfl_hlo_dot_param* param = node->op.param_mem;
    emitter_t emit = start_emitting(graph, node);
    struct tensor *left = get_operand(&emit, 0), *right = get_operand(&emit, 1);
    dot_axes_t a = {0}, b = {0};
    resolve_axes(&emit, left, &param->left_batch, &param->left_contracted, &a);
    resolve_axes(&emit, right, &param->right_batch, &param->right_contracted, &b);
    const int batches = param->left_batch.num;
    if (emit.status == TENGINE_OK &&
        (batches != param->right_batch.num || a.batch_size != b.batch_size ||
         a.contracted_size != b.contracted_size ||
         batches + a.free_num + b.free_num > MAX_SHAPE_DIM_NUM))
        fail_emitting(&emit, TENGINE_EINVAL,
                      "its operands have %d and %d batch axes, of %lld and %lld elements, and "
                      "%lld and %lld elements in a sum",
                      batches, param->right_batch.num, (long long)a.batch_size,
                      (long long)b.batch_size, (long long)a.contracted_size,
                      (long long)b.contracted_size);
    struct tensor* x =
        emit_stack(&emit, left, &param->left_batch, &param->left_contracted, &a, true);
    struct tensor* y =
        emit_stack(&emit, right, &param->right_batch, &param->right_contracted, &b, false);
    struct tensor* product = emit_op(&emit, "MatMul", 2, x, y);
    if (emit.status < 0) return emit.status;
    int64_t dims[MAX_SHAPE_DIM_NUM];
    int rank = 0;
    for (int i = 0; i < batches; ++i)
        dims[rank++] = left->dims[param->left_batch.values[i]];
    for (int i = 0; i < a.free_num; ++i)
        dims[rank++] = left->dims[a.free[i]];
    for (int i = 0; i < b.free_num; ++i)
        dims[rank++] = right->dims[b.free[i]];
    return finish_emitting(&emit, 1, emit_reshape(&emit, product, dims, rank));
}

// ---- CONVOLUTION ----

// The order that puts the two axes first and the spatial ones after them.
static void find_order(emitter_t* emit, const char* what, int first, int second,
                       const struct op_ints* spatial, int rank, int64_t order[])
{
    order[0] = first;
    order[1] = second;
    for (int i = 0; i < spatial->num && i < rank - 2; ++i)
        order[2 + i] = spatial->values[i];
    const struct op_ints all = {.num = rank, .values = order};
    if (emit->status == TENGINE_OK && spatial->num != rank - 2)
        fail_emitting(emit, TENGINE_EINVAL, "its %s has %d spatial axes, expected %d", what,
                      spatial->num, rank - 2);
    check_hlo_axes(emit, &all, what, rank);
}

// Pads and dilates the spatial axes of an input in ONNX's order, as far as Conv cannot; `pads`
// becomes what is left.
static struct tensor* emit_conv_input(emitter_t* emit, struct tensor* input, int64_t pads[],
                                      const int64_t dilation[], int axes)
{
    int64_t lists[3][MAX_SHAPE_DIM_NUM] = {{0}, {0}, {0}};
    bool pads_less = false, dilates = false;
    for (int i = 0; i < axes; ++i) {
        pads_less = pads_less || pads[i] < 0 || pads[axes + i] < 0;
        dilates = dilates || dilation[i] != 1;
    }
    if (!pads_less && !dilates) return input;
    for (int i = 0; i < axes; ++i) {
        lists[0][2 + i] = pads[i];
        lists[1][2 + i] = pads[axes + i];
        lists[2][2 + i] = dilation[i] - 1;
        pads[i] = pads[axes + i] = 0;
    }
    return emit_hlo_pad(emit, input, lists[0], lists[1], lists[2], emit_number(emit, 0, input));
}

static void check_conv(emitter_t* emit, const struct tensor* input, const struct tensor* filter)
{
    const struct tfl_hlo_conv_param* param = emit->origin->op.param_mem;
    const int rank = input->dim_num;
    if (rank < 3 || filter->dim_num != rank)
        fail_emitting(emit, TENGINE_EINVAL, "its input has rank %d, its filter %d", rank,
                      filter->dim_num);
    if (emit->status == TENGINE_OK && param->batch_groups > 1)
        fail_emitting(emit, TENGINE_ENOTSUP, "batch_group_count is %d, expected 1",
                      param->batch_groups);
    for (int i = 0; i < param->reversal.num && emit->status == TENGINE_OK; ++i)
        if (param->reversal.values[i] != 0)
            fail_emitting(emit, TENGINE_ENOTSUP, "its window is reversed");
}

static int lower_convolution(struct graph* graph, struct node* node)
{
    const struct tfl_hlo_conv_param* param = node->op.param_mem;
    emitter_t emit = start_emitting(graph, node);
    struct tensor *input = get_operand(&emit, 0), *filter = get_operand(&emit, 1);
    check_conv(&emit, input, filter);
    if (emit.status < 0) return emit.status;
    const int rank = input->dim_num, axes = rank - 2;
    int64_t order[3][MAX_SHAPE_DIM_NUM], back[MAX_SHAPE_DIM_NUM], pairs[2 * MAX_SHAPE_DIM_NUM],
        lists[3][MAX_SHAPE_DIM_NUM], pads[2 * MAX_SHAPE_DIM_NUM];
    find_order(&emit, "input", param->input_batch, param->input_feature, &param->input_spatial,
               rank, order[0]);
    find_order(&emit, "filter", param->filter_output, param->filter_input, &param->filter_spatial,
               rank, order[1]);
    find_order(&emit, "output", param->output_batch, param->output_feature, &param->output_spatial,
               rank, order[2]);
    read_hlo_list(&emit, &param->strides, "list of strides", axes, 1, lists[0]);
    read_hlo_list(&emit, &param->input_dilation, "dilation of the input", axes, 1, lists[1]);
    read_hlo_list(&emit, &param->filter_dilation, "dilation of the filter", axes, 1, lists[2]);
    read_hlo_list(&emit, &param->padding, "padding", 2 * axes, 0, pairs);
    if (emit.status < 0) return emit.status;
    for (int i = 0; i < axes; ++i) {
        pads[i] = pairs[2 * i];
        pads[axes + i] = pairs[2 * i + 1];
    }
    for (int i = 0; i < rank; ++i)
        back[order[2][i]] = i;
    struct tensor* planes = emit_hlo_order(&emit, input, order[0], rank);
    planes = emit_conv_input(&emit, planes, pads, lists[1], axes);
    struct tensor* turned = emit_hlo_order(&emit, filter, order[1], rank);
    begin_op(&emit, "Conv", 2, planes, turned);
    emit_attr_ints(&emit, "strides", lists[0], axes);
    emit_attr_ints(&emit, "dilations", lists[2], axes);
    emit_attr_ints(&emit, "pads", pads, 2 * axes);
    emit_attr_int(&emit, "group", param->feature_groups > 0 ? param->feature_groups : 1);
    return finish_emitting(&emit, 1, emit_hlo_order(&emit, end_op(&emit), back, rank));
}

static const ir_method_t* const rows[] = {
    TFLITE_ROW(STABLEHLO_CONVOLUTION, 171, TFL_COUNTS(2, 2, 1), TFL_PARAMS(hlo_conv),
               .lower = lower_convolution),
    TFLITE_ROW(STABLEHLO_DOT_GENERAL, 197, TFL_COUNTS(2, 2, 1), TFL_PARAMS(hlo_dot),
               .lower = lower_dot_general),
};

OPERATOR_TABLE(tflite_stablehlo_product_ops, rows);
