// SPDX-License-Identifier: Apache-2.0
// Pools over windows and over all positions, of floats and of quantised tensors, and MaxUnpool.
// Window arithmetic is in window.c; kernels are in device/cpu/reference/window/pool.cc and
// qlinear_pool.cc; pools over regions are in roi_ops.c.
#include "operator/infer.h"
#include "operator/onnx/legacy.h"
#include "operator/onnx/pool_param.h"
#include "operator/onnx/quantized.h"
#include "operator/row.h"
#include "operator/type_set.h"

static const op_field_t max_pool_fields[] = {
    WINDOW_AUTO_PAD_FIELD,
    WINDOW_CEIL_FIELD(.since = 10),
    WINDOW_DILATIONS_FIELD(.since = 10),
    WINDOW_KERNEL_FIELD(.required = 1),
    WINDOW_PADS_FIELD,
    WINDOW_STRIDES_FIELD,
    OP_FIELD(struct pool_param, INT, storage_order, .minimum = 0, .maximum = 1, .since = 8),
};

static const op_field_t average_pool_fields[] = {
    WINDOW_AUTO_PAD_FIELD,
    WINDOW_CEIL_FIELD(.since = 10),
    WINDOW_DILATIONS_FIELD(.since = 19),
    WINDOW_KERNEL_FIELD(.required = 1),
    WINDOW_PADS_FIELD,
    WINDOW_STRIDES_FIELD,
    OP_FIELD(struct pool_param, INT, count_include_pad, .minimum = 0, .maximum = 1, .since = 7),
};

static const op_field_t lp_pool_fields[] = {
    WINDOW_AUTO_PAD_FIELD,
    WINDOW_CEIL_FIELD(.since = 18),
    WINDOW_DILATIONS_FIELD(.since = 18),
    WINDOW_KERNEL_FIELD(.required = 1),
    WINDOW_PADS_FIELD,
    WINDOW_STRIDES_FIELD,
    OP_FIELD(struct pool_param, INT, p, .number = 2, .minimum = 1),
};

static const op_field_t unpool_fields[] = {
    WINDOW_KERNEL_FIELD(.required = 1),
    WINDOW_PADS_FIELD,
    WINDOW_STRIDES_FIELD,
};

static const op_field_t global_lp_pool_fields[] = {
    OP_FIELD(struct global_pool_param, INT, p, .number = 2, .minimum = 1),
};

// The fields of ONNX Runtime, with the dilations of ONNX.
static const op_field_t qlinear_average_pool_fields[] = {
    WINDOW_AUTO_PAD_FIELD,
    WINDOW_CEIL_FIELD(.required = 0),
    WINDOW_DILATIONS_FIELD(.required = 0),
    WINDOW_KERNEL_FIELD(.required = 1),
    WINDOW_PADS_FIELD,
    WINDOW_STRIDES_FIELD,
    OP_FIELD(struct pool_param, INT, count_include_pad, .minimum = 0, .maximum = 1),
    OP_FIELD(struct pool_param, INT, channels_last, .minimum = 0, .maximum = 1),
};

static const op_field_t nhwc_max_pool_fields[] = {
    WINDOW_AUTO_PAD_FIELD,
    WINDOW_CEIL_FIELD(.required = 0),
    WINDOW_DILATIONS_FIELD(.required = 0),
    WINDOW_KERNEL_FIELD(.required = 1),
    WINDOW_PADS_FIELD,
    WINDOW_STRIDES_FIELD,
};

static const op_field_t qlinear_global_pool_fields[] = {
    OP_FIELD(struct global_pool_param, INT, channels_last, .minimum = 0, .maximum = 1),
};

int resolve_pool_window(const struct node* node, struct window* out_window)
{
    const struct pool_param* param = node->op.param_mem;
    return resolve_window(node, &param->window, get_ir_node_input(node, 0), NULL, out_window);
}

static int infer_pool_of(struct node* node, uint32_t types)
{
    const struct tensor* input = get_ir_node_input(node, 0);
    struct window window;
    TENGINE_RETURN_IF_ERROR(require_type(node, 0, types));
    TENGINE_RETURN_IF_ERROR(resolve_pool_window(node, &window));
    TENGINE_RETURN_IF_ERROR(
        set_window_output(node, 0, input->data_type, input, input->dims[1], &window));
    return set_window_output(node, 1, TENGINE_DT_INT64, input, input->dims[1], &window);
}

static int infer_pool(struct node* node)
{
    return infer_pool_of(node, TYPES_FLOAT);
}

static int infer_max_pool(struct node* node)
{
    return infer_pool_of(node, TYPES_FLOAT | TYPES_BYTE);
}

static int set_global_output(struct node* node, int data_type)
{
    const struct tensor* input = get_ir_node_input(node, 0);
    if (input->dim_num < 2)
        return fail_node(node, TENGINE_EINVAL, "input has rank %d, expected at least 2",
                         input->dim_num);
    int64_t dims[MAX_SHAPE_DIM_NUM] = {input->dims[0], input->dims[1]};
    for (int i = 2; i < input->dim_num; ++i)
        dims[i] = 1;
    return set_node_output(node, 0, data_type, dims, input->dim_num);
}

static int infer_global_pool(struct node* node)
{
    TENGINE_RETURN_IF_ERROR(require_type(node, 0, TYPES_FLOAT));
    return set_global_output(node, get_ir_node_input(node, 0)->data_type);
}

// Inputs: x, x_scale, x_zero_point, y_scale, y_zero_point.
static int check_quantized_pool(const struct node* node)
{
    TENGINE_RETURN_IF_ERROR(require_quantized(node, 0));
    TENGINE_RETURN_IF_ERROR(check_quantization(node, 1, 1));
    return check_result_quantization(node, 3);
}

// The accumulator of a window must fit int32.
static int check_averaged(const struct node* node, int64_t count)
{
    const int64_t most = INT32_MAX / UINT8_MAX;
    if (count <= most) return TENGINE_OK;
    return fail_node(node, TENGINE_ERANGE, "an average of %lld values, expected at most %lld",
                     (long long)count, (long long)most);
}

static int infer_qlinear_average_pool(struct node* node)
{
    const struct tensor* input = get_ir_node_input(node, 0);
    struct window window;
    TENGINE_RETURN_IF_ERROR(check_quantized_pool(node));
    TENGINE_RETURN_IF_ERROR(resolve_pool_window(node, &window));
    TENGINE_RETURN_IF_ERROR(check_averaged(node, multiply_window_kernel(&window)));
    return set_window_output(node, 0, result_type(node, 4), input, input->dims[1], &window);
}

static int infer_qlinear_global_pool(struct node* node)
{
    const struct tensor* input = get_ir_node_input(node, 0);
    TENGINE_RETURN_IF_ERROR(check_quantized_pool(node));
    TENGINE_RETURN_IF_ERROR(set_global_output(node, result_type(node, 4)));
    return check_averaged(node, multiply_dims(input, 2, input->dim_num));
}

static int move_channels(struct graph* graph, struct node* node, int rank)
{
    if (rank < 3 || rank > MAX_SHAPE_DIM_NUM)
        return fail_node(node, TENGINE_EINVAL, "the rank is %d, expected 3 to %d", rank,
                         MAX_SHAPE_DIM_NUM);
    return move_channels_first(graph, node, rank);
}

static int lower_qlinear_average_pool(struct graph* graph, struct node* node)
{
    struct pool_param* param = node->op.param_mem;
    if (!param->channels_last) return TENGINE_OK;
    param->channels_last = 0;
    return move_channels(graph, node, param->window.kernel_shape.num + 2);
}

static int lower_qlinear_global_pool(struct graph* graph, struct node* node)
{
    struct global_pool_param* param = node->op.param_mem;
    const struct tensor* input = get_ir_node_input(node, 0);
    if (!param->channels_last) return TENGINE_OK;
    param->channels_last = 0;
    // If the model does not give the rank, four is assumed; Transpose refuses another.
    return move_channels(graph, node, input && input->shape_set ? input->dim_num : 4);
}

// com.microsoft.NhwcMaxPool, for int8 and uint8.
static int lower_nhwc_max_pool(struct graph* graph, struct node* node)
{
    const struct pool_param* param = node->op.param_mem;
    TENGINE_RETURN_IF_ERROR(move_channels(graph, node, param->window.kernel_shape.num + 2));
    return change_node_method(node, "MaxPool");
}

int resolve_unpool_window(const struct node* node, struct window* out_window)
{
    static const struct op_ints absent = {0, NULL};
    const struct window_param* param = node->op.param_mem;
    return resolve_transposed_window(node, param, &absent, &absent, get_ir_node_input(node, 0),
                                     NULL, out_window);
}

static int infer_max_unpool(struct node* node)
{
    const struct tensor* input = get_ir_node_input(node, 0);
    const struct tensor* indices = get_ir_node_input(node, 1);
    TENGINE_RETURN_IF_ERROR(require_type(node, 0, TYPES_FLOAT));
    TENGINE_RETURN_IF_ERROR(require_type(node, 1, TYPE_BIT(INT64)));
    struct window window;
    TENGINE_RETURN_IF_ERROR(resolve_unpool_window(node, &window));
    if (indices->elem_num != input->elem_num)
        return fail_node(node, TENGINE_EINVAL, "%lld indices for %lld values",
                         (long long)indices->elem_num, (long long)input->elem_num);

    int64_t dims[MAX_SHAPE_DIM_NUM];
    int dim_num;
    const int status = read_int_input(node, 2, dims, MAX_SHAPE_DIM_NUM, &dim_num);
    if (status != TENGINE_OK) return status;
    if (!get_ir_node_input(node, 2))
        return set_window_output(node, 0, input->data_type, input, input->dims[1], &window);
    if (dim_num != input->dim_num)
        return fail_node(node, TENGINE_EINVAL, "output_shape has %d values, expected %d", dim_num,
                         input->dim_num);
    return set_node_output(node, 0, input->data_type, dims, dim_num);
}

#define POOL_ROW(first_opset, pool_fields, outputs, infer)                                  \
    .version = first_opset, .min_input = 1, .max_input = 1, .min_output = 1,                \
    .max_output = outputs, OP_FIELDS(pool_fields), .param_size = sizeof(struct pool_param), \
    .infer_shape = infer, .types = "0 int64"
#define GLOBAL_POOL_ROW(first_opset, ...)                                                     \
    .version = first_opset, .min_input = 1, .max_input = 1, .min_output = 1, .max_output = 1, \
    .infer_shape = infer_global_pool, __VA_ARGS__

#define QLINEAR_POOL_ROW(pool_fields, type, infer, lower_function)                              \
    .version = 1, .until = 1, .min_input = 2, .max_input = 5, .min_output = 1, .max_output = 1, \
    OP_FIELDS(pool_fields), .param_size = sizeof(struct type), .infer_shape = infer,            \
    .types = "4|0", .lower = lower_function

static const ir_method_t* const rows[] = {
    OP_ROW(MaxPool, POOL_ROW(1, max_pool_fields, 2, infer_max_pool)),
    OP_ROW(AveragePool, POOL_ROW(1, average_pool_fields, 1, infer_pool)),
    OP_ROW(LpPool, POOL_ROW(2, lp_pool_fields, 1, infer_pool)),
    OP_ROW(GlobalMaxPool, GLOBAL_POOL_ROW(1, .param_size = 0)),
    OP_ROW(GlobalAveragePool, GLOBAL_POOL_ROW(1, .param_size = 0)),
    OP_ROW(GlobalLpPool, GLOBAL_POOL_ROW(2, OP_FIELDS(global_lp_pool_fields),
                                         .param_size = sizeof(struct global_pool_param))),
    MICROSOFT_ROW(QLinearAveragePool,
                  QLINEAR_POOL_ROW(qlinear_average_pool_fields, pool_param,
                                   infer_qlinear_average_pool, lower_qlinear_average_pool)),
    MICROSOFT_ROW(QLinearGlobalAveragePool,
                  QLINEAR_POOL_ROW(qlinear_global_pool_fields, global_pool_param,
                                   infer_qlinear_global_pool, lower_qlinear_global_pool)),
    MICROSOFT_ROW(NhwcMaxPool, .version = 1, .until = 1, .min_input = 1, .max_input = 1,
                  .min_output = 1, .max_output = 1, OP_FIELDS(nhwc_max_pool_fields),
                  .param_size = sizeof(struct pool_param), .traits = OP_LEGACY,
                  .lower = lower_nhwc_max_pool),
    OP_ROW(MaxUnpool, .version = 9, .min_input = 2, .max_input = 3, .min_output = 1,
           .max_output = 1, OP_FIELDS(unpool_fields), .param_size = sizeof(struct window_param),
           .infer_shape = infer_max_unpool),
};

OPERATOR_TABLE(pool_ops, rows);
