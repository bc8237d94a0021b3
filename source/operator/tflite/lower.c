// SPDX-License-Identifier: Apache-2.0
#include "operator/tflite/lower.h"

#include "graph/core.h"
#include "operator/tengine/operand.h"

struct tensor* emit_activation(emitter_t* emit, int activation, struct tensor* input)
{
    switch (activation) {
        case TFL_ACTIVATION_RELU:
            return emit_op(emit, "Relu", 1, input);
        case TFL_ACTIVATION_RELU_N1_TO_1:
            return emit_clip(emit, input, -1, 1);
        case TFL_ACTIVATION_RELU6:
            return emit_clip(emit, input, 0, 6);
        case TFL_ACTIVATION_TANH:
            return emit_op(emit, "Tanh", 1, input);
        default:
            return input;
    }
}

struct tensor* emit_moved_axis(emitter_t* emit, struct tensor* input, int from, int place)
{
    if (!input || emit->status < 0 || from == place) return input;
    int64_t order[MAX_SHAPE_DIM_NUM];
    int next = 0;
    for (int i = 0; i < input->dim_num; ++i) {
        if (i == place) {
            order[i] = from;
            continue;
        }
        if (next == from) ++next;
        order[i] = next++;
    }
    return emit_transpose(emit, input, order, input->dim_num);
}

struct tensor* emit_channels_first(emitter_t* emit, struct tensor* input)
{
    return input ? emit_moved_axis(emit, input, input->dim_num - 1, 1) : NULL;
}

struct tensor* emit_channels_last(emitter_t* emit, struct tensor* input)
{
    return input ? emit_moved_axis(emit, input, 1, input->dim_num - 1) : NULL;
}

// The elements of padding on both sides of an axis.
static int64_t count_padding(const tfl_window_t* window, int axis, int64_t size)
{
    if (window->padding == TFL_PADDING_VALID) return 0;
    const int64_t stride = window->stride[axis];
    const int64_t results = (size + stride - 1) / stride;
    const int64_t reach = (window->kernel[axis] - 1) * window->dilation[axis] + 1;
    const int64_t missing = (results - 1) * stride + reach - size;
    return missing > 0 ? missing : 0;
}

void emit_window(emitter_t* emit, const tfl_window_t* window, const struct tensor* input)
{
    const int number = window->axis_num;
    int64_t pads[6];
    for (int i = 0; i < number; ++i) {
        // Files without a stride have 0.
        if (window->stride[i] < 1) {
            fail_emitting(emit, TENGINE_EINVAL,
                          "its stride of axis %d is %lld, expected at least 1", 1 + i,
                          (long long)window->stride[i]);
            return;
        }
        const int64_t padding = count_padding(window, i, input->dims[1 + i]);
        pads[i] = padding / 2;
        pads[number + i] = padding - padding / 2;
    }
    emit_attr_ints(emit, "strides", window->stride, number);
    emit_attr_ints(emit, "dilations", window->dilation, number);
    emit_attr_ints(emit, "pads", pads, 2 * number);
}

int read_tfl_ints(emitter_t* emit, int index, const char* what, int64_t* out_values, int capacity)
{
    if (emit->status < 0) return 0;
    int number = 0;
    const int status = read_int_input(emit->origin, index, out_values, capacity, &number);
    if (status < 0) {
        emit->status = status;
        return 0;
    }
    if (status == OP_SHAPE_LATER)
        fail_emitting(emit, TENGINE_ENOTSUP, "its %s, input %d, is computed, expected a constant",
                      what, index);
    else if (!get_operand(emit, index))
        fail_emitting(emit, TENGINE_EGRAPH, "its %s, input %d, is absent", what, index);
    return emit->status < 0 ? 0 : number;
}

int read_tfl_axis(emitter_t* emit, int index, int rank)
{
    int64_t value = 0;
    int axis = 0;
    const int number = read_tfl_ints(emit, index, "axis", &value, 1);
    if (emit->status < 0) return 0;
    if (number != 1) {
        fail_emitting(emit, TENGINE_EINVAL, "its axis, input %d, is an empty tensor", index);
        return 0;
    }
    const int status = normalize_axis(emit->origin, value, rank, &axis);
    if (status < 0) emit->status = status;
    return axis;
}

static const struct tensor* find_declared(const emitter_t* emit, int output)
{
    const struct tensor* tensor = get_ir_node_output(emit->origin, output);
    const struct graph* source = emit->graph->core->source;
    return source ? get_ir_graph_tensor(source, tensor->core->source_index) : NULL;
}

int read_declared_shape(emitter_t* emit, int output, int64_t out_dims[MAX_SHAPE_DIM_NUM])
{
    const struct tensor* declared = find_declared(emit, output);
    if (!declared || !declared->shape_set) {
        fail_emitting(emit, TENGINE_EINVAL, "its output %d has no shape", output);
        return 0;
    }
    for (int i = 0; i < declared->dim_num; ++i)
        out_dims[i] = declared->dims[i];
    return declared->dim_num;
}

int get_declared_type(const emitter_t* emit, int output)
{
    const struct tensor* declared = find_declared(emit, output);
    return declared ? declared->data_type : TENGINE_DT_FP32;
}

struct tensor* emit_concat(emitter_t* emit, int axis, int number, struct tensor* const parts[])
{
    begin_op(emit, "Concat", 0);
    for (int i = 0; i < number; ++i)
        emit_input(emit, parts[i]);
    emit_attr_int(emit, "axis", axis);
    return end_op(emit);
}

struct tensor* emit_transposed_product(emitter_t* emit, struct tensor* rows, struct tensor* weights,
                                       struct tensor* addend)
{
    begin_op(emit, "Gemm", addend ? 3 : 2, rows, weights, addend);
    emit_attr_int(emit, "transB", 1);
    return end_op(emit);
}

int finish_layers(emitter_t* emit, struct tensor* const results[], int number, int state_num)
{
    const int given = emit->origin->output_num;
    if (emit->status < 0 || given == number || given == number - state_num)
        return finish_emitting_list(emit, results, given);
    return fail_emitting(emit, TENGINE_EGRAPH, "%d of its %d states are variables, expected all",
                         given - number + state_num, state_num);
}
