// SPDX-License-Identifier: Apache-2.0
// TensorFlow Lite's recurrent layers other than LSTM. Their state is an operand; where it is a
// variable of the model, the node has an output for its next value (serializer/tflite/states.h).
#include "operator/infer.h"
#include "operator/tengine/operand.h"
#include "operator/tflite/lower.h"

struct tfl_rnn_param
{
    int activation;
    int time_major;
    int merge_outputs;
};

struct tfl_svdf_param
{
    int rank;
    int activation;
};

static const op_field_t rnn_fields[] = {TFL_ACTIVATION(struct tfl_rnn_param, 0)};
static const op_field_t sequence_rnn_fields[] = {
    TFL_BOOL(struct tfl_rnn_param, time_major, 0),
    TFL_ACTIVATION(struct tfl_rnn_param, 1),
};
static const op_field_t two_way_rnn_fields[] = {
    TFL_BOOL(struct tfl_rnn_param, time_major, 0),
    TFL_ACTIVATION(struct tfl_rnn_param, 1),
    TFL_BOOL(struct tfl_rnn_param, merge_outputs, 2),
};
static const op_field_t svdf_fields[] = {
    TFL_POSITIVE(struct tfl_svdf_param, rank, 0, 1),
    TFL_ACTIVATION(struct tfl_svdf_param, 1),
};

static int require_matrix(emitter_t* emit, int index, const char* what)
{
    const struct tensor* tensor = get_operand(emit, index);
    if (tensor && tensor->dim_num == 2) return TENGINE_OK;
    return fail_emitting(emit, TENGINE_EGRAPH, "its %s, input %d, is absent or no matrix", what,
                         index);
}

// ---- RNN ----

// A step: act(input * weights + state * recurrence + bias). `first`: the input of the weights,
// which those of recurrence, bias and state follow.
static struct tensor* emit_step(emitter_t* emit, int first, struct tensor* input,
                                struct tensor* state)
{
    const struct tfl_rnn_param* param = emit->origin->op.param_mem;
    struct tensor* sum = emit_transposed_product(emit, input, get_operand(emit, first),
                                                 get_operand(emit, first + 2));
    sum = emit_transposed_product(emit, state, get_operand(emit, first + 1), sum);
    struct tensor* result = emit_activation(emit, param->activation, sum);
    return result;
}

static void check_layer(emitter_t* emit, int first, int rank)
{
    const struct tensor* input = get_operand(emit, 0);
    if (input->dim_num != rank)
        fail_emitting(emit, TENGINE_EINVAL, "its input has rank %d, expected %d", input->dim_num,
                      rank);
    if (emit->status == TENGINE_OK) (void)require_matrix(emit, first, "weights");
    if (emit->status == TENGINE_OK) (void)require_matrix(emit, first + 1, "recurrent weights");
    if (emit->status == TENGINE_OK) (void)require_matrix(emit, first + 3, "state");
}

// The results of all steps; *out_state: the last one.
static struct tensor* emit_steps(emitter_t* emit, int first, bool is_reverse,
                                 struct tensor** out_state)
{
    const struct tfl_rnn_param* param = emit->origin->op.param_mem;
    const int axis = param->time_major ? 0 : 1;
    struct tensor* sequence[TFL_MOST_STEPS];
    check_layer(emit, first, 3);
    if (emit->status < 0) return NULL;
    const int steps = get_operand(emit, 0)->dims[axis];
    if (steps < 1 || steps > TFL_MOST_STEPS) {
        fail_emitting(emit, TENGINE_ENOTSUP, "it has %d steps, expected 1 to %d", steps,
                      TFL_MOST_STEPS);
        return NULL;
    }
    struct tensor* state = get_operand(emit, first + 3);
    for (int i = 0; i < steps; ++i) {
        const int step = is_reverse ? steps - 1 - i : i;
        begin_op(emit, "Gather", 2, get_operand(emit, 0), emit_int(emit, step));
        emit_attr_int(emit, "axis", axis);
        state = emit_step(emit, first, end_op(emit), state);
        sequence[step] =
            emit_op(emit, "Unsqueeze", 2, state, emit_ints(emit, (const int64_t[]){axis}, 1));
    }
    *out_state = state;
    return emit_concat(emit, axis, steps, sequence);
}

static int lower_rnn(struct graph* graph, struct node* node)
{
    emitter_t emit = start_emitting(graph, node);
    check_layer(&emit, 1, 2);
    struct tensor* result =
        emit.status < 0 ? NULL : emit_step(&emit, 1, get_operand(&emit, 0), get_operand(&emit, 4));
    struct tensor* next = emit_op(&emit, "Identity", 1, result);
    return finish_layers(&emit, (struct tensor*[]){result, next}, 2, 1);
}

static int lower_sequence_rnn(struct graph* graph, struct node* node)
{
    emitter_t emit = start_emitting(graph, node);
    struct tensor* state = NULL;
    struct tensor* sequence = emit_steps(&emit, 1, false, &state);
    return finish_layers(&emit, (struct tensor*[]){sequence, state}, 2, 1);
}

static int lower_two_way_rnn(struct graph* graph, struct node* node)
{
    const struct tfl_rnn_param* param = node->op.param_mem;
    emitter_t emit = start_emitting(graph, node);
    struct tensor *first = NULL, *second = NULL;
    for (int i = 9; i < node->input_num; ++i)
        if (get_operand(&emit, i))
            return fail_emitting(&emit, TENGINE_ENOTSUP,
                                 "it has input %d, of an auxiliary input, expected none", i);
    struct tensor* both[4] = {emit_steps(&emit, 1, false, &first),
                              emit_steps(&emit, 5, true, &second)};
    both[2] = first;
    both[3] = second;
    if (!param->merge_outputs) return finish_layers(&emit, both, 4, 2);
    struct tensor* merged = emit_concat(&emit, 2, 2, both);
    return finish_layers(&emit, (struct tensor*[]){merged, first, second}, 3, 2);
}

// ---- SVDF ----

static void check_svdf(emitter_t* emit, int rank)
{
    static const char* const names[] = {"input", "feature weights", "time weights"};
    for (int i = 0; i < 3; ++i)
        if (require_matrix(emit, i, names[i]) < 0) return;
    if (require_matrix(emit, 4, "state") < 0) return;
    const struct tensor *features = get_operand(emit, 1), *times = get_operand(emit, 2);
    const struct tensor* state = get_operand(emit, 4);
    const int64_t kept = (int64_t)times->dims[0] * times->dims[1];
    if (features->dims[0] % rank != 0 || times->dims[0] != features->dims[0] ||
        state->dims[1] != kept || state->dims[0] != get_operand(emit, 0)->dims[0])
        fail_emitting(emit, TENGINE_EINVAL,
                      "%d feature weights of rank %d, %d x %d time weights and a state of %d x %d "
                      "do not fit together",
                      features->dims[0], rank, times->dims[0], times->dims[1], state->dims[0],
                      state->dims[1]);
}

// The state has the last features of each filter, the oldest first. A run adds its own, and weighs
// them by their age; `rank` filters are a unit.
static int lower_svdf(struct graph* graph, struct node* node)
{
    const struct tfl_svdf_param* param = node->op.param_mem;
    emitter_t emit = start_emitting(graph, node);
    check_svdf(&emit, param->rank);
    if (emit.status < 0) return emit.status;
    struct tensor *weights = get_operand(&emit, 1), *times = get_operand(&emit, 2);
    struct tensor *bias = get_operand(&emit, 3), *state = get_operand(&emit, 4);
    const int64_t batch = state->dims[0], filters = weights->dims[0], steps = times->dims[1];
    const int64_t last_dims[] = {batch, filters, 1}, all_dims[] = {batch, filters, steps};
    const int64_t state_dims[] = {batch, filters * steps};
    const int64_t unit_dims[] = {batch, filters / param->rank, param->rank};
    struct tensor* one = emit_ints(&emit, (const int64_t[]){1}, 1);
    struct tensor* axis = emit_ints(&emit, (const int64_t[]){2}, 1);
    struct tensor* features = emit_transposed_product(&emit, get_operand(&emit, 0), weights, NULL);
    struct tensor* kept = emit_op(&emit, "Slice", 4, emit_reshape(&emit, state, all_dims, 3), one,
                                  emit_ints(&emit, &steps, 1), axis);
    struct tensor* parts[] = {kept, emit_reshape(&emit, features, last_dims, 3)};
    struct tensor* next = emit_concat(&emit, 2, 2, parts);
    begin_op(&emit, "ReduceSum", 2, emit_op(&emit, "Mul", 2, next, times), axis);
    emit_attr_int(&emit, "keepdims", 0);
    struct tensor* sums = emit_reshape(&emit, end_op(&emit), unit_dims, 3);
    begin_op(&emit, "ReduceSum", 2, sums, axis);
    emit_attr_int(&emit, "keepdims", 0);
    struct tensor* result = end_op(&emit);
    if (bias) result = emit_op(&emit, "Add", 2, result, bias);
    result = emit_activation(&emit, param->activation, result);
    struct tensor* const results[] = {result, emit_reshape(&emit, next, state_dims, 2)};
    return finish_layers(&emit, results, 2, 1);
}

// Any operand but the first may be absent.
#define RNN_ROW(most_inputs, most_outputs, fields, function)                               \
    .min_input = 1, .max_input = most_inputs, .min_output = 1, .max_output = most_outputs, \
    OP_FIELDS(fields), .param_size = sizeof(struct tfl_rnn_param), .lower = function

static const ir_method_t* const rows[] = {
    TFLITE_ROW(BIDIRECTIONAL_SEQUENCE_RNN, 46,
               RNN_ROW(12, 4, two_way_rnn_fields, lower_two_way_rnn)),
    TFLITE_ROW(RNN, 24, RNN_ROW(5, 2, rnn_fields, lower_rnn)),
    TFLITE_ROW(SVDF, 27, .min_input = 1, .max_input = 5, .min_output = 1, .max_output = 2,
               TFL_PARAMS(svdf), .lower = lower_svdf),
    TFLITE_ROW(UNIDIRECTIONAL_SEQUENCE_RNN, 35,
               RNN_ROW(5, 2, sequence_rnn_fields, lower_sequence_rnn)),
};

OPERATOR_TABLE(tflite_recurrent_ops, rows);
