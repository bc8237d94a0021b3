// SPDX-License-Identifier: Apache-2.0
// Tengine's Pooling and L2Pool. Their windows follow rules of their own, which are written down
// here once: lowering makes explicit pads of them, raising asks which rule gives the same as ONNX.
#include <stdint.h>
#include <string.h>

#include "operator/onnx/pool_param.h"
#include "operator/row.h"
#include "operator/tengine/operand.h"

struct tm_pool_param
{
    int pool_method;
    int kernel_h;
    int kernel_w;
    int stride_h;
    int stride_w;
    int pad_h0;
    int pad_h1;  // not read: both sides are padded like the first
    int pad_w0;
    int pad_w1;
    int global;
    int caffe_flavor;
};

struct tm_l2pool_param
{
    int paddingType;
    int kernel_h;
    int kernel_w;
    int stride_h;
    int stride_w;
};

static const op_field_t pool_fields[] = {
    TM_FIELD(struct tm_pool_param, INT, pool_method, WORD, 0, .number = 0),
    TM_FIELD(struct tm_pool_param, INT, kernel_h, WORD, 4, .number = 2),
    TM_FIELD(struct tm_pool_param, INT, kernel_w, WORD, 8, .number = 2),
    TM_FIELD(struct tm_pool_param, INT, stride_h, WORD, 12, .number = 2),
    TM_FIELD(struct tm_pool_param, INT, stride_w, WORD, 16, .number = 2),
    TM_FIELD(struct tm_pool_param, INT, global, WORD, 20, .number = 0),
    TM_FIELD(struct tm_pool_param, INT, caffe_flavor, WORD, 24, .number = 0),
    TM_FIELD(struct tm_pool_param, INT, pad_h0, WORD, 28, .number = 0),
    TM_FIELD(struct tm_pool_param, INT, pad_w0, WORD, 32, .number = 0),
    TM_FIELD(struct tm_pool_param, INT, pad_h1, WORD, 36, .number = 0),
    TM_FIELD(struct tm_pool_param, INT, pad_w1, WORD, 40, .number = 0),
};

static const op_field_t l2pool_fields[] = {
    TM_FIELD(struct tm_l2pool_param, INT, paddingType, WORD, 0, .number = 0),
    TM_FIELD(struct tm_l2pool_param, INT, kernel_h, WORD, 4, .number = 0),
    TM_FIELD(struct tm_l2pool_param, INT, kernel_w, WORD, 8, .number = 0),
    TM_FIELD(struct tm_l2pool_param, INT, stride_h, WORD, 12, .number = 0),
    TM_FIELD(struct tm_l2pool_param, INT, stride_w, WORD, 16, .number = 0),
};

enum
{
    METHOD_MAX = 0,
    METHOD_AVERAGE = 1,

    FLAVOR_FLOOR = 0,
    FLAVOR_CEIL = 1,
    FLAVOR_DARKNET = 2,
    FLAVOR_COUNT_PADDING = 0x10,

    PADDING_SAME = 1  // of L2Pool
};

// ---- the windows along one axis ----

// Sizes are below 2^31, so int64 holds their products.
typedef struct pool_axis
{
    int64_t input;
    int64_t kernel;
    int64_t stride;
    int64_t pad;  // before the input
    int64_t output;
} pool_axis_t;

// Quotients are cut towards 0, also those of negative numbers.
static int64_t count_outputs(const pool_axis_t* axis, int64_t pad, int flavor)
{
    const int64_t slack = axis->input - axis->kernel;
    if (pad < 0) return 1 + (axis->input - 1) / axis->stride;
    // The flag that counts padding disables the other rules.
    if (flavor == FLAVOR_DARKNET) return 1 + (slack + pad) / axis->stride;
    if (flavor != FLAVOR_CEIL) return 1 + (slack + 2 * pad) / axis->stride;
    int64_t output = 2 + (slack + 2 * pad - 1) / axis->stride;
    if (pad > 0 && (output - 1) * axis->stride >= axis->input + pad) --output;
    return output;
}

// Elements from the start of the first window to the end of the last one.
static int64_t count_covered(const pool_axis_t* axis)
{
    return (axis->output - 1) * axis->stride + axis->kernel;
}

// `pad` is the field: the padding before the input, -1 for SAME, in the darknet flavour the total.
static void resolve_axis(pool_axis_t* axis, int64_t pad, int flavor)
{
    axis->output = count_outputs(axis, pad, flavor);
    if ((flavor & ~FLAVOR_COUNT_PADDING) == FLAVOR_DARKNET) {
        axis->pad = pad / 2;
    } else if (pad >= 0) {
        axis->pad = pad;
    } else {
        const int64_t missing = count_covered(axis) - axis->input;
        axis->pad = missing > 0 ? missing / 2 : 0;
    }
}

// Whether every window has an element of the input; Tengine would read outside the input for
// others.
static bool meets_input(const pool_axis_t* axis)
{
    return axis->pad >= 0 && axis->pad < axis->kernel &&
           (axis->output - 1) * axis->stride - axis->pad < axis->input;
}

// Returns the padding that the last window needs after the input.
static int64_t get_pad_end(const pool_axis_t* axis)
{
    const int64_t end = count_covered(axis) - axis->input - axis->pad;
    return end > 0 ? end : 0;
}

// Returns the divisor of an average: all but a plain Pooling count padding, as much of it after the
// input as before. Only for the part of the window at output `position`.
static int64_t count_averaged(const pool_axis_t* axis, int64_t position, int flavor)
{
    const int64_t limit = axis->input + (flavor == FLAVOR_FLOOR ? 0 : axis->pad);
    const int64_t start = position * axis->stride - axis->pad;
    const int64_t end = start + axis->kernel < limit ? start + axis->kernel : limit;
    return end - (flavor == FLAVOR_FLOOR && start < 0 ? 0 : start);
}

// ---- lowering of Pooling ----

static bool is_global(const struct tm_pool_param* param, const struct tensor* input)
{
    return param->global ||
           (param->kernel_h == input->dims[2] && param->kernel_w == input->dims[3]);
}

static void check_axis(emitter_t* emit, const char* name, const pool_axis_t* axis)
{
    if (axis->input < 1)
        fail_emitting(emit, TENGINE_EINVAL, "its input has no elements along axis %s", name);
    else if (axis->output < 1)
        fail_emitting(emit, TENGINE_EINVAL,
                      "axis %s: a kernel of %lld does not fit an input of %lld", name,
                      (long long)axis->kernel, (long long)axis->input);
    else if (!meets_input(axis))
        fail_emitting(emit, TENGINE_EINVAL,
                      "axis %s: a window meets no element of the input (kernel %lld, stride %lld, "
                      "padding %lld, input %lld)",
                      name, (long long)axis->kernel, (long long)axis->stride, (long long)axis->pad,
                      (long long)axis->input);
}

static void require_positive(emitter_t* emit, const char* what, int value)
{
    if (value < 1)
        fail_emitting(emit, TENGINE_EINVAL, "%s is %d, expected at least 1", what, value);
}

static void check_sizes(emitter_t* emit, int kernel_h, int kernel_w, int stride_h, int stride_w)
{
    require_positive(emit, "kernel_h", kernel_h);
    require_positive(emit, "kernel_w", kernel_w);
    require_positive(emit, "stride_h", stride_h);
    require_positive(emit, "stride_w", stride_w);
}

static void emit_window(emitter_t* emit, const pool_axis_t axes[2], const int64_t pads[4])
{
    emit_attr_ints(emit, "kernel_shape", (const int64_t[]){axes[0].kernel, axes[1].kernel}, 2);
    emit_attr_ints(emit, "strides", (const int64_t[]){axes[0].stride, axes[1].stride}, 2);
    emit_attr_ints(emit, "pads", pads, 4);
}

static struct tensor* emit_max(emitter_t* emit, struct tensor* input, const pool_axis_t axes[2])
{
    const int64_t pads[] = {axes[0].pad, axes[1].pad, get_pad_end(&axes[0]), get_pad_end(&axes[1])};
    begin_op(emit, "MaxPool", 1, input);
    emit_window(emit, axes, pads);
    return end_op(emit);
}

static struct tensor* emit_average(emitter_t* emit, struct tensor* input, const pool_axis_t axes[2],
                                   const int64_t pads[4], bool counts_padding)
{
    begin_op(emit, "AveragePool", 1, input);
    emit_window(emit, axes, pads);
    emit_attr_int(emit, "count_include_pad", counts_padding);
    return end_op(emit);
}

// The divisor counts padding as wide as that before the input. When the last window goes beyond it,
// zeros that count are put around the input, and the rest is padding that does not count.
static struct tensor* emit_counting_average(emitter_t* emit, struct tensor* input,
                                            const pool_axis_t axes[2])
{
    const int64_t h = axes[0].pad, w = axes[1].pad;
    const int64_t ends[] = {get_pad_end(&axes[0]), get_pad_end(&axes[1])};
    if (ends[0] <= h && ends[1] <= w)
        return emit_average(emit, input, axes, (const int64_t[]){h, w, ends[0], ends[1]}, true);
    if (h > 0 || w > 0)
        input = emit_op(emit, "Pad", 2, input,
                        emit_ints(emit, (const int64_t[]){0, 0, h, w, 0, 0, h, w}, 8));
    const int64_t pads[] = {0, 0, ends[0] > h ? ends[0] - h : 0, ends[1] > w ? ends[1] - w : 0};
    return emit_average(emit, input, axes, pads, false);
}

static struct tensor* emit_pool(emitter_t* emit, const struct tm_pool_param* param,
                                const pool_axis_t axes[2])
{
    struct tensor* input = get_ir_node_input(emit->origin, 0);
    if (param->pool_method == METHOD_MAX) return emit_max(emit, input, axes);
    if (param->caffe_flavor != FLAVOR_FLOOR) return emit_counting_average(emit, input, axes);
    const int64_t pads[] = {axes[0].pad, axes[1].pad, get_pad_end(&axes[0]), get_pad_end(&axes[1])};
    return emit_average(emit, input, axes, pads, false);
}

static int lower_pool(struct graph* graph, struct node* node)
{
    const struct tm_pool_param* param = node->op.param_mem;
    struct tensor* input = get_ir_node_input(node, 0);
    emitter_t emit = start_emitting(graph, node);
    require_rank(&emit, 4, 4);
    if (param->pool_method != METHOD_MAX && param->pool_method != METHOD_AVERAGE)
        fail_emitting(&emit, TENGINE_EINVAL, "pool_method is %d, expected 0 (max) or 1 (average)",
                      param->pool_method);
    if (emit.status < 0) return emit.status;
    if (is_global(param, input))
        return finish_emitting(
            &emit, 1,
            emit_op(&emit, param->pool_method == METHOD_MAX ? "GlobalMaxPool" : "GlobalAveragePool",
                    1, input));
    check_sizes(&emit, param->kernel_h, param->kernel_w, param->stride_h, param->stride_w);
    if (emit.status < 0) return emit.status;
    pool_axis_t axes[] = {{input->dims[2], param->kernel_h, param->stride_h, 0, 0},
                          {input->dims[3], param->kernel_w, param->stride_w, 0, 0}};
    resolve_axis(&axes[0], param->pad_h0, param->caffe_flavor);
    resolve_axis(&axes[1], param->pad_w0, param->caffe_flavor);
    check_axis(&emit, "h", &axes[0]);
    check_axis(&emit, "w", &axes[1]);
    return finish_emitting(&emit, 1, emit_pool(&emit, param, axes));
}

// ---- raising to Pooling ----

// Returns the divisor of ONNX's node.
static int64_t count_averaged_here(const struct window_axis* axis, int64_t position, bool counting)
{
    const int64_t limit = axis->input + (counting ? axis->pad_end : 0);
    const int64_t start = position * axis->stride - axis->pad_begin;
    const int64_t end = start + axis->kernel < limit ? start + axis->kernel : limit;
    return end - (!counting && start < 0 ? 0 : start);
}

// The node that is to be raised.
typedef struct raised_pool
{
    struct window window;
    bool is_average;
    bool counts_padding;
} raised_pool_t;

// Whether the flavour and the value of the pad field mean the same windows.
static bool is_said_by(const raised_pool_t* pool, const struct window_axis* wanted, int64_t pad,
                       int flavor)
{
    pool_axis_t axis = {wanted->input, wanted->kernel, wanted->stride, 0, 0};
    resolve_axis(&axis, pad, flavor);
    if (axis.output != wanted->output || axis.pad != wanted->pad_begin || !meets_input(&axis))
        return false;
    for (int64_t i = 0; pool->is_average && i < axis.output; ++i)
        if (count_averaged(&axis, i, flavor) !=
            count_averaged_here(wanted, i, pool->counts_padding))
            return false;
    return true;
}

// Finds the value of the pad field for an axis in a flavour: SAME, or the padding before the input.
static bool find_pad(const raised_pool_t* pool, const struct window_axis* axis, int flavor,
                     bool same, int64_t* out_pad)
{
    const int64_t before = axis->pad_begin;
    const int64_t candidates[] = {same ? -1 : before, 2 * before, 2 * before + 1};
    for (int i = 0; i < (same ? 1 : 3); ++i) {
        *out_pad = candidates[i];
        if (candidates[i] <= INT32_MAX && is_said_by(pool, axis, *out_pad, flavor)) return true;
    }
    return false;
}

// The node's own values are tried first, so that the result holds for other sizes of the input,
// too.
static bool find_flavor(const struct node* node, const raised_pool_t* pool, int* out_flavor,
                        int64_t out_pads[2])
{
    const bool ceils = get_ir_node_int(node, "ceil_mode", 0) != 0;
    const bool is_same = strncmp(get_ir_node_text(node, "auto_pad", ""), "SAME", 4) == 0;
    const int flavors[] = {ceils ? FLAVOR_CEIL : FLAVOR_FLOOR, ceils ? FLAVOR_FLOOR : FLAVOR_CEIL,
                           FLAVOR_COUNT_PADDING, FLAVOR_DARKNET};
    for (int i = 0; i < 8; ++i) {
        const bool same = is_same == (i < 4);
        *out_flavor = flavors[i % 4];
        if (find_pad(pool, &pool->window.axes[0], *out_flavor, same, &out_pads[0]) &&
            find_pad(pool, &pool->window.axes[1], *out_flavor, same, &out_pads[1]))
            return true;
    }
    return false;
}

// Whether the kernel is as large as the input: Tengine then takes the whole plane, whatever the
// pads.
static bool is_plane_kernel(const struct window* window)
{
    return window->axes[0].kernel == window->axes[0].input &&
           window->axes[1].kernel == window->axes[1].input;
}

static bool takes_one_plane(const struct window* window)
{
    for (int i = 0; i < 2; ++i)
        if (window->axes[i].output != 1 || window->axes[i].pad_begin != 0) return false;
    return true;
}

static int raise_window_pool(struct graph* graph, struct node* node, const raised_pool_t* pool)
{
    const struct window_axis *h = &pool->window.axes[0], *w = &pool->window.axes[1];
    int flavor = FLAVOR_FLOOR;
    int64_t pads[2] = {0, 0};
    if (is_plane_kernel(&pool->window)) {
        if (!takes_one_plane(&pool->window))
            return refuse_raising(
                node,
                "Tengine pools the whole plane where the kernel is as large as the input, %d x %d",
                h->input, w->input);
    } else if (!find_flavor(node, pool, &flavor, pads)) {
        return refuse_raising(node,
                              "no caffe_flavor of Tengine's Pooling has these windows (input %d x "
                              "%d, output %d x %d, pads %d, %d, %d, %d)",
                              h->input, w->input, h->output, w->output, h->pad_begin, w->pad_begin,
                              h->pad_end, w->pad_end);
    }
    emitter_t emit = start_emitting(graph, node);
    begin_op(&emit, "tengine.Pooling", 1, raise_to_plane(&emit, get_ir_node_input(node, 0)));
    emit_attr_int(&emit, "pool_method", pool->is_average ? METHOD_AVERAGE : METHOD_MAX);
    emit_attr_int(&emit, "kernel_h", h->kernel);
    emit_attr_int(&emit, "kernel_w", w->kernel);
    emit_attr_int(&emit, "stride_h", h->stride);
    emit_attr_int(&emit, "stride_w", w->stride);
    emit_attr_int(&emit, "caffe_flavor", flavor);
    emit_attr_int(&emit, "pad_h0", pads[0]);
    emit_attr_int(&emit, "pad_h1", pads[0]);
    emit_attr_int(&emit, "pad_w0", pads[1]);
    emit_attr_int(&emit, "pad_w1", pads[1]);
    return finish_with_plane(&emit, end_op(&emit));
}

static int raise_global_pool(struct graph* graph, struct node* node)
{
    const struct tensor* input = get_ir_node_input(node, 0);
    const bool is_average = strcmp(get_ir_node_op(node), "GlobalAveragePool") == 0;
    const int rank = input->dim_num;
    emitter_t emit = start_emitting(graph, node);
    begin_op(&emit, "tengine.Pooling", 1, raise_to_plane(&emit, get_ir_node_input(node, 0)));
    emit_attr_int(&emit, "pool_method", is_average ? METHOD_AVERAGE : METHOD_MAX);
    emit_attr_int(&emit, "global", 1);
    emit_attr_int(&emit, "kernel_h", rank == 4 ? input->dims[2] : multiply_dims(input, 2, rank));
    emit_attr_int(&emit, "kernel_w", rank == 4 ? input->dims[3] : 1);
    emit_attr_int(&emit, "stride_h", 1);
    emit_attr_int(&emit, "stride_w", 1);
    return finish_with_plane(&emit, end_op(&emit));
}

static int raise_pool(struct graph* graph, struct node* node)
{
    const int rank = get_ir_node_input(node, 0)->dim_num;
    const char* op = get_ir_node_op(node);
    if (!has_full_planes(node)) return OP_NOT_RAISED;
    if (strncmp(op, "Global", strlen("Global")) == 0) return raise_global_pool(graph, node);
    if (rank > 4)
        return refuse_raising(node, "Tengine's Pooling has 2 spatial axes, this one has %d",
                              rank - 2);
    if (is_output_read(node, 1))
        return refuse_raising(node, "Tengine's Pooling does not give indices");
    raised_pool_t pool = {.is_average = strcmp(op, "AveragePool") == 0,
                          .counts_padding = get_ir_node_int(node, "count_include_pad", 0) != 0};
    TENGINE_RETURN_IF_ERROR(resolve_pool_window(node, &pool.window));
    if (rank == 3) pool.window.axes[1] = one_element_axis;
    for (int i = 0; i < 2; ++i)
        if (pool.window.axes[i].dilation != 1)
            return refuse_raising(node, "Tengine's Pooling has no dilation, this one has %d",
                                  pool.window.axes[i].dilation);
    return raise_window_pool(graph, node, &pool);
}

// ---- L2Pool ----

// SAME gives as many outputs as strides begin in the input; other paddings only windows that lie
// inside.
static pool_axis_t make_l2_axis(int input, int kernel, int stride, bool same)
{
    pool_axis_t axis = {input, kernel, stride, 0, 0};
    axis.output =
        same ? ((int64_t)input + stride - 1) / stride : ((int64_t)input + stride - kernel) / stride;
    const int64_t missing = count_covered(&axis) - input;
    if (same && missing > 0) axis.pad = missing / 2;
    return axis;
}

// Lowers to the root of the mean of squares, padding not counted.
static int lower_l2pool(struct graph* graph, struct node* node)
{
    const struct tm_l2pool_param* param = node->op.param_mem;
    struct tensor* input = get_ir_node_input(node, 0);
    emitter_t emit = start_emitting(graph, node);
    require_rank(&emit, 4, 4);
    if (param->paddingType < 0 || param->paddingType > 2)
        fail_emitting(&emit, TENGINE_EINVAL,
                      "paddingType is %d, expected 0 (none), 1 (same) or 2 (valid)",
                      param->paddingType);
    check_sizes(&emit, param->kernel_h, param->kernel_w, param->stride_h, param->stride_w);
    if (emit.status < 0) return emit.status;
    const bool same = param->paddingType == PADDING_SAME;
    const pool_axis_t axes[] = {
        make_l2_axis(input->dims[2], param->kernel_h, param->stride_h, same),
        make_l2_axis(input->dims[3], param->kernel_w, param->stride_w, same)};
    check_axis(&emit, "h", &axes[0]);
    check_axis(&emit, "w", &axes[1]);
    const int64_t pads[] = {axes[0].pad, axes[1].pad, get_pad_end(&axes[0]), get_pad_end(&axes[1])};
    struct tensor* squares = emit_op(&emit, "Mul", 2, input, input);
    struct tensor* means = emit_average(&emit, squares, axes, pads, false);
    return finish_emitting(&emit, 1, emit_op(&emit, "Sqrt", 1, means));
}

#define ONE_TO_ONE \
    .min_input = 1, .max_input = 1, .min_output = 1, .max_output = 1, .traits = OP_LEGACY

static const ir_method_t* const rows[] = {
    TENGINE_ROW(Pooling, 49, 16, 44, ONE_TO_ONE, OP_FIELDS(pool_fields),
                .param_size = sizeof(struct tm_pool_param), .lower = lower_pool,
                RAISED("MaxPool|AveragePool|GlobalMaxPool|GlobalAveragePool", raise_pool)),
    TENGINE_ROW(L2Pool, 93, 98, 20, ONE_TO_ONE, OP_FIELDS(l2pool_fields),
                .param_size = sizeof(struct tm_l2pool_param), .lower = lower_l2pool),
};

OPERATOR_TABLE(tengine_pool_ops, rows);
