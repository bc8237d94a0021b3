// SPDX-License-Identifier: Apache-2.0
// Col2Im, the inverse of im2col: an image is the sum of its blocks, which are columns of the input.
// Kernel: device/cpu/reference/conv/col2im.cc.
#include <limits.h>

#include "operator/infer.h"
#include "operator/onnx/col2im_param.h"
#include "operator/row.h"
#include "operator/type_set.h"

static const op_field_t col2im_fields[] = {
    OP_FIELD(struct col2im_param, INTS, dilations, .minimum = 1, .maximum = INT32_MAX),
    OP_FIELD(struct col2im_param, INTS, pads, .minimum = 0, .maximum = INT32_MAX),
    OP_FIELD(struct col2im_param, INTS, strides, .minimum = 1, .maximum = INT32_MAX),
};

// Checks that a list is absent or has as many values as there are axes.
static int check_list(const struct node* node, const struct op_ints* list, const char* name,
                      int expected)
{
    if (list->num == 0 || list->num == expected) return TENGINE_OK;
    return fail_node(node, TENGINE_EINVAL, "%s has %d values, expected %d", name, list->num,
                     expected);
}

static int read_sizes(const struct node* node, struct window* window)
{
    int64_t image[WINDOW_MAX_AXES], block[WINDOW_MAX_AXES];
    int block_num = 0;
    int status = read_int_input(node, 1, image, WINDOW_MAX_AXES, &window->axis_num);
    if (status != TENGINE_OK) return status;
    status = read_int_input(node, 2, block, WINDOW_MAX_AXES, &block_num);
    if (status != TENGINE_OK) return status;
    if (block_num != window->axis_num || block_num == 0)
        return fail_node(node, TENGINE_EINVAL, "image_shape has %d values and block_shape %d",
                         window->axis_num, block_num);
    for (int i = 0; i < block_num; ++i) {
        if (image[i] < 1 || image[i] > INT_MAX || block[i] < 1 || block[i] > INT_MAX)
            return fail_node(node, TENGINE_EINVAL,
                             "along axis %d the image has %lld elements and the block %lld", i,
                             (long long)image[i], (long long)block[i]);
        window->axes[i].input = (int)image[i];
        window->axes[i].kernel = (int)block[i];
    }
    return TENGINE_OK;
}

static int resolve_axis(const struct node* node, int index, int axis_num, struct window_axis* axis)
{
    const struct col2im_param* param = node->op.param_mem;
    axis->stride = param->strides.num > 0 ? (int)param->strides.values[index] : 1;
    axis->dilation = param->dilations.num > 0 ? (int)param->dilations.values[index] : 1;
    axis->pad_begin = param->pads.num > 0 ? (int)param->pads.values[index] : 0;
    axis->pad_end = param->pads.num > 0 ? (int)param->pads.values[axis_num + index] : 0;
    const int64_t room = (int64_t)axis->input + axis->pad_begin + axis->pad_end;
    const int64_t extent = (int64_t)axis->dilation * (axis->kernel - 1) + 1;
    const int64_t windows = room < extent ? 0 : (room - extent) / axis->stride + 1;
    axis->output = windows <= INT_MAX ? (int)windows : 0;
    if (axis->output > 0) return TENGINE_OK;
    return fail_node(node, TENGINE_EINVAL,
                     "along axis %d a block takes %lld elements, the padded image has %lld", index,
                     (long long)extent, (long long)room);
}

int resolve_col2im(const struct node* node, struct window* out_window)
{
    const struct col2im_param* param = node->op.param_mem;
    struct window window = {0};
    const int status = read_sizes(node, &window);
    if (status != TENGINE_OK) return status;
    TENGINE_RETURN_IF_ERROR(check_list(node, &param->dilations, "dilations", window.axis_num));
    TENGINE_RETURN_IF_ERROR(check_list(node, &param->strides, "strides", window.axis_num));
    TENGINE_RETURN_IF_ERROR(check_list(node, &param->pads, "pads", 2 * window.axis_num));
    for (int i = 0; i < window.axis_num; ++i)
        TENGINE_RETURN_IF_ERROR(resolve_axis(node, i, window.axis_num, &window.axes[i]));
    *out_window = window;
    return TENGINE_OK;
}

static int infer_col2im(struct node* node)
{
    const struct tensor* input = get_ir_node_input(node, 0);
    struct window window;
    TENGINE_RETURN_IF_ERROR(require_type(node, 0, TYPES_NUMBER));
    if (input->dim_num != 3)
        return fail_node(node, TENGINE_EINVAL, "input '%s' has rank %d, expected 3", input->name,
                         input->dim_num);
    const int status = resolve_col2im(node, &window);
    if (status != TENGINE_OK) return status;
    double block = 1, windows = 1;
    int64_t dims[MAX_SHAPE_DIM_NUM] = {input->dims[0]};
    for (int i = 0; i < window.axis_num; ++i) {
        block *= window.axes[i].kernel;
        windows *= window.axes[i].output;
        dims[2 + i] = window.axes[i].input;
    }
    dims[1] = block <= INT_MAX ? input->dims[1] / (int64_t)block : 0;
    if ((double)dims[1] * block != input->dims[1] || windows != input->dims[2])
        return fail_node(node, TENGINE_EINVAL,
                         "input '%s' has %d channels and %d windows, but blocks have %.0f elements "
                         "and there are %.0f of them",
                         input->name, input->dims[1], input->dims[2], block, windows);
    return set_node_output(node, 0, input->data_type, dims, 2 + window.axis_num);
}

static const ir_method_t* const rows[] = {
    OP_ROW(Col2Im, .version = 18, .min_input = 3, .max_input = 3, .min_output = 1, .max_output = 1,
           OP_FIELDS(col2im_fields), .param_size = sizeof(struct col2im_param),
           .infer_shape = infer_col2im),
};

OPERATOR_TABLE(col2im_ops, rows);
