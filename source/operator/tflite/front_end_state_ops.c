// SPDX-License-Identifier: Apache-2.0
// tflite-micro's front end for audio: the custom operators with states. Its ring buffers become the
// samples of earlier runs before those of this one.
#include <limits.h>
#include <string.h>

#include "operator/tengine/move.h"
#include "operator/tflite/front_end.h"
#include "operator/tflite/lower.h"

enum
{
    MOST_SAMPLES = 1 << 20
};

struct tfl_subtraction_param
{
    int alternate_one_minus_smoothing;
    int alternate_smoothing;
    int clamping;
    int min_signal_remaining;
    int num_channels;
    int one_minus_smoothing;
    int smoothing;
    int smoothing_bits;
    int spectral_subtraction_bits;
};

struct tfl_framer_param
{
    int frame_size;
    int frame_step;
    int prefill;
};

struct tfl_overlap_param
{
    int T;  // the type, as files number it
    int frame_step;
};

struct tfl_stacker_param
{
    int num_channels;
    int stacker_left_context;
    int stacker_right_context;
    int stacker_step;
};

struct tfl_delay_param
{
    int delay_length;
};

static const op_field_t subtraction_fields[] = {
    FRONT_FIELD(tfl_subtraction_param, alternate_one_minus_smoothing, 0, INT_MAX),
    FRONT_FIELD(tfl_subtraction_param, alternate_smoothing, 0, INT_MAX),
    FRONT_FIELD(tfl_subtraction_param, clamping, 0, 1),
    FRONT_FIELD(tfl_subtraction_param, min_signal_remaining, 0, INT_MAX),
    FRONT_FIELD(tfl_subtraction_param, num_channels, 1, MOST_SAMPLES),
    FRONT_FIELD(tfl_subtraction_param, one_minus_smoothing, 0, INT_MAX),
    FRONT_FIELD(tfl_subtraction_param, smoothing, 0, INT_MAX),
    FRONT_FIELD(tfl_subtraction_param, smoothing_bits, 0, 31),
    FRONT_FIELD(tfl_subtraction_param, spectral_subtraction_bits, 0, 63),
};
static const op_field_t framer_fields[] = {
    FRONT_FIELD(tfl_framer_param, frame_size, 1, MOST_SAMPLES),
    FRONT_FIELD(tfl_framer_param, frame_step, 1, MOST_SAMPLES),
    FRONT_FIELD(tfl_framer_param, prefill, 0, 1),
};
static const op_field_t overlap_fields[] = {
    OP_FIELD(struct tfl_overlap_param, INT, T, .number = 0),
    FRONT_FIELD(tfl_overlap_param, frame_step, 1, MOST_SAMPLES),
};
static const op_field_t stacker_fields[] = {
    FRONT_FIELD(tfl_stacker_param, num_channels, 1, MOST_SAMPLES),
    FRONT_FIELD(tfl_stacker_param, stacker_left_context, 0, 1 << 10),
    FRONT_FIELD(tfl_stacker_param, stacker_right_context, 0, 1 << 10),
    FRONT_FIELD(tfl_stacker_param, stacker_step, 1, 1 << 12),
};
static const op_field_t delay_fields[] = {
    FRONT_FIELD(tfl_delay_param, delay_length, 0, MOST_SAMPLES),
};

// ---- states ----

// An input of whole lines, along the last axis or, for lists of frames, along the last two.
static int check_lines(const struct node* node, int least_rank, int most_rank)
{
    const struct tensor* input = get_ir_node_input(node, 0);
    const int rank = input ? input->dim_num : 0;
    const bool fits = rank >= least_rank && rank <= most_rank;
    if (fits && input->dims[rank - 1] > 0) return TENGINE_OK;
    return fail_node(node, TENGINE_EINVAL,
                     "its input has rank %d and %d elements along the last axis, expected rank %d "
                     "to %d and at least one",
                     rank, fits ? input->dims[rank - 1] : 0, least_rank, most_rank);
}

static int require_int16(const struct node* node)
{
    const int type = get_ir_node_input(node, 0)->data_type;
    if (type == TENGINE_DT_INT16) return TENGINE_OK;
    return fail_node(node, TENGINE_EDTYPE, "its input is %s, expected int16",
                     get_data_type_name(type));
}

static int last_dim(const struct node* node)
{
    const struct tensor* input = get_ir_node_input(node, 0);
    return input->dims[input->dim_num - 1];
}

// `kept` samples of each line; `skipped` axes before the last one are left out.
static int set_line_state(const struct node* node, int64_t kept, int skipped, tfl_state_t* out)
{
    const struct tensor* input = get_ir_node_input(node, 0);
    if (kept < 1) return 0;
    out->data_type = input->data_type;
    out->rank = input->dim_num - skipped;
    for (int i = 0; i < out->rank; ++i)
        out->dims[i] = input->dims[i];
    out->dims[out->rank - 1] = kept;
    return 1;
}

// A number of earlier steps.
static int add_counter(int place, tfl_state_t out_states[TFL_MOST_STATES])
{
    out_states[place] = (tfl_state_t){TENGINE_DT_INT64, 1, {1}};
    return place + 1;
}

static int list_subtraction_states(const struct node* node, tfl_state_t out_states[])
{
    const struct tfl_subtraction_param* param = node->op.param_mem;
    out_states[0] = (tfl_state_t){TENGINE_DT_UINT32, 1, {param->num_channels}};
    return 1;
}

// The samples before a frame's last step: a frame that no whole number of steps fills begins later.
static int64_t count_framed(const struct tfl_framer_param* param)
{
    const int64_t size = param->frame_size, step = param->frame_step;
    if (param->prefill) return size - step;
    return (size + step - 1) / step * step - step;
}

static int list_framer_states(const struct node* node, tfl_state_t out_states[])
{
    const struct tfl_framer_param* param = node->op.param_mem;
    TENGINE_RETURN_IF_ERROR(check_lines(node, 1, MAX_SHAPE_DIM_NUM - 1));
    TENGINE_RETURN_IF_ERROR(require_int16(node));
    const int size = last_dim(node), step = param->frame_step;
    if (size % step != 0 || size / step > TFL_MOST_STEPS ||
        (param->prefill && param->frame_size < step))
        return fail_node(node, TENGINE_EINVAL,
                         "%d samples, frame_size %d, frame_step %d and prefill %d do not fit: "
                         "expected 1 to %d steps of samples, and with prefill a frame of a step "
                         "or more",
                         size, param->frame_size, step, param->prefill, TFL_MOST_STEPS);
    const int number = set_line_state(node, count_framed(param), 0, &out_states[0]);
    return number == 0 || param->prefill ? number : add_counter(number, out_states);
}

static int list_overlap_states(const struct node* node, tfl_state_t out_states[])
{
    const struct tfl_overlap_param* param = node->op.param_mem;
    TENGINE_RETURN_IF_ERROR(check_lines(node, 2, MAX_SHAPE_DIM_NUM));
    const struct tensor* input = get_ir_node_input(node, 0);
    const int size = last_dim(node), frames = input->dims[input->dim_num - 2];
    if (param->frame_step > size || frames < 1 || frames > TFL_MOST_STEPS)
        return fail_node(node, TENGINE_EINVAL,
                         "%d frames of %d samples and frame_step %d do not fit: expected 1 to %d "
                         "frames of a step or more",
                         frames, size, param->frame_step, TFL_MOST_STEPS);
    return set_line_state(node, size - param->frame_step, 1, &out_states[0]);
}

static int64_t count_stacked(const struct tfl_stacker_param* param)
{
    return param->stacker_left_context + (int64_t)param->stacker_right_context;
}

static int list_stacker_states(const struct node* node, tfl_state_t out_states[])
{
    const struct tfl_stacker_param* param = node->op.param_mem;
    TENGINE_RETURN_IF_ERROR(check_lines(node, 1, 1));
    TENGINE_RETURN_IF_ERROR(require_int16(node));
    const int64_t before = count_stacked(param);
    if (last_dim(node) != param->num_channels || param->stacker_step > before + 1)
        return fail_node(node, TENGINE_EINVAL,
                         "its input has %d channels and stacker_step is %d, expected num_channels, "
                         "%d, and at most %lld",
                         last_dim(node), param->stacker_step, param->num_channels,
                         (long long)before + 1);
    const int number = set_line_state(node, before * param->num_channels, 0, &out_states[0]);
    return number == 0 ? 0 : add_counter(number, out_states);
}

static int list_delay_states(const struct node* node, tfl_state_t out_states[])
{
    const struct tfl_delay_param* param = node->op.param_mem;
    TENGINE_RETURN_IF_ERROR(check_lines(node, 1, MAX_SHAPE_DIM_NUM));
    TENGINE_RETURN_IF_ERROR(require_int16(node));
    return set_line_state(node, param->delay_length, 0, &out_states[0]);
}

int list_tfl_states(const struct node* node, tfl_state_t out_states[TFL_MOST_STATES])
{
    static const struct
    {
        const char* op;
        int (*list)(const struct node* node, tfl_state_t out_states[]);
    } known[] = {
        {"SignalDelay", list_delay_states},
        {"SignalFilterBankSpectralSubtraction", list_subtraction_states},
        {"SignalFramer", list_framer_states},
        {"SignalOverlapAdd", list_overlap_states},
        {"SignalStacker", list_stacker_states},
    };
    if (node->op.method->tflite_code != TFL_CUSTOM) return 0;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; ++i) {
        if (strcmp(known[i].op, node->op.method->name) != 0) continue;
        TENGINE_RETURN_IF_ERROR(check_tfl_options(node));
        return known[i].list(node, out_states);
    }
    return 0;
}

// ---- lowering ----

// Checks options and states; returns the number of the latter, or an error.
static int check_states(const struct node* node)
{
    tfl_state_t states[TFL_MOST_STATES];
    const int number = list_tfl_states(node, states);
    for (int i = 0; i < number; ++i) {
        const struct tensor* given = get_ir_node_input(node, 1 + i);
        bool fits =
            given && given->data_type == states[i].data_type && given->dim_num == states[i].rank;
        for (int j = 0; fits && j < states[i].rank; ++j)
            fits = given->dims[j] == states[i].dims[j];
        if (!fits)
            return fail_node(node, TENGINE_EINVAL,
                             "its state, input %d, is absent or of another shape or type than the "
                             "options and the shape of input 0 say",
                             1 + i);
    }
    return number;
}

static struct tensor* emit_range(emitter_t* emit, struct tensor* line, int64_t begin, int64_t end)
{
    if (emit->status < 0) return NULL;
    const struct axis_cut cut = {line->dim_num - 1, begin, end, 1};
    return emit_cuts(emit, line, &cut, 1);
}

static struct tensor* emit_joined(emitter_t* emit, struct tensor* first, struct tensor* second)
{
    if (emit->status < 0) return NULL;
    return emit_concat(emit, first->dim_num - 1, 2, (struct tensor*[]){first, second});
}

static struct tensor* emit_scalar(emitter_t* emit, struct tensor* list)
{
    return emit_reshape(emit, list, NULL, 0);
}

static struct tensor* emit_true(emitter_t* emit)
{
    return emit_op(emit, "Equal", 2, emit_int(emit, 1), emit_int(emit, 1));
}

static struct tensor* emit_bits(emitter_t* emit, struct tensor* value, int bits, const char* to)
{
    if (emit->status < 0) return NULL;
    begin_op(emit, "BitShift", 2, value, emit_cast(emit, emit_int(emit, bits), value->data_type));
    emit_attr_text(emit, "direction", to);
    return end_op(emit);
}

// The frames begin frame_step samples after each other. Until there are samples for all of them,
// they begin with zeros, where tflite-micro writes nothing, and output 1 is false.
static int lower_framer(struct graph* graph, struct node* node)
{
    const struct tfl_framer_param* param = node->op.param_mem;
    const int states = check_states(node);
    if (states < 0) return states;
    emitter_t emit = start_emitting(graph, node);
    struct tensor* input = get_operand(&emit, 0);
    const int64_t given = last_dim(node), kept = count_framed(param), step = param->frame_step;
    const int64_t axis = input->dim_num - 1;
    struct tensor* line = kept > 0 ? emit_joined(&emit, get_operand(&emit, 1), input) : input;
    struct tensor* frames[TFL_MOST_STEPS];
    const int number = (int)(given / step);
    for (int i = 0; i < number; ++i) {
        struct tensor* frame = emit_range(&emit, line, i * step, i * step + param->frame_size);
        frames[i] = emit_op(&emit, "Unsqueeze", 2, frame, emit_ints(&emit, &axis, 1));
    }
    struct tensor* results[4] = {emit_concat(&emit, (int)axis, number, frames), NULL};
    if (states < 2) {
        results[1] = emit_true(&emit);
    } else {
        struct tensor *count = get_operand(&emit, 2), *whole = emit_int(&emit, kept / step);
        results[1] = emit_scalar(&emit, emit_op(&emit, "GreaterOrEqual", 2, count, whole));
        count = emit_op(&emit, "Add", 2, count, emit_int(&emit, number));
        results[3] = emit_op(&emit, "Min", 2, count, whole);
    }
    if (kept > 0) results[2] = emit_range(&emit, line, given, given + kept);
    return finish_layers(&emit, results, 2 + states, states);
}

// A sum, of int16 one that stops at its ends.
static struct tensor* emit_sum(emitter_t* emit, struct tensor* a, struct tensor* b)
{
    if (emit->status < 0) return NULL;
    if (a->data_type != TENGINE_DT_INT16) return emit_op(emit, "Add", 2, a, b);
    struct tensor* sum = emit_op(emit, "Add", 2, emit_cast(emit, a, TENGINE_DT_INT64),
                                 emit_cast(emit, b, TENGINE_DT_INT64));
    sum = emit_op(emit, "Clip", 3, sum, emit_int(emit, INT16_MIN), emit_int(emit, INT16_MAX));
    return emit_cast(emit, sum, TENGINE_DT_INT16);
}

// A frame is added to what those before it have left, and gives its first frame_step samples.
static int lower_overlap_add(struct graph* graph, struct node* node)
{
    const struct tfl_overlap_param* param = node->op.param_mem;
    const int states = check_states(node);
    if (states < 0) return states;
    emitter_t emit = start_emitting(graph, node);
    struct tensor* input = get_operand(&emit, 0);
    if (input->data_type != TENGINE_DT_INT16 && input->data_type != TENGINE_DT_FP32)
        return fail_emitting(&emit, TENGINE_EDTYPE, "its input is %s, expected int16 or fp32",
                             get_data_type_name(input->data_type));
    const int64_t size = last_dim(node), step = param->frame_step, kept = size - step;
    const int axis = input->dim_num - 2;
    struct tensor *rest = kept > 0 ? get_operand(&emit, 1) : NULL, *pieces[TFL_MOST_STEPS];
    const int number = input->dims[axis];
    for (int i = 0; i < number; ++i) {
        begin_op(&emit, "Gather", 2, input, emit_int(&emit, i));
        emit_attr_int(&emit, "axis", axis);
        struct tensor* frame = end_op(&emit);
        if (rest)
            frame = emit_joined(&emit, emit_sum(&emit, emit_range(&emit, frame, 0, kept), rest),
                                emit_range(&emit, frame, kept, size));
        pieces[i] = emit_range(&emit, frame, 0, step);
        if (rest) rest = emit_range(&emit, frame, step, size);
    }
    struct tensor* const results[] = {emit_concat(&emit, axis, number, pieces), rest};
    return finish_layers(&emit, results, 1 + states, states);
}

// The first frame stands for those before it, too. The counter is 0 before it, then one more than
// the frames that are in the ring buffer.
static int lower_stacker(struct graph* graph, struct node* node)
{
    const struct tfl_stacker_param* param = node->op.param_mem;
    const int states = check_states(node);
    if (states < 0) return states;
    emitter_t emit = start_emitting(graph, node);
    struct tensor* input = get_operand(&emit, 0);
    if (states == 0)
        return finish_emitting(&emit, 2, emit_op(&emit, "Identity", 1, input), emit_true(&emit));
    const int64_t before = count_stacked(param), channels = param->num_channels;
    struct tensor* count = get_operand(&emit, 2);
    struct tensor* is_first = emit_op(&emit, "Equal", 2, count, emit_int(&emit, 0));
    struct tensor* repeated = emit_op(&emit, "Tile", 2, input, emit_ints(&emit, &before, 1));
    struct tensor* window = emit_op(&emit, "Where", 3, is_first, repeated, get_operand(&emit, 1));
    window = emit_joined(&emit, window, input);
    struct tensor* present = emit_op(&emit, "Where", 3, is_first,
                                     emit_int(&emit, param->stacker_left_context + 1), count);
    struct tensor* is_valid =
        emit_op(&emit, "GreaterOrEqual", 2, present, emit_int(&emit, before + 1));
    struct tensor* taken = emit_op(&emit, "Where", 3, is_valid,
                                   emit_int(&emit, param->stacker_step), emit_int(&emit, 0));
    struct tensor* next = emit_op(&emit, "Add", 2, present, emit_int(&emit, 1));
    next = emit_op(&emit, "Sub", 2, next, taken);
    struct tensor* const results[] = {window, emit_scalar(&emit, is_valid),
                                      emit_range(&emit, window, channels, (before + 1) * channels),
                                      next};
    return finish_layers(&emit, results, 4, 2);
}

static int lower_delay(struct graph* graph, struct node* node)
{
    const struct tfl_delay_param* param = node->op.param_mem;
    const int states = check_states(node);
    if (states < 0) return states;
    emitter_t emit = start_emitting(graph, node);
    struct tensor* input = get_operand(&emit, 0);
    if (states == 0) return finish_emitting(&emit, 1, emit_op(&emit, "Identity", 1, input));
    const int64_t size = last_dim(node);
    struct tensor* line = emit_joined(&emit, get_operand(&emit, 1), input);
    struct tensor* const results[] = {emit_range(&emit, line, 0, size),
                                      emit_range(&emit, line, size, size + param->delay_length)};
    return finish_layers(&emit, results, 2, 1);
}

// ---- SignalFilterBankSpectralSubtraction ----

// (a * factor_a + b * factor_b) >> bits, of 64 bits, whose lower 32 are the result; b may be NULL.
static struct tensor* emit_weighted(emitter_t* emit, struct tensor* a, struct tensor* factor_a,
                                    struct tensor* b, struct tensor* factor_b)
{
    const struct tfl_subtraction_param* param = emit->origin->op.param_mem;
    struct tensor* sum = emit_op(emit, "Mul", 2, emit_cast(emit, a, TENGINE_DT_UINT64), factor_a);
    if (b)
        sum = emit_op(emit, "Add", 2, sum,
                      emit_op(emit, "Mul", 2, emit_cast(emit, b, TENGINE_DT_UINT64), factor_b));
    sum = emit_bits(emit, sum, param->spectral_subtraction_bits, "RIGHT");
    struct tensor* mask = emit_cast(emit, emit_int(emit, UINT32_MAX), TENGINE_DT_UINT64);
    return emit_cast(emit, emit_op(emit, "BitwiseAnd", 2, sum, mask), TENGINE_DT_UINT32);
}

// Channels have the two factors in turns.
static struct tensor* emit_factors(emitter_t* emit, int even, int odd)
{
    const struct tfl_subtraction_param* param = emit->origin->op.param_mem;
    const int64_t pair[] = {even, odd}, pairs = (param->num_channels + 1) / 2;
    struct tensor* list =
        emit_op(emit, "Tile", 2, emit_ints(emit, pair, 2), emit_ints(emit, &pairs, 1));
    list = emit_range(emit, list, 0, param->num_channels);
    return emit_cast(emit, list, TENGINE_DT_UINT64);
}

// The noise is a low-pass of the signal; output 1 and the state have it.
static int lower_subtraction(struct graph* graph, struct node* node)
{
    const struct tfl_subtraction_param* param = node->op.param_mem;
    const int states = check_states(node);
    if (states < 0) return states;
    emitter_t emit = start_emitting(graph, node);
    struct tensor *signal = get_operand(&emit, 0), *noise = get_operand(&emit, 1);
    if (signal->data_type != TENGINE_DT_UINT32 || signal->dim_num != 1 ||
        signal->dims[0] != param->num_channels)
        return fail_emitting(&emit, TENGINE_EINVAL,
                             "its input has %lld elements of %s, expected num_channels, %d, of "
                             "uint32",
                             (long long)signal->elem_num, get_data_type_name(signal->data_type),
                             param->num_channels);
    struct tensor* raised = emit_bits(&emit, signal, param->smoothing_bits, "LEFT");
    noise = emit_weighted(
        &emit, raised, emit_factors(&emit, param->smoothing, param->alternate_smoothing), noise,
        emit_factors(&emit, param->one_minus_smoothing, param->alternate_one_minus_smoothing));
    struct tensor* taken = emit_op(&emit, "Min", 2, noise, raised);
    struct tensor* least = emit_weighted(
        &emit, signal,
        emit_cast(&emit, emit_int(&emit, param->min_signal_remaining), TENGINE_DT_UINT64), NULL,
        NULL);
    struct tensor* left = emit_op(&emit, "Sub", 2, raised, taken);
    left = emit_op(&emit, "Max", 2, emit_bits(&emit, left, param->smoothing_bits, "RIGHT"), least);
    if (param->clamping) noise = taken;
    struct tensor* const results[] = {left, noise, emit_op(&emit, "Identity", 1, noise)};
    return finish_layers(&emit, results, 3, 1);
}

// Nodes have inputs and outputs for all states, or for none.
#define STATE_ROW(outputs, most_states, fields, type, function)          \
    .min_input = 1, .max_input = 1 + most_states, .min_output = outputs, \
    .max_output = outputs + most_states, FRONT_PARAMS(fields, type), .lower = function

static const ir_method_t* const rows[] = {
    TFLITE_ROW(SignalDelay, TFL_CUSTOM,
               STATE_ROW(1, 1, delay_fields, tfl_delay_param, lower_delay)),
    TFLITE_ROW(SignalFilterBankSpectralSubtraction, TFL_CUSTOM,
               STATE_ROW(2, 1, subtraction_fields, tfl_subtraction_param, lower_subtraction)),
    TFLITE_ROW(SignalFramer, TFL_CUSTOM,
               STATE_ROW(2, 2, framer_fields, tfl_framer_param, lower_framer)),
    TFLITE_ROW(SignalOverlapAdd, TFL_CUSTOM,
               STATE_ROW(1, 1, overlap_fields, tfl_overlap_param, lower_overlap_add)),
    TFLITE_ROW(SignalStacker, TFL_CUSTOM,
               STATE_ROW(2, 2, stacker_fields, tfl_stacker_param, lower_stacker)),
};

OPERATOR_TABLE(tflite_front_end_state_ops, rows);
