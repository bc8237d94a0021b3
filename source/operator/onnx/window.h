// SPDX-License-Identifier: Apache-2.0
// The sliding window of convolutions and pools: the parameters that they share, and the padding and
// output size for one input shape. Shape inference and kernels both use it, so that the rules for
// auto_pad, ceil_mode and output_shape are written once, in window.c.
#pragma once

#include <stdint.h>

#include "operator/operator.h"

TENGINE_EXTERN_C_BEGIN

enum
{
    WINDOW_MAX_AXES = MAX_SHAPE_DIM_NUM - 2
};

// The first member of the parameter struct of every operator with a window.
struct window_param
{
    struct op_ints kernel_shape;
    struct op_ints strides;
    struct op_ints dilations;
    struct op_ints pads;  // all beginnings, then all ends
    char* auto_pad;
    int ceil_mode;
};

// Field rows for the window. The operator adds the designators (.required, .since).
#define WINDOW_KERNEL_FIELD(...)                                                          \
    OP_FIELD(struct window_param, INTS, kernel_shape, .minimum = 1, .maximum = INT32_MAX, \
             __VA_ARGS__)
#define WINDOW_DILATIONS_FIELD(...) \
    OP_FIELD(struct window_param, INTS, dilations, .minimum = 1, .maximum = INT32_MAX, __VA_ARGS__)
#define WINDOW_CEIL_FIELD(...) \
    OP_FIELD(struct window_param, INT, ceil_mode, .minimum = 0, .maximum = 1, __VA_ARGS__)
#define WINDOW_STRIDES_FIELD \
    OP_FIELD(struct window_param, INTS, strides, .minimum = 1, .maximum = INT32_MAX)
#define WINDOW_PADS_FIELD \
    OP_FIELD(struct window_param, INTS, pads, .minimum = 0, .maximum = INT32_MAX)
#define WINDOW_AUTO_PAD_FIELD                                         \
    OP_FIELD(struct window_param, STRING, auto_pad, .text = "NOTSET", \
             .choices = "NOTSET|SAME_UPPER|SAME_LOWER|VALID")

// One spatial axis with all sizes resolved, which are >= 0; kernel, stride and dilation >= 1.
// Output position o uses the inputs o * stride - pad_begin + k * dilation, 0 <= k < kernel. With
// ceil_mode the last windows may reach beyond the input and pad_end. A transposed window exchanges
// the two sides: input position i adds to these outputs.
struct window_axis
{
    int input;
    int output;
    int kernel;
    int stride;
    int dilation;
    int pad_begin;
    int pad_end;
};

struct window
{
    int axis_num;
    struct window_axis axes[WINDOW_MAX_AXES];
};

// Resolves the window; `input` is N x C x spatial axes. `kernel` has the kernel's size per axis
// (the weight's dims + 2; kernel_shape must then agree if it is given) or is NULL: kernel_shape has
// it. EINVAL or ERANGE: lists of a wrong length, values out of range, an output without elements.
TENGINE_MUST_USE int resolve_window(const struct node* node, const struct window_param* param,
                                    const struct tensor* input, const int kernel[],
                                    struct window* out_window);

// Resolves the window of ConvTranspose. output_padding and output_shape may be absent (num 0);
// output_shape has the spatial axes only.
TENGINE_MUST_USE int resolve_transposed_window(const struct node* node,
                                               const struct window_param* param,
                                               const struct op_ints* output_padding,
                                               const struct op_ints* output_shape,
                                               const struct tensor* input, const int kernel[],
                                               struct window* out_window);

// Sets output `index` to N x `channels` x the window's outputs; nothing if it is absent.
TENGINE_MUST_USE int set_window_output(struct node* node, int index, int data_type,
                                       const struct tensor* input, int64_t channels,
                                       const struct window* window);

// Returns the product of the kernel's axes.
int64_t multiply_window_kernel(const struct window* window);

// Finds the taps [*out_first, *out_last) of output position `position` that are on the input.
static inline void clip_window_taps(const struct window_axis* axis, int position, int* out_first,
                                    int* out_last)
{
    const int64_t start = (int64_t)position * axis->stride - axis->pad_begin;
    const int64_t room = axis->input - start;  // inputs up to the end
    int64_t first = start >= 0 ? 0 : -start;
    int64_t last = room <= 0 ? 0 : room;
    if (axis->dilation != 1) {  // a division takes longer than everything else here
        first = (first + axis->dilation - 1) / axis->dilation;
        last = (last + axis->dilation - 1) / axis->dilation;
    }
    if (last > axis->kernel) last = axis->kernel;
    *out_last = (int)last;
    *out_first = first < last ? (int)first : (int)last;
}

TENGINE_EXTERN_C_END
