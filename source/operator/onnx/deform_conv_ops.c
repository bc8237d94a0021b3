// SPDX-License-Identifier: Apache-2.0
// DeformConv (X. Zhu et al., "Deformable ConvNets v2", 2019): a convolution in which each tap reads
// the input at an offset of its own, optionally scaled by a mask. Kernel:
// device/cpu/reference/conv/deform_conv.cc.
#include <stdbool.h>

#include "operator/infer.h"
#include "operator/onnx/deform_conv_param.h"
#include "operator/onnx/macs.h"
#include "operator/row.h"
#include "operator/type_set.h"

static const op_field_t deform_conv_fields[] = {
    WINDOW_KERNEL_FIELD(.required = 0),
    WINDOW_DILATIONS_FIELD(.required = 0),
    WINDOW_PADS_FIELD,
    WINDOW_STRIDES_FIELD,
    OP_FIELD(struct deform_conv_param, INT, group, .number = 1, .minimum = 1, .maximum = INT32_MAX),
    OP_FIELD(struct deform_conv_param, INT, offset_group, .number = 1, .minimum = 1,
             .maximum = INT32_MAX),
};

int resolve_deform_window(const struct node* node, struct window* out_window)
{
    const struct deform_conv_param* param = node->op.param_mem;
    return resolve_window(node, &param->window, get_ir_node_input(node, DEFORM_INPUT),
                          get_ir_node_input(node, DEFORM_WEIGHT)->dims + 2, out_window);
}

static int check_channels(const struct node* node)
{
    const struct deform_conv_param* param = node->op.param_mem;
    const struct tensor* input = get_ir_node_input(node, DEFORM_INPUT);
    const struct tensor* weight = get_ir_node_input(node, DEFORM_WEIGHT);
    const struct tensor* bias = get_ir_node_input(node, DEFORM_BIAS);
    if (input->dim_num < 3 || input->dim_num != weight->dim_num)
        return fail_node(node, TENGINE_EINVAL,
                         "input has rank %d and weight rank %d, expected equal ranks of 3 or more",
                         input->dim_num, weight->dim_num);
    if (weight->dims[0] % param->group != 0 ||
        (int64_t)weight->dims[1] * param->group != input->dims[1])
        return fail_node(node, TENGINE_EINVAL,
                         "weight has %d output channels and %d input channels, input has %d "
                         "(group %d)",
                         weight->dims[0], weight->dims[1], input->dims[1], param->group);
    if (input->dims[1] % param->offset_group != 0)
        return fail_node(node, TENGINE_EINVAL,
                         "%d input channels do not divide into %d groups of offsets",
                         input->dims[1], param->offset_group);
    if (bias && (bias->dim_num != 1 || bias->dims[0] != weight->dims[0]))
        return fail_node(node, TENGINE_EINVAL,
                         "bias has rank %d and %lld values, expected a list of %d", bias->dim_num,
                         (long long)bias->elem_num, weight->dims[0]);
    return TENGINE_OK;
}

// Checks that input `index` has `per_tap` channels for each tap of each group, and the axes of the
// output.
static int check_taps(const struct node* node, int index, int per_tap, const struct window* window)
{
    const struct deform_conv_param* param = node->op.param_mem;
    const struct tensor* taps = get_ir_node_input(node, index);
    const struct tensor* input = get_ir_node_input(node, DEFORM_INPUT);
    if (!taps) return TENGINE_OK;
    double channels = (double)param->offset_group * per_tap;
    for (int i = 0; i < window->axis_num; ++i)
        channels *= window->axes[i].kernel;
    bool fits = taps->dim_num == input->dim_num && taps->dims[0] == input->dims[0] &&
                taps->dims[1] == channels;
    for (int i = 0; fits && i < window->axis_num; ++i)
        fits = taps->dims[2 + i] == window->axes[i].output;
    if (fits) return TENGINE_OK;
    return fail_node(node, TENGINE_EINVAL,
                     "%s '%s' has rank %d and %lld values, expected %d batches, %.0f channels and "
                     "the axes of the output",
                     index == DEFORM_MASK ? "mask" : "offset", taps->name, taps->dim_num,
                     (long long)taps->elem_num, input->dims[0], channels);
}

static int infer_deform_conv(struct node* node)
{
    const struct tensor* input = get_ir_node_input(node, DEFORM_INPUT);
    struct window window;
    TENGINE_RETURN_IF_ERROR(require_type(node, DEFORM_INPUT, TYPES_FLOAT));
    TENGINE_RETURN_IF_ERROR(require_same_types(node, DEFORM_INPUT, DEFORM_MASK));
    TENGINE_RETURN_IF_ERROR(check_channels(node));
    TENGINE_RETURN_IF_ERROR(resolve_deform_window(node, &window));
    TENGINE_RETURN_IF_ERROR(check_taps(node, DEFORM_OFFSET, window.axis_num, &window));
    TENGINE_RETURN_IF_ERROR(check_taps(node, DEFORM_MASK, 1, &window));
    return set_window_output(node, 0, input->data_type, input,
                             get_ir_node_input(node, DEFORM_WEIGHT)->dims[0], &window);
}

static int64_t count_macs(const struct node* node)
{
    const struct tensor* weight = get_ir_node_input(node, DEFORM_WEIGHT);
    const int64_t taps = weight->dims[0] > 0 ? weight->elem_num / weight->dims[0] : 0;
    return multiply_macs(get_ir_node_output(node, 0)->elem_num, taps);
}

static const ir_method_t* const rows[] = {
    OP_ROW(DeformConv, .version = 19, .min_input = 3, .max_input = DEFORM_INPUTS, .min_output = 1,
           .max_output = 1, OP_FIELDS(deform_conv_fields),
           .param_size = sizeof(struct deform_conv_param), .infer_shape = infer_deform_conv,
           .macs = count_macs),
};

OPERATOR_TABLE(deform_conv_ops, rows);
