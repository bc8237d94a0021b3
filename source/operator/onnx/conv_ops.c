// SPDX-License-Identifier: Apache-2.0
// Convolutions: Conv, ConvInteger, QLinearConv, ConvTranspose, of any number of spatial axes.
// Window arithmetic is in window.c; kernels are in device/cpu/reference/conv/conv.cc.
#include "operator/infer.h"
#include "operator/onnx/conv_param.h"
#include "operator/onnx/legacy.h"
#include "operator/onnx/macs.h"
#include "operator/onnx/quantized.h"
#include "operator/row.h"
#include "operator/type_set.h"

#define CONV_FIELDS                                                                     \
    WINDOW_AUTO_PAD_FIELD, WINDOW_KERNEL_FIELD(.required = 0),                          \
        WINDOW_DILATIONS_FIELD(.required = 0), WINDOW_PADS_FIELD, WINDOW_STRIDES_FIELD, \
        OP_FIELD(struct conv_param, INT, group, .number = 1, .minimum = 1)

static const op_field_t conv_fields[] = {CONV_FIELDS};

static const op_field_t transposed_fields[] = {
    CONV_FIELDS,
    OP_FIELD(struct conv_param, INTS, output_padding, .minimum = 0, .maximum = INT32_MAX),
    OP_FIELD(struct conv_param, INTS, output_shape, .minimum = 1, .maximum = INT32_MAX),
};

static const struct conv_param* get_param(const struct node* node)
{
    return node->op.param_mem;
}

int resolve_conv_window(const struct node* node, int weight_index, struct window* out_window)
{
    const struct tensor* weight = get_ir_node_input(node, weight_index);
    return resolve_window(node, &get_param(node)->window, get_ir_node_input(node, 0),
                          weight->dims + 2, out_window);
}

int resolve_conv_transpose_window(const struct node* node, struct window* out_window)
{
    const struct conv_param* param = get_param(node);
    const struct tensor* input = get_ir_node_input(node, 0);
    // output_shape may also include batch and channels, as in test files and some exporters.
    struct op_ints output_shape = param->output_shape;
    if (output_shape.num == input->dim_num) {
        output_shape.num -= 2;
        output_shape.values += 2;
    }
    return resolve_transposed_window(node, &param->window, &param->output_padding, &output_shape,
                                     input, get_ir_node_input(node, 1)->dims + 2, out_window);
}

static int check_group(const struct node* node, const char* what, int channels)
{
    const int group = get_param(node)->group;
    if (group < 1 || channels % group != 0)
        return fail_node(node, TENGINE_EINVAL, "%d %s do not divide into %d groups", channels, what,
                         group);
    return TENGINE_OK;
}

static int check_ranks(const struct node* node, const struct tensor* input,
                       const struct tensor* weight)
{
    if (input->dim_num < 3 || input->dim_num != weight->dim_num)
        return fail_node(node, TENGINE_EINVAL,
                         "input has rank %d and weight rank %d, expected equal ranks of 3 or more",
                         input->dim_num, weight->dim_num);
    return TENGINE_OK;
}

// Checks that input `index` is absent or a list of `num` values.
static int check_vector(const struct node* node, int index, const char* what, int num)
{
    const struct tensor* vector = get_ir_node_input(node, index);
    if (!vector || (vector->dim_num == 1 && vector->dims[0] == num)) return TENGINE_OK;
    return fail_node(node, TENGINE_EINVAL, "%s has rank %d and %lld values, expected a list of %d",
                     what, vector->dim_num, (long long)vector->elem_num, num);
}

// Checks that input `index` is absent, one value or a list of `num`.
static int check_scale(const struct node* node, int index, const char* what, int num)
{
    const struct tensor* scale = get_ir_node_input(node, index);
    if (scale && scale->dim_num <= 1 && scale->elem_num == 1) return TENGINE_OK;
    return check_vector(node, index, what, num);
}

// Infers a forward convolution: checks weight against input and sets the output.
static int infer_forward(struct node* node, int weight_index, int data_type)
{
    const struct tensor* input = get_ir_node_input(node, 0);
    const struct tensor* weight = get_ir_node_input(node, weight_index);
    TENGINE_RETURN_IF_ERROR(check_ranks(node, input, weight));
    TENGINE_RETURN_IF_ERROR(check_group(node, "output channels", weight->dims[0]));
    const int group = get_param(node)->group;
    if ((int64_t)weight->dims[1] * group != input->dims[1])
        return fail_node(node, TENGINE_EINVAL,
                         "weight has %d input channels, input has %d (group %d)", weight->dims[1],
                         input->dims[1], group);
    struct window window;
    TENGINE_RETURN_IF_ERROR(resolve_conv_window(node, weight_index, &window));
    return set_window_output(node, 0, data_type, input, weight->dims[0], &window);
}

static int infer_conv(struct node* node)
{
    const struct tensor* input = get_ir_node_input(node, 0);
    const struct tensor* weight = get_ir_node_input(node, 1);
    TENGINE_RETURN_IF_ERROR(require_type(node, 0, TYPES_FLOAT));
    TENGINE_RETURN_IF_ERROR(require_same_types(node, 0, 2));
    TENGINE_RETURN_IF_ERROR(infer_forward(node, 1, input->data_type));
    return check_vector(node, 2, "bias", weight->dims[0]);
}

static int infer_conv_integer(struct node* node)
{
    const struct tensor* weight = get_ir_node_input(node, 1);
    TENGINE_RETURN_IF_ERROR(require_type(node, 0, TYPES_BYTE));
    TENGINE_RETURN_IF_ERROR(require_type(node, 1, TYPES_BYTE));
    const struct tensor* input = get_ir_node_input(node, 0);
    TENGINE_RETURN_IF_ERROR(infer_forward(node, 1, TENGINE_DT_INT32));
    TENGINE_RETURN_IF_ERROR(require_type(node, 2, UINT32_C(1) << input->data_type));
    TENGINE_RETURN_IF_ERROR(require_type(node, 3, UINT32_C(1) << weight->data_type));
    TENGINE_RETURN_IF_ERROR(check_scale(node, 2, "x_zero_point", 1));
    return check_scale(node, 3, "w_zero_point", weight->dims[0]);
}

// Inputs: value, scale and zero point of x and of w, then scale and zero point of y, then the bias,
// whose scale is x_scale * w_scale.
static int infer_qlinear_conv(struct node* node)
{
    const struct tensor* weight = get_ir_node_input(node, 3);
    TENGINE_RETURN_IF_ERROR(require_quantized(node, 0));
    TENGINE_RETURN_IF_ERROR(require_quantized(node, 3));
    TENGINE_RETURN_IF_ERROR(require_type(node, 8, TYPE_BIT(INT32)));
    TENGINE_RETURN_IF_ERROR(check_result_quantization(node, 6));
    TENGINE_RETURN_IF_ERROR(infer_forward(node, 3, get_ir_node_input(node, 7)->data_type));
    TENGINE_RETURN_IF_ERROR(check_quantization(node, 1, 1));
    TENGINE_RETURN_IF_ERROR(check_quantization(node, 4, weight->dims[0]));
    return check_vector(node, 8, "bias", weight->dims[0]);
}

// The weight is input channels x output channels per group x kernel.
static int infer_conv_transpose(struct node* node)
{
    const struct tensor* input = get_ir_node_input(node, 0);
    const struct tensor* weight = get_ir_node_input(node, 1);
    TENGINE_RETURN_IF_ERROR(require_type(node, 0, TYPES_FLOAT));
    TENGINE_RETURN_IF_ERROR(require_same_types(node, 0, 2));
    TENGINE_RETURN_IF_ERROR(check_ranks(node, input, weight));
    TENGINE_RETURN_IF_ERROR(check_group(node, "input channels", input->dims[1]));
    if (weight->dims[0] != input->dims[1])
        return fail_node(node, TENGINE_EINVAL, "weight has %d input channels, input has %d",
                         weight->dims[0], input->dims[1]);
    const int64_t channels = (int64_t)weight->dims[1] * get_param(node)->group;
    struct window window;
    TENGINE_RETURN_IF_ERROR(resolve_conv_transpose_window(node, &window));
    TENGINE_RETURN_IF_ERROR(set_window_output(node, 0, input->data_type, input, channels, &window));
    const struct tensor* bias = get_ir_node_input(node, 2);
    return bias ? check_vector(node, 2, "bias", channels <= INT32_MAX ? (int)channels : -1)
                : TENGINE_OK;
}

static int64_t count_forward_macs(const struct node* node, int weight_index)
{
    const struct tensor* weight = get_ir_node_input(node, weight_index);
    return multiply_macs(get_ir_node_output(node, 0)->elem_num,
                         multiply_dims(weight, 1, weight->dim_num));
}

static int64_t count_conv_macs(const struct node* node)
{
    return count_forward_macs(node, 1);
}

static int64_t count_qlinear_conv_macs(const struct node* node)
{
    return count_forward_macs(node, 3);
}

static int64_t count_conv_transpose_macs(const struct node* node)
{
    const struct tensor* weight = get_ir_node_input(node, 1);
    return multiply_macs(get_ir_node_input(node, 0)->elem_num,
                         multiply_dims(weight, 1, weight->dim_num));
}

// NhwcConv of ONNX Runtime has ONNX's inputs, and may have x and y in NHWC. The weight keeps its
// layout.
struct channels_last_conv_param
{
    struct conv_param conv;
    int channels_last;
};

static const op_field_t microsoft_qlinear_conv_fields[] = {
    CONV_FIELDS,
    OP_FIELD(struct channels_last_conv_param, INT, channels_last, .minimum = 0, .maximum = 1),
};

static int lower_qlinear_conv(struct graph* graph, struct node* node)
{
    const struct channels_last_conv_param* param = node->op.param_mem;
    const struct tensor* weight = get_ir_node_input(node, 3);
    const int axes = param->conv.window.kernel_shape.num;
    const int rank = axes > 0 ? axes + 2 : weight && weight->shape_set ? weight->dim_num : 0;
    if (param->channels_last && (rank < 3 || rank > MAX_SHAPE_DIM_NUM))
        return fail_node(node, TENGINE_ENOTSUP,
                         "channels_last is 1 and the rank is %d, or unknown: expected 3 to %d, "
                         "as kernel_shape or the weight says",
                         rank, MAX_SHAPE_DIM_NUM);
    if (param->channels_last) TENGINE_RETURN_IF_ERROR(move_channels_first(graph, node, rank));
    return change_node_method(node, "QLinearConv");
}

static const ir_method_t* const rows[] = {
    OP_ROW(Conv, .version = 1, .min_input = 2, .max_input = 3, .min_output = 1, .max_output = 1,
           OP_FIELDS(conv_fields), .param_size = sizeof(struct conv_param),
           .infer_shape = infer_conv, .macs = count_conv_macs),
    OP_ROW(ConvInteger, .version = 10, .min_input = 2, .max_input = 4, .min_output = 1,
           .max_output = 1, OP_FIELDS(conv_fields), .param_size = sizeof(struct conv_param),
           .infer_shape = infer_conv_integer, .types = "int32", .macs = count_conv_macs),
    OP_ROW(QLinearConv, .version = 10, .min_input = 8, .max_input = 9, .min_output = 1,
           .max_output = 1, OP_FIELDS(conv_fields), .param_size = sizeof(struct conv_param),
           .infer_shape = infer_qlinear_conv, .types = "7", .macs = count_qlinear_conv_macs),
    MICROSOFT_ROW(QLinearConv, .version = 1, .until = 1, .min_input = 8, .max_input = 9,
                  .min_output = 1, .max_output = 1, OP_FIELDS(microsoft_qlinear_conv_fields),
                  .param_size = sizeof(struct channels_last_conv_param), .traits = OP_LEGACY,
                  .lower = lower_qlinear_conv),
    OP_ROW(ConvTranspose, .version = 1, .min_input = 2, .max_input = 3, .min_output = 1,
           .max_output = 1, OP_FIELDS(transposed_fields), .param_size = sizeof(struct conv_param),
           .infer_shape = infer_conv_transpose, .macs = count_conv_transpose_macs),
};

OPERATOR_TABLE(conv_ops, rows);
