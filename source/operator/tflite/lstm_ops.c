// SPDX-License-Identifier: Apache-2.0
// TensorFlow Lite's LSTMs. The states are operands; where they are variables of the model, the node
// has an output for the next value of each (serializer/tflite/states.h). Layers become one LSTM of
// ONNX, or tengine.ClippedLSTM; those with a projection, normalised gates or another function
// become the operators of all steps.
#include "graph/core.h"
#include "operator/infer.h"
#include "operator/tengine/operand.h"
#include "operator/tflite/lower.h"

enum lstm_gate
{
    GATE_INPUT,
    GATE_FORGET,
    GATE_CELL,
    GATE_OUTPUT,
    GATE_NUM
};

struct tfl_lstm_param
{
    int activation;
    float cell_clip;
    float proj_clip;
    int time_major;
    int kernel_type;
    int merge_outputs;
};

#define LSTM_FIELDS                                                  \
    TFL_ACTIVATION(struct tfl_lstm_param, 0),                        \
        TFL_FIELD(struct tfl_lstm_param, FLOAT, cell_clip, WORD, 1), \
        TFL_FIELD(struct tfl_lstm_param, FLOAT, proj_clip, WORD, 2)

static const op_field_t lstm_fields[] = {
    LSTM_FIELDS,
    TM_FIELD(struct tfl_lstm_param, INT, kernel_type, BYTE, 3, .maximum = 1),
};
static const op_field_t sequence_lstm_fields[] = {
    LSTM_FIELDS,
    TFL_BOOL(struct tfl_lstm_param, time_major, 3),
};
static const op_field_t two_way_lstm_fields[] = {
    LSTM_FIELDS,
    TFL_BOOL(struct tfl_lstm_param, merge_outputs, 3),
    TFL_BOOL(struct tfl_lstm_param, time_major, 4),
};

// One direction of a layer. Lists are in the order of lstm_gate.
typedef struct lstm_layer
{
    struct tensor* input;
    struct tensor* weights[GATE_NUM];
    struct tensor* recurrence[GATE_NUM];
    struct tensor* peepholes[GATE_NUM];
    struct tensor* biases[GATE_NUM];
    struct tensor* norms[GATE_NUM];
    struct tensor* projection;
    struct tensor* projection_bias;
    struct tensor* hidden;
    struct tensor* cell;
    int steps, batch, units, results;  // of a hidden state
    bool is_sequence, is_time_major, is_reverse;
    const struct tfl_lstm_param* param;
} lstm_layer_t;

// The values after the layer: of all steps, and the states.
typedef struct lstm_results
{
    struct tensor* sequence;
    struct tensor* hidden;
    struct tensor* cell;
} lstm_results_t;

static bool is_coupled(const lstm_layer_t* layer)
{
    return !layer->weights[GATE_INPUT];
}

// ---- operands ----

static int check_weights(emitter_t* emit, const lstm_layer_t* layer)
{
    for (int i = 0; i < GATE_NUM; ++i) {
        const struct tensor *weights = layer->weights[i], *recurrence = layer->recurrence[i];
        if (i == GATE_INPUT && !weights && !recurrence) continue;
        if (!weights || !recurrence || weights->dim_num != 2 || recurrence->dim_num != 2)
            return fail_emitting(emit, TENGINE_EGRAPH,
                                 "the weights of gate %d are absent or no matrices", i);
    }
    const struct tensor *hidden = layer->hidden, *cell = layer->cell;
    if (!hidden || !cell || hidden->dim_num != 2 || cell->dim_num != 2)
        return fail_emitting(emit, TENGINE_EGRAPH, "its states are absent or no matrices");
    if (hidden->dims[0] == layer->batch && cell->dims[0] == layer->batch) return TENGINE_OK;
    return fail_emitting(emit, TENGINE_EINVAL,
                         "its states are for a batch of %d and %d, its input has %d",
                         hidden->dims[0], cell->dims[0], layer->batch);
}

// `first`: input of the first weights; `states`: of the hidden state.
static lstm_layer_t find_layer(emitter_t* emit, int first, int states, bool is_sequence)
{
    lstm_layer_t layer = {.input = get_operand(emit, 0),
                          .is_sequence = is_sequence,
                          .param = emit->origin->op.param_mem};
    for (int i = 0; i < GATE_NUM; ++i) {
        layer.weights[i] = get_operand(emit, first + i);
        layer.recurrence[i] = get_operand(emit, first + GATE_NUM + i);
        layer.biases[i] = get_operand(emit, first + 11 + i);
    }
    layer.peepholes[GATE_INPUT] = get_operand(emit, first + 8);
    layer.peepholes[GATE_FORGET] = get_operand(emit, first + 9);
    layer.peepholes[GATE_OUTPUT] = get_operand(emit, first + 10);
    layer.projection = get_operand(emit, first + 15);
    layer.projection_bias = get_operand(emit, first + 16);
    layer.hidden = get_operand(emit, states);
    layer.cell = get_operand(emit, states + 1);
    const struct tensor* input = layer.input;
    if (input->dim_num != (is_sequence ? 3 : 2)) {
        fail_emitting(emit, TENGINE_EINVAL, "its input has rank %d, expected %d", input->dim_num,
                      is_sequence ? 3 : 2);
        return layer;
    }
    layer.is_time_major = !is_sequence || layer.param->time_major;
    layer.steps = is_sequence ? input->dims[layer.is_time_major ? 0 : 1] : 1;
    layer.batch = input->dims[is_sequence && layer.is_time_major ? 1 : 0];
    if (check_weights(emit, &layer) < 0) return layer;
    layer.units = layer.cell->dims[1];
    layer.results = layer.hidden->dims[1];
    return layer;
}

// ---- one operator ----

static bool is_plain(const lstm_layer_t* layer)
{
    for (int i = 0; i < GATE_NUM; ++i)
        if (layer->norms[i]) return false;
    return !layer->projection && layer->param->activation == TFL_ACTIVATION_TANH;
}

// The parts of gates in ONNX's order, with an axis for directions. A coupled input gate is
// 1 - sigmoid(forget) = sigmoid(-forget).
static struct tensor* emit_gates(emitter_t* emit, const lstm_layer_t* layer,
                                 struct tensor* const parts[GATE_NUM])
{
    static const int order[] = {GATE_INPUT, GATE_OUTPUT, GATE_FORGET, GATE_CELL};
    struct tensor* ordered[GATE_NUM];
    for (int i = 0; i < GATE_NUM; ++i)
        ordered[i] = parts[order[i]];
    if (is_coupled(layer)) ordered[0] = emit_op(emit, "Neg", 1, parts[GATE_FORGET]);
    return emit_op(emit, "Unsqueeze", 2, emit_concat(emit, 0, GATE_NUM, ordered),
                   emit_ints(emit, (const int64_t[]){0}, 1));
}

static struct tensor* emit_zeros(emitter_t* emit, int64_t number)
{
    return emit_op(emit, "ConstantOfShape", 1, emit_ints(emit, &number, 1));
}

static struct tensor* emit_biases(emitter_t* emit, const lstm_layer_t* layer)
{
    struct tensor* parts[GATE_NUM];
    for (int i = 0; i < GATE_NUM; ++i)
        parts[i] = layer->biases[i] ? layer->biases[i] : emit_zeros(emit, layer->units);
    struct tensor* both[] = {
        emit_gates(emit, layer, parts),
        emit_op(emit, "Unsqueeze", 2, emit_zeros(emit, (int64_t)GATE_NUM * layer->units),
                emit_ints(emit, (const int64_t[]){0}, 1))};
    return emit_concat(emit, 1, 2, both);
}

static struct tensor* emit_peepholes(emitter_t* emit, const lstm_layer_t* layer)
{
    struct tensor* const* own = layer->peepholes;
    if (!own[GATE_FORGET] || !own[GATE_OUTPUT]) return NULL;
    struct tensor* input =
        is_coupled(layer) ? emit_op(emit, "Neg", 1, own[GATE_FORGET]) : own[GATE_INPUT];
    struct tensor* parts[] = {input, own[GATE_OUTPUT], own[GATE_FORGET]};
    return emit_op(emit, "Unsqueeze", 2, emit_concat(emit, 0, 3, parts),
                   emit_ints(emit, (const int64_t[]){0}, 1));
}

static struct tensor* emit_state(emitter_t* emit, const lstm_layer_t* layer, struct tensor* state)
{
    const int64_t dims[] = {layer->is_time_major ? 1 : layer->batch,
                            layer->is_time_major ? layer->batch : 1, layer->units};
    return emit_reshape(emit, state, dims, 3);
}

static lstm_results_t emit_operator(emitter_t* emit, const lstm_layer_t* layer)
{
    const int64_t steps = layer->steps, batch = layer->batch, units = layer->units;
    const int64_t input_dims[] = {1, batch, layer->input->dims[layer->input->dim_num - 1]};
    const int64_t sequence_dims[] = {layer->is_time_major ? steps : batch,
                                     layer->is_time_major ? batch : steps, units};
    const int64_t state_dims[] = {batch, units};
    const float clip = layer->param->cell_clip;
    struct tensor* input = layer->input;
    if (!layer->is_sequence) input = emit_reshape(emit, input, input_dims, 3);
    struct tensor* weights = emit_gates(emit, layer, layer->weights);
    struct tensor* recurrence = emit_gates(emit, layer, layer->recurrence);
    struct tensor* biases = emit_biases(emit, layer);
    struct tensor* hidden = emit_state(emit, layer, layer->hidden);
    struct tensor* cell = emit_state(emit, layer, layer->cell);
    struct tensor* peepholes = emit_peepholes(emit, layer);
    begin_op(emit, clip > 0 ? "tengine.ClippedLSTM" : "LSTM", peepholes ? 8 : 7, input, weights,
             recurrence, biases, NULL, hidden, cell, peepholes);
    emit_attr_int(emit, "hidden_size", units);
    emit_attr_int(emit, "layout", !layer->is_time_major);
    emit_attr_text(emit, "direction", layer->is_reverse ? "reverse" : "forward");
    emit_attr_int(emit, "input_forget", is_coupled(layer));
    if (clip > 0) emit_attr_float(emit, "cell_clip", clip);
    struct tensor* made[3] = {NULL};
    end_op_with(emit, made, 3);
    return (lstm_results_t){layer->is_sequence ? emit_reshape(emit, made[0], sequence_dims, 3)
                                               : emit_reshape(emit, made[0], state_dims, 2),
                            emit_reshape(emit, made[1], state_dims, 2),
                            emit_reshape(emit, made[2], state_dims, 2)};
}

// ---- operators of all steps ----

// A gate before its function. A normalised one gets its bias after the norm.
static struct tensor* emit_gate(emitter_t* emit, const lstm_layer_t* layer, int gate,
                                struct tensor* input, struct tensor* hidden, struct tensor* cell)
{
    struct tensor *norm = layer->norms[gate], *bias = layer->biases[gate];
    struct tensor* sum =
        emit_transposed_product(emit, input, layer->weights[gate], norm ? NULL : bias);
    sum = emit_transposed_product(emit, hidden, layer->recurrence[gate], sum);
    if (layer->peepholes[gate])
        sum = emit_op(emit, "Add", 2, sum, emit_op(emit, "Mul", 2, cell, layer->peepholes[gate]));
    if (!norm) return sum;
    begin_op(emit, "LayerNormalization", bias ? 3 : 2, sum, norm, bias);
    emit_attr_float(emit, "epsilon", 1e-8f);
    return end_op(emit);
}

static struct tensor* emit_sigmoid_gate(emitter_t* emit, const lstm_layer_t* layer, int gate,
                                        struct tensor* input, struct tensor* hidden,
                                        struct tensor* cell)
{
    return emit_op(emit, "Sigmoid", 1, emit_gate(emit, layer, gate, input, hidden, cell));
}

static struct tensor* emit_bounds(emitter_t* emit, struct tensor* values, float bound)
{
    return bound > 0 ? emit_clip(emit, values, -bound, bound) : values;
}

static void emit_step(emitter_t* emit, const lstm_layer_t* layer, struct tensor* input,
                      struct tensor** hidden, struct tensor** cell)
{
    const int function = layer->param->activation;
    struct tensor* forget = emit_sigmoid_gate(emit, layer, GATE_FORGET, input, *hidden, *cell);
    struct tensor* taken = is_coupled(layer)
                               ? emit_op(emit, "Sub", 2, emit_float(emit, 1), forget)
                               : emit_sigmoid_gate(emit, layer, GATE_INPUT, input, *hidden, *cell);
    struct tensor* value =
        emit_activation(emit, function, emit_gate(emit, layer, GATE_CELL, input, *hidden, *cell));
    struct tensor* kept = emit_op(emit, "Add", 2, emit_op(emit, "Mul", 2, forget, *cell),
                                  emit_op(emit, "Mul", 2, taken, value));
    kept = emit_bounds(emit, kept, layer->param->cell_clip);
    struct tensor* output = emit_sigmoid_gate(emit, layer, GATE_OUTPUT, input, *hidden, kept);
    struct tensor* result = emit_op(emit, "Mul", 2, output, emit_activation(emit, function, kept));
    if (layer->projection) {
        result = emit_transposed_product(emit, result, layer->projection, layer->projection_bias);
        result = emit_bounds(emit, result, layer->param->proj_clip);
    }
    *hidden = result;
    *cell = kept;
}

static lstm_results_t emit_steps(emitter_t* emit, const lstm_layer_t* layer)
{
    const int axis = layer->is_time_major ? 0 : 1;
    struct tensor *hidden = layer->hidden, *cell = layer->cell;
    struct tensor* sequence[TFL_MOST_STEPS];
    for (int i = 0; i < layer->steps; ++i) {
        const int step = layer->is_reverse ? layer->steps - 1 - i : i;
        struct tensor* input = layer->input;
        if (layer->is_sequence) {
            begin_op(emit, "Gather", 2, layer->input, emit_int(emit, step));
            emit_attr_int(emit, "axis", axis);
            input = end_op(emit);
        }
        emit_step(emit, layer, input, &hidden, &cell);
        sequence[step] = emit_op(
            emit, layer->is_sequence ? "Unsqueeze" : "Identity", layer->is_sequence ? 2 : 1, hidden,
            layer->is_sequence ? emit_ints(emit, (const int64_t[]){axis}, 1) : NULL);
    }
    return (lstm_results_t){
        layer->is_sequence ? emit_concat(emit, axis, layer->steps, sequence) : sequence[0], hidden,
        cell};
}

static lstm_results_t emit_layer(emitter_t* emit, const lstm_layer_t* layer)
{
    if (emit->status < 0) return (lstm_results_t){0};
    if (is_plain(layer)) return emit_operator(emit, layer);
    if (layer->steps >= 1 && layer->steps <= TFL_MOST_STEPS) return emit_steps(emit, layer);
    fail_emitting(emit, TENGINE_ENOTSUP,
                  "its %d steps have a projection, normalised gates or a function other than "
                  "tanh, which 1 to %d steps may have",
                  layer->steps, TFL_MOST_STEPS);
    return (lstm_results_t){0};
}

// ---- the operators ----

static int lower_layer(struct graph* graph, struct node* node, bool is_sequence)
{
    emitter_t emit = start_emitting(graph, node);
    lstm_layer_t layer = find_layer(&emit, 1, 18, is_sequence);
    for (int i = 0; i < GATE_NUM; ++i)
        layer.norms[i] = get_operand(&emit, 20 + i);
    const lstm_results_t made = emit_layer(&emit, &layer);
    return finish_layers(&emit, (struct tensor*[]){made.sequence, made.hidden, made.cell}, 3, 2);
}

// The kernel with five inputs: the gates are the parts input, cell, forget, output of one product.
// The products are outputs, too.
static int lower_basic_lstm(struct graph* graph, struct node* node)
{
    emitter_t emit = start_emitting(graph, node);
    struct tensor* parts[] = {get_operand(&emit, 0), get_operand(&emit, 1)};
    struct tensor* joined = emit_concat(&emit, 1, 2, parts);
    struct tensor* sums =
        emit_transposed_product(&emit, joined, get_operand(&emit, 2), get_operand(&emit, 3));
    struct tensor* gates[GATE_NUM] = {NULL};
    begin_op(&emit, "Split", 1, sums);
    emit_attr_int(&emit, "axis", 1);
    emit_attr_int(&emit, "num_outputs", GATE_NUM);
    end_op_with(&emit, gates, GATE_NUM);
    struct tensor* taken = emit_op(&emit, "Sigmoid", 1, gates[0]);
    struct tensor* value = emit_op(&emit, "Tanh", 1, gates[1]);
    struct tensor* forget = emit_op(&emit, "Sigmoid", 1, gates[2]);
    struct tensor* output = emit_op(&emit, "Sigmoid", 1, gates[3]);
    struct tensor* cell =
        emit_op(&emit, "Add", 2, emit_op(&emit, "Mul", 2, forget, get_operand(&emit, 4)),
                emit_op(&emit, "Mul", 2, taken, value));
    struct tensor* result = emit_op(&emit, "Mul", 2, output, emit_op(&emit, "Tanh", 1, cell));
    struct tensor* const results[] = {result, cell, joined, sums};
    return finish_emitting_list(&emit, results, node->output_num);
}

static int lower_lstm(struct graph* graph, struct node* node)
{
    const struct tfl_lstm_param* param = node->op.param_mem;
    if (param->kernel_type == 0) return lower_layer(graph, node, false);
    if (node->input_num == 5 && node->output_num <= 4) return lower_basic_lstm(graph, node);
    return fail_node(node, TENGINE_EGRAPH,
                     "kernel_type 1 has %d inputs and %d outputs, expected 5 "
                     "and 4",
                     node->input_num, node->output_num);
}

static int lower_sequence_lstm(struct graph* graph, struct node* node)
{
    return lower_layer(graph, node, true);
}

static int lower_two_way_lstm(struct graph* graph, struct node* node)
{
    emitter_t emit = start_emitting(graph, node);
    const struct tfl_lstm_param* param = node->op.param_mem;
    for (int i = 39; i < node->input_num; ++i)
        if (get_operand(&emit, i))
            return fail_emitting(&emit, TENGINE_ENOTSUP,
                                 "it has input %d, of an auxiliary input, expected none", i);
    const lstm_layer_t forward = find_layer(&emit, 1, 35, true);
    lstm_layer_t backward = find_layer(&emit, 18, 37, true);
    backward.is_reverse = true;
    const lstm_results_t first = emit_layer(&emit, &forward);
    const lstm_results_t second = emit_layer(&emit, &backward);
    struct tensor* const results[] = {first.sequence, second.sequence, first.hidden,
                                      first.cell,     second.hidden,   second.cell};
    if (!param->merge_outputs) return finish_layers(&emit, results, 6, 4);
    struct tensor* const merged[] = {emit_concat(&emit, 2, 2, results), first.hidden, first.cell,
                                     second.hidden, second.cell};
    return finish_layers(&emit, merged, 5, 4);
}

// Any operand but the first may be absent.
#define LSTM_ROW(most_inputs, most_outputs, fields, function)                              \
    .min_input = 1, .max_input = most_inputs, .min_output = 1, .max_output = most_outputs, \
    OP_FIELDS(fields), .param_size = sizeof(struct tfl_lstm_param), .lower = function

static const ir_method_t* const rows[] = {
    TFLITE_ROW(BIDIRECTIONAL_SEQUENCE_LSTM, 52,
               LSTM_ROW(48, 6, two_way_lstm_fields, lower_two_way_lstm)),
    TFLITE_ROW(LSTM, 16, LSTM_ROW(24, 4, lstm_fields, lower_lstm)),
    TFLITE_ROW(UNIDIRECTIONAL_SEQUENCE_LSTM, 44,
               LSTM_ROW(24, 3, sequence_lstm_fields, lower_sequence_lstm)),
};

OPERATOR_TABLE(tflite_lstm_ops, rows);
