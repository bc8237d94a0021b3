// SPDX-License-Identifier: Apache-2.0
// LSTM, GRU and RNN as the operators of their steps: the states of TensorFlow Lite's recurrent
// operators are kept from run to run, those of ONNX's begin with each run.
#include "operator/infer.h"
#include "operator/onnx/recurrent_param.h"
#include "operator/tengine/move.h"
#include "operator/tflite/raise.h"

enum
{
    MOST_STEPS = 1024,
    MOST_GATES = 4,
    CELL_INPUT = 6,  // initial_c; sequence_lens and initial_h are before it
    PEEPHOLES = 7
};

// One direction of a layer. Weights are [gates * hidden, ...].
typedef struct layer
{
    emitter_t* emit;
    const struct recurrent_param* param;
    const struct recurrent_shape* shape;
    int direction;
    struct tensor* weights;    // of the state
    struct tensor* bias;       // of the product with it; NULL: none
    struct tensor* input;      // the products of all steps, [sequence, batch, gates * hidden]
    struct tensor* peepholes;  // [1, 3 * hidden]; NULL: none
} layer_t;

typedef struct step
{
    struct tensor* hidden;
    struct tensor* cell;
} step_t;

static struct tensor* emit_part(emitter_t* emit, struct tensor* input, int axis, int64_t begin,
                                int64_t end)
{
    const struct axis_cut cut = {axis, begin, end, 1};
    return input ? emit_cuts(emit, input, &cut, 1) : NULL;
}

// Input `index` of one direction, without the axis of the directions; NULL: it is absent.
static struct tensor* emit_of_direction(layer_t* layer, int index, int axis)
{
    struct tensor* input = get_ir_node_input(layer->emit->origin, index);
    if (!input) return NULL;
    begin_op(layer->emit, "Gather", 2, input, emit_int(layer->emit, layer->direction));
    emit_attr_int(layer->emit, "axis", axis);
    return end_op(layer->emit);
}

static struct tensor* emit_clipped(layer_t* layer, struct tensor* value)
{
    const float clip = layer->param->clip;
    if (!(clip > 0)) return value;
    return emit_op(layer->emit, "Clip", 3, value, emit_float(layer->emit, -clip),
                   emit_float(layer->emit, clip));
}

// Function f, g or h of the direction.
static struct tensor* emit_function(layer_t* layer, int place, struct tensor* value)
{
    const struct recurrent_function* function = &layer->shape->functions[layer->direction][place];
    const char* const names[] = {[RECURRENT_RELU] = "Relu",
                                 [RECURRENT_TANH] = "Tanh",
                                 [RECURRENT_SIGMOID] = "Sigmoid",
                                 [RECURRENT_SOFTPLUS] = "Softplus"};
    return emit_op(layer->emit, names[function->kind], 1, emit_clipped(layer, value));
}

static bool has_known_functions(const struct recurrent_shape* shape, int number)
{
    for (int i = 0; i < shape->directions; ++i)
        for (int j = 0; j < number; ++j)
            switch (shape->functions[i][j].kind) {
                case RECURRENT_RELU:
                case RECURRENT_TANH:
                case RECURRENT_SIGMOID:
                case RECURRENT_SOFTPLUS:
                    break;
                default:
                    return false;
            }
    return true;
}

// Whether all sequences have the whole length.
static int check_lengths(struct node* node, const struct recurrent_shape* shape)
{
    const struct tensor* lengths = get_ir_node_input(node, 4);
    if (!lengths) return TENGINE_OK;
    const int32_t* values = lengths->data;
    bool is_whole = lengths->tensor_type == TENSOR_TYPE_CONST && values &&
                    lengths->data_type == TENGINE_DT_INT32;
    for (int64_t i = 0; is_whole && i < lengths->elem_num; ++i)
        is_whole = values[i] == shape->sequence;
    if (is_whole) return TENGINE_OK;
    return refuse_raising(node, "sequence_lens is not the constant %d for all sequences",
                          shape->sequence);
}

static struct tensor* emit_product(layer_t* layer, struct tensor* state, struct tensor* weights,
                                   struct tensor* bias)
{
    begin_op(layer->emit, "Gemm", bias ? 3 : 2, state, weights, bias);
    emit_attr_int(layer->emit, "transB", 1);
    return end_op(layer->emit);
}

static void emit_gates(layer_t* layer, struct tensor* sums, int axis, int number,
                       struct tensor* out_gates[])
{
    const int64_t hidden = layer->shape->hidden;
    for (int i = 0; i < number; ++i)
        out_gates[i] = emit_part(layer->emit, sums, axis, i * hidden, (i + 1) * hidden);
}

// Adds the product of the cell and a peephole.
static struct tensor* emit_peephole(layer_t* layer, struct tensor* sum, struct tensor* cell,
                                    int place)
{
    const int64_t hidden = layer->shape->hidden;
    if (!layer->peepholes) return sum;
    struct tensor* weights =
        emit_part(layer->emit, layer->peepholes, 1, place * hidden, (place + 1) * hidden);
    return emit_op(layer->emit, "Add", 2, sum, emit_op(layer->emit, "Mul", 2, cell, weights));
}

// Gates: input, output, forget, cell; peepholes: input, output, forget.
static step_t emit_lstm_step(layer_t* layer, struct tensor* input, step_t last)
{
    emitter_t* emit = layer->emit;
    struct tensor* gates[MOST_GATES];
    struct tensor* sums = emit_op(emit, "Add", 2, input,
                                  emit_product(layer, last.hidden, layer->weights, layer->bias));
    emit_gates(layer, sums, 1, MOST_GATES, gates);
    struct tensor* taken = emit_function(layer, 0, emit_peephole(layer, gates[0], last.cell, 0));
    struct tensor* kept =
        layer->param->input_forget
            ? emit_op(emit, "Sub", 2, emit_float(emit, 1), taken)
            : emit_function(layer, 0, emit_peephole(layer, gates[2], last.cell, 2));
    struct tensor* value = emit_function(layer, 1, gates[3]);
    step_t next;
    next.cell = emit_op(emit, "Add", 2, emit_op(emit, "Mul", 2, kept, last.cell),
                        emit_op(emit, "Mul", 2, taken, value));
    struct tensor* given = emit_function(layer, 0, emit_peephole(layer, gates[1], next.cell, 1));
    next.hidden = emit_op(emit, "Mul", 2, given, emit_function(layer, 2, next.cell));
    return next;
}

// The part of a gate in weights or a bias.
static struct tensor* emit_gate_part(layer_t* layer, struct tensor* list, int place)
{
    const int64_t hidden = layer->shape->hidden;
    return emit_part(layer->emit, list, 0, place * hidden, (place + 1) * hidden);
}

// Gates: update, reset, hidden. The third product is of the reset state, or is reset itself.
static step_t emit_gru_step(layer_t* layer, struct tensor* input, step_t last)
{
    emitter_t* emit = layer->emit;
    struct tensor *given[3], *product[3], *candidate;
    emit_gates(layer, input, 1, 3, given);
    for (int i = 0; i < 2; ++i) {
        product[i] = emit_product(layer, last.hidden, emit_gate_part(layer, layer->weights, i),
                                  emit_gate_part(layer, layer->bias, i));
        given[i] = emit_function(layer, 0, emit_op(emit, "Add", 2, given[i], product[i]));
    }
    struct tensor* weights = emit_gate_part(layer, layer->weights, 2);
    struct tensor* bias = emit_gate_part(layer, layer->bias, 2);
    if (layer->param->linear_before_reset) {
        candidate = emit_product(layer, last.hidden, weights, bias);
        candidate = emit_op(emit, "Mul", 2, given[1], candidate);
    } else {
        struct tensor* reset = emit_op(emit, "Mul", 2, given[1], last.hidden);
        candidate = emit_product(layer, reset, weights, bias);
    }
    candidate = emit_function(layer, 1, emit_op(emit, "Add", 2, given[2], candidate));
    struct tensor* left = emit_op(emit, "Sub", 2, emit_float(emit, 1), given[0]);
    struct tensor* fresh = emit_op(emit, "Mul", 2, left, candidate);
    struct tensor* kept = emit_op(emit, "Mul", 2, given[0], last.hidden);
    return (step_t){emit_op(emit, "Add", 2, fresh, kept), NULL};
}

static step_t emit_rnn_step(layer_t* layer, struct tensor* input, step_t last)
{
    struct tensor* product = emit_product(layer, last.hidden, layer->weights, layer->bias);
    struct tensor* sum = emit_op(layer->emit, "Add", 2, input, product);
    return (step_t){emit_function(layer, 0, sum), NULL};
}

// The state before the first step.
static struct tensor* emit_first(layer_t* layer, int index)
{
    const struct recurrent_shape* shape = layer->shape;
    struct tensor* given = emit_of_direction(layer, index, layer->param->layout ? 1 : 0);
    const int64_t dims[] = {shape->batch, shape->hidden};
    return given ? given
                 : emit_reshape(layer->emit, emit_zeroes(layer->emit, shape->batch * shape->hidden),
                                dims, 2);
}

// The products of all steps with the weights of the input. `sequence` is [sequence * batch, input].
static void begin_layer(layer_t* layer, struct tensor* sequence)
{
    const struct recurrent_shape* shape = layer->shape;
    const int64_t rows = (int64_t)shape->gates * shape->hidden;
    const int64_t dims[] = {shape->sequence, shape->batch, rows}, one[] = {1, -1};
    struct tensor *weights = emit_of_direction(layer, 1, 0), *both = emit_of_direction(layer, 3, 0);
    layer->weights = emit_of_direction(layer, 2, 0);
    layer->bias = emit_part(layer->emit, both, 0, rows, 2 * rows);
    struct tensor* product =
        emit_product(layer, sequence, weights, emit_part(layer->emit, both, 0, 0, rows));
    layer->input = emit_reshape(layer->emit, product, dims, 3);
    layer->peepholes = emit_of_direction(layer, PEEPHOLES, 0);
    if (layer->peepholes)
        layer->peepholes =
            emit_op(layer->emit, "Reshape", 2, layer->peepholes, emit_ints(layer->emit, one, 2));
}

typedef step_t (*emit_step_t)(layer_t* layer, struct tensor* input, step_t last);

// The states of all steps, [sequence, batch, hidden]; *out_last: those after the last step.
static struct tensor* emit_layer(layer_t* layer, emit_step_t emit_step, bool is_lstm,
                                 step_t* out_last)
{
    const struct recurrent_shape* shape = layer->shape;
    emitter_t* emit = layer->emit;
    const bool is_reverse = layer->direction == 1 || shape->first_reverse;
    struct tensor* states[MOST_STEPS];
    step_t last = {emit_first(layer, 5), is_lstm ? emit_first(layer, CELL_INPUT) : NULL};
    for (int i = 0; i < shape->sequence; ++i) {
        const int place = is_reverse ? shape->sequence - 1 - i : i;
        begin_op(emit, "Gather", 2, layer->input, emit_int(emit, place));
        emit_attr_int(emit, "axis", 0);
        last = emit_step(layer, end_op(emit), last);
        states[place] =
            emit_op(emit, "Unsqueeze", 2, last.hidden, emit_ints(emit, (const int64_t[]){0}, 1));
    }
    *out_last = last;
    begin_op(emit, "Concat", 0);
    for (int i = 0; i < shape->sequence; ++i)
        emit_input(emit, states[i]);
    emit_attr_int(emit, "axis", 0);
    return end_op(emit);
}

// Both directions along an axis of their own.
static struct tensor* emit_joined(emitter_t* emit, struct tensor* const parts[], int number,
                                  int64_t axis)
{
    struct tensor* raised[2] = {NULL};
    for (int i = 0; i < number; ++i)
        raised[i] = emit_op(emit, "Unsqueeze", 2, parts[i], emit_ints(emit, &axis, 1));
    if (number == 1) return raised[0];
    begin_op(emit, "Concat", 2, raised[0], raised[1]);
    emit_attr_int(emit, "axis", axis);
    return end_op(emit);
}

static int finish_layer(emitter_t* emit, const layer_t* layer, struct tensor* const sequences[],
                        const step_t lasts[])
{
    const int layout = layer->param->layout, number = layer->shape->directions;
    struct tensor* results[3] = {NULL};
    const int output_num = emit->origin->output_num;
    struct tensor* const hidden[] = {lasts[0].hidden, lasts[1].hidden};
    struct tensor* const cells[] = {lasts[0].cell, lasts[1].cell};
    // Y is [sequence, directions, batch, hidden] or [batch, sequence, directions, hidden].
    if (get_ir_node_output(emit->origin, 0)) {
        struct tensor* all = emit_joined(emit, sequences, number, 1);
        results[0] = layout ? emit_transpose(emit, all, (const int64_t[]){2, 0, 1, 3}, 4) : all;
    }
    if (get_ir_node_output(emit->origin, 1)) results[1] = emit_joined(emit, hidden, number, layout);
    if (get_ir_node_output(emit->origin, 2)) results[2] = emit_joined(emit, cells, number, layout);
    return finish_emitting_list(emit, results, output_num);
}

static int compose(struct graph* graph, struct node* node, emit_step_t emit_step, int functions)
{
    struct recurrent_shape shape;
    TENGINE_RETURN_IF_ERROR(resolve_recurrent_shape(node, &shape));
    const int status = check_lengths(node, &shape);
    if (status != TENGINE_OK) return status;
    if (shape.sequence < 1 || shape.sequence > MOST_STEPS)
        return refuse_raising(node, "it has %d steps, expected 1 to %d", shape.sequence,
                              MOST_STEPS);
    if (!has_known_functions(&shape, functions))
        return refuse_raising(node, "its activations are not all Sigmoid, Tanh, Relu or Softplus");
    emitter_t emit = start_emitting(graph, node);
    const struct recurrent_param* param = node->op.param_mem;
    struct tensor* input = get_ir_node_input(node, 0);
    if (param->layout) input = emit_transpose(&emit, input, (const int64_t[]){1, 0, 2}, 3);
    const int64_t rows[] = {(int64_t)shape.sequence * shape.batch, shape.input};
    input = emit_reshape(&emit, input, rows, 2);
    struct tensor* sequences[2] = {NULL};
    step_t lasts[2] = {{NULL, NULL}};
    layer_t layer = {.emit = &emit, .param = param, .shape = &shape};
    for (; layer.direction < shape.directions; ++layer.direction) {
        begin_layer(&layer, input);
        sequences[layer.direction] =
            emit_layer(&layer, emit_step, functions == 3, &lasts[layer.direction]);
    }
    return finish_layer(&emit, &layer, sequences, lasts);
}

static int compose_lstm(struct graph* graph, struct node* node)
{
    return compose(graph, node, emit_lstm_step, 3);
}

static int compose_gru(struct graph* graph, struct node* node)
{
    return compose(graph, node, emit_gru_step, 2);
}

static int compose_rnn(struct graph* graph, struct node* node)
{
    return compose(graph, node, emit_rnn_step, 1);
}

static const tfl_raising_t rows[] = {
    {"GRU", compose_gru},
    {"LSTM", compose_lstm},
    {"RNN", compose_rnn},
};

TFL_RAISINGS(tfl_recurrent_raisings, rows);
