// SPDX-License-Identifier: Apache-2.0
// Padding and output sizes, by the formulas of the ONNX specification for Conv, ConvTranspose and
// the pools. See window.h.
#include "operator/onnx/window.h"

#include <inttypes.h>
#include <string.h>

#include "operator/infer.h"

// Checks that a list is absent or has `num` values within [minimum, INT32_MAX]. A field's row
// cannot state `num`, which depends on the input's rank.
static int check_list(const struct node* node, const char* name, const struct op_ints* list,
                      int num, int64_t minimum)
{
    if (list->num != 0 && list->num != num)
        return fail_node(node, TENGINE_EINVAL, "%s has %d values, expected %d", name, list->num,
                         num);
    for (int i = 0; i < list->num; ++i)
        if (list->values[i] < minimum || list->values[i] > INT32_MAX)
            return fail_node(node, TENGINE_ERANGE,
                             "%s[%d] is %" PRId64 ", expected at least %" PRId64, name, i,
                             list->values[i], minimum);
    return TENGINE_OK;
}

static int64_t value_or(const struct op_ints* list, int index, int64_t otherwise)
{
    return list->num == 0 ? otherwise : list->values[index];
}

// Reads sizes, kernel, strides, dilations and (explicit) pads of all axes; not the output.
static int read_axes(const struct node* node, const struct window_param* param,
                     const struct tensor* input, const int kernel[], struct window* window)
{
    const int num = input->dim_num - 2;
    if (num < 1)
        return fail_node(node, TENGINE_EINVAL, "input has rank %d, expected at least 3",
                         input->dim_num);
    TENGINE_RETURN_IF_ERROR(check_list(node, "kernel_shape", &param->kernel_shape, num, 1));
    TENGINE_RETURN_IF_ERROR(check_list(node, "strides", &param->strides, num, 1));
    TENGINE_RETURN_IF_ERROR(check_list(node, "dilations", &param->dilations, num, 1));
    TENGINE_RETURN_IF_ERROR(check_list(node, "pads", &param->pads, 2 * num, 0));
    if (!kernel && param->kernel_shape.num == 0)
        return fail_node(node, TENGINE_EINVAL, "kernel_shape is missing");

    window->axis_num = num;
    for (int i = 0; i < num; ++i) {
        struct window_axis* axis = &window->axes[i];
        const int64_t size = kernel ? kernel[i] : param->kernel_shape.values[i];
        if (size < 1 || size != value_or(&param->kernel_shape, i, size))
            return fail_node(node, TENGINE_EINVAL,
                             "axis %d: the weight's kernel is %" PRId64
                             ", kernel_shape says %" PRId64,
                             i, size, value_or(&param->kernel_shape, i, 1));
        axis->input = input->dims[i + 2];
        axis->kernel = (int)size;
        axis->stride = (int)value_or(&param->strides, i, 1);
        axis->dilation = (int)value_or(&param->dilations, i, 1);
        axis->pad_begin = (int)value_or(&param->pads, i, 0);
        axis->pad_end = (int)value_or(&param->pads, i + num, 0);
    }
    return TENGINE_OK;
}

static bool has_auto_pad(const struct window_param* param, const char* mode)
{
    return param->auto_pad && strcmp(param->auto_pad, mode) == 0;
}

static bool is_same_padded(const struct window_param* param)
{
    return has_auto_pad(param, "SAME_UPPER") || has_auto_pad(param, "SAME_LOWER");
}

// All factors are below 2^31, so that int64 holds the products here and below.
static int64_t kernel_extent(const struct window_axis* axis)
{
    return ((int64_t)axis->kernel - 1) * axis->dilation + 1;
}

// Splits the total padding in two; if it is odd, the larger part is at the end if `upper`. False if
// it does not fit.
static bool set_pads(struct window_axis* axis, int64_t total, bool upper)
{
    if (total < 0) total = 0;
    if (total > INT32_MAX) return false;
    axis->pad_begin = (int)(upper ? total / 2 : total - total / 2);
    axis->pad_end = (int)total - axis->pad_begin;
    return true;
}

// Returns the number of windows of a padded axis; < 1 if none fits.
static int64_t count_windows(const struct window_axis* axis, bool ceil_mode)
{
    const int64_t stride = axis->stride;
    const int64_t padded = (int64_t)axis->input + axis->pad_begin + axis->pad_end;
    const int64_t slack = padded - kernel_extent(axis) + (ceil_mode ? stride - 1 : 0);
    if (slack < 0) return 0;
    int64_t count = slack / stride + 1;
    // A window that would start in the end's padding or beyond covers no input, and is left out.
    if (ceil_mode && (count - 1) * stride >= (int64_t)axis->input + axis->pad_begin) --count;
    return count;
}

static int resolve_axis(const struct node* node, const struct window_param* param, int index,
                        struct window_axis* axis)
{
    bool fits = true;
    int64_t output;
    if (is_same_padded(param)) {
        output = ((int64_t)axis->input + axis->stride - 1) / axis->stride;
        const int64_t total = (output - 1) * axis->stride + kernel_extent(axis) - axis->input;
        fits = set_pads(axis, total, has_auto_pad(param, "SAME_UPPER"));
    } else {
        const bool valid = has_auto_pad(param, "VALID");
        if (valid) axis->pad_begin = axis->pad_end = 0;
        output = count_windows(axis, param->ceil_mode && !valid);
    }
    // An empty input gives an empty output unless padding fills it.
    if (!fits || output > INT32_MAX || (output < 1 && axis->input > 0))
        return fail_node(node, TENGINE_EINVAL,
                         "axis %d: no window of extent %" PRId64
                         " fits an input of %d with padding %d + %d",
                         index, kernel_extent(axis), axis->input, axis->pad_begin, axis->pad_end);
    axis->output = (int)output;
    return TENGINE_OK;
}

int resolve_window(const struct node* node, const struct window_param* param,
                   const struct tensor* input, const int kernel[], struct window* out_window)
{
    TENGINE_RETURN_IF_ERROR(read_axes(node, param, input, kernel, out_window));
    for (int i = 0; i < out_window->axis_num; ++i)
        TENGINE_RETURN_IF_ERROR(resolve_axis(node, param, i, &out_window->axes[i]));
    return TENGINE_OK;
}

static int resolve_transposed_axis(const struct node* node, const struct window_param* param,
                                   int64_t output_padding, int64_t wanted, int index,
                                   struct window_axis* axis)
{
    // The length that the windows cover without cropping.
    int64_t full;
    if (__builtin_mul_overflow((int64_t)axis->input - 1, axis->stride, &full) ||
        __builtin_add_overflow(full, kernel_extent(axis) + output_padding, &full))
        return fail_node(node, TENGINE_ERANGE, "axis %d: the output's size overflows", index);
    if (has_auto_pad(param, "VALID")) axis->pad_begin = axis->pad_end = 0;
    if (wanted < 0 && is_same_padded(param)) wanted = (int64_t)axis->input * axis->stride;

    bool fits = true;
    int64_t output = full - axis->pad_begin - axis->pad_end;
    if (wanted >= 0) {
        output = wanted;
        fits = set_pads(axis, full - wanted, has_auto_pad(param, "SAME_UPPER"));
    }
    if (axis->input == 0 && wanted < 0) output = 0;
    if (!fits || output > INT32_MAX || (output < 1 && axis->input > 0))
        return fail_node(node, TENGINE_EINVAL,
                         "axis %d: padding %d + %d leaves nothing of an output of %" PRId64, index,
                         axis->pad_begin, axis->pad_end, full);
    axis->output = (int)output;
    return TENGINE_OK;
}

int resolve_transposed_window(const struct node* node, const struct window_param* param,
                              const struct op_ints* output_padding,
                              const struct op_ints* output_shape, const struct tensor* input,
                              const int kernel[], struct window* out_window)
{
    TENGINE_RETURN_IF_ERROR(read_axes(node, param, input, kernel, out_window));
    const int num = out_window->axis_num;
    TENGINE_RETURN_IF_ERROR(check_list(node, "output_padding", output_padding, num, 0));
    TENGINE_RETURN_IF_ERROR(check_list(node, "output_shape", output_shape, num, 1));
    for (int i = 0; i < num; ++i)
        TENGINE_RETURN_IF_ERROR(resolve_transposed_axis(node, param, value_or(output_padding, i, 0),
                                                        value_or(output_shape, i, -1), i,
                                                        &out_window->axes[i]));
    return TENGINE_OK;
}

int set_window_output(struct node* node, int index, int data_type, const struct tensor* input,
                      int64_t channels, const struct window* window)
{
    int64_t dims[MAX_SHAPE_DIM_NUM] = {input->dims[0], channels};
    for (int i = 0; i < window->axis_num; ++i)
        dims[i + 2] = window->axes[i].output;
    return set_node_output(node, index, data_type, dims, window->axis_num + 2);
}

int64_t multiply_window_kernel(const struct window* window)
{
    int64_t product = 1;
    for (int i = 0; i < window->axis_num; ++i)
        if (__builtin_mul_overflow(product, (int64_t)window->axes[i].kernel, &product))
            return INT64_MAX;
    return product;
}
