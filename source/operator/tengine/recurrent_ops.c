// SPDX-License-Identifier: Apache-2.0
// Tengine's recurrent layers, lowered to ONNX's. Lstm and Gru have ONNX's weights and its inputs in
// ONNX's order, without those that are absent; so inputs from the third on are told apart by their
// shapes. The other fields of files (sizes, activations, forget_bias, clip, has_*) are often
// uninitialised and never had an effect, and have none here.
#include <string.h>

#include "operator/row.h"
#include "operator/tengine/emit.h"
#include "operator/tengine/operand.h"
#include "operator/type_set.h"

struct tm_lstm_param
{
    float forget_bias;
    float clip;
    int output_len;
    int sequence_len;
    int input_size;
    int hidden_size;
    int cell_size;
    int has_peephole;
    int has_projection;
    int has_clip;
    int has_bias;
    int has_init_state;
    int forget_act;
    int input_act;
    int output_act;
    int cellin_act;
    int cellout_act;
    int mxnet_flag;
};

struct tm_gru_param
{
    float clip;
    int output_len;
    int sequence_len;
    int input_size;
    int hidden_size;
    int has_clip;
    int has_gate_bias;
    int has_candidate_bias;
    int has_init_state;
    int mxnet_flag;
};

struct tm_rnn_param
{
    float clip;
    int output_len;
    int sequence_len;
    int input_size;
    int hidden_size;
    int has_clip;
    int has_bias;
    int has_init_state;
    int activation;
    char* inithiddenname;
    char* biasname;
};

// A larger size is an error; the limit keeps products of sizes in 64 bits.
#define MAX_HIDDEN (1 << 24)

// ONNX's input positions.
enum slot
{
    SLOT_X,
    SLOT_W,
    SLOT_R,
    SLOT_B,
    SLOT_LENGTHS,
    SLOT_HIDDEN,
    SLOT_CELL,
    SLOT_PEEPHOLES,
    SLOT_NUM
};

// One layer in numbers, and its inputs at ONNX's positions.
struct layer
{
    int64_t sequence, batch, input, hidden;
    int64_t gates;  // LSTM 4, GRU 3
    int64_t directions;
    struct tensor* slots[SLOT_NUM];
};

static bool has_elements(const struct tensor* tensor, int64_t num)
{
    return tensor->elem_num == num;
}

// Whether the tensor may be input `slot` of the layer.
static bool fits(const struct layer* layer, enum slot slot, const struct tensor* tensor)
{
    const int64_t rows = layer->directions * layer->hidden;
    switch (slot) {
        case SLOT_B:
            return tensor->dim_num <= 2 && has_elements(tensor, rows * layer->gates * 2);
        case SLOT_LENGTHS:
            return tensor->data_type == TENGINE_DT_INT32 && has_elements(tensor, layer->batch);
        case SLOT_CELL:
            if (layer->gates != 4) return false;
            // fall through
        case SLOT_HIDDEN:
            return tensor->dim_num >= 3 && has_elements(tensor, rows * layer->batch);
        case SLOT_PEEPHOLES:
            return layer->gates == 4 && tensor->dim_num <= 2 && has_elements(tensor, rows * 3);
        default:
            return false;
    }
}

static int sort_inputs(const struct node* node, struct layer* layer)
{
    int slot = SLOT_B;
    for (int i = SLOT_B; i < node->input_num; ++i) {
        struct tensor* tensor = get_ir_node_input(node, i);
        while (tensor && slot < SLOT_NUM && !fits(layer, (enum slot)slot, tensor))
            ++slot;
        if (slot >= SLOT_NUM)
            return fail_node(node, TENGINE_EINVAL,
                             "input %d, '%s', is not a bias, lengths, a state or peepholes of %lld "
                             "directions, a batch of %lld and %lld hidden values",
                             i, tensor ? tensor->name : "", (long long)layer->directions,
                             (long long)layer->batch, (long long)layer->hidden);
        layer->slots[slot++] = tensor;
    }
    return TENGINE_OK;
}

// Checks the first input and the size of a layer of any kind.
static int check_layer(const struct node* node, int hidden)
{
    const struct tensor* x = get_ir_node_input(node, 0);
    for (int i = 0; i < node->input_num; ++i)
        TENGINE_RETURN_IF_ERROR(require_type(node, i, TYPE_BIT(FP32) | TYPE_BIT(INT32)));
    if (x->dim_num != 3)
        return fail_node(node, TENGINE_EINVAL,
                         "input has rank %d, expected sequence x batch x values", x->dim_num);
    if (hidden < 1 || hidden > MAX_HIDDEN)
        return fail_node(node, TENGINE_ERANGE, "hidden_size is %d, expected 1 to %d", hidden,
                         MAX_HIDDEN);
    return TENGINE_OK;
}

static int measure_layer(const struct node* node, int gates, int hidden, struct layer* out_layer)
{
    struct tensor* x = get_ir_node_input(node, 0);
    struct tensor* weight = get_ir_node_input(node, 1);
    struct tensor* recurrence = get_ir_node_input(node, 2);
    TENGINE_RETURN_IF_ERROR(check_layer(node, hidden));
    *out_layer = (struct layer){.sequence = x->dims[0],
                                .batch = x->dims[1],
                                .input = x->dims[2],
                                .hidden = hidden,
                                .gates = gates,
                                .slots = {x, weight, recurrence}};
    const int64_t rows = (int64_t)gates * hidden;
    out_layer->directions = has_elements(recurrence, 2 * rows * hidden) ? 2 : 1;
    if (!has_elements(recurrence, out_layer->directions * rows * hidden) ||
        !has_elements(weight, out_layer->directions * rows * x->dims[2]))
        return fail_node(
            node, TENGINE_EINVAL,
            "weights have %lld and %lld elements, expected %lld x %d and %lld x %d, or twice that",
            (long long)weight->elem_num, (long long)recurrence->elem_num, (long long)rows,
            x->dims[2], (long long)rows, hidden);
    return sort_inputs(node, out_layer);
}

// Files have the weights in other ranks, too; the order of the elements is always ONNX's.
static struct tensor* emit_in_shape(emitter_t* emit, struct tensor* tensor, const int64_t dims[],
                                    int num)
{
    if (!tensor) return NULL;
    bool same = tensor->dim_num == num;
    for (int i = 0; i < num && same; ++i)
        same = tensor->dims[i] == dims[i];
    return same ? tensor : emit_reshape(emit, tensor, dims, num);
}

static void emit_slots(emitter_t* emit, const struct layer* layer, struct tensor* out_slots[])
{
    const int64_t directions = layer->directions, hidden = layer->hidden;
    const int64_t rows = layer->gates * hidden;
    const int64_t state[] = {directions, layer->batch, hidden};
    struct tensor* const* slots = layer->slots;
    out_slots[SLOT_X] = slots[SLOT_X];
    out_slots[SLOT_W] =
        emit_in_shape(emit, slots[SLOT_W], (int64_t[]){directions, rows, layer->input}, 3);
    out_slots[SLOT_R] =
        emit_in_shape(emit, slots[SLOT_R], (int64_t[]){directions, rows, hidden}, 3);
    out_slots[SLOT_B] = emit_in_shape(emit, slots[SLOT_B], (int64_t[]){directions, 2 * rows}, 2);
    out_slots[SLOT_LENGTHS] = emit_in_shape(emit, slots[SLOT_LENGTHS], &layer->batch, 1);
    out_slots[SLOT_HIDDEN] = emit_in_shape(emit, slots[SLOT_HIDDEN], state, 3);
    out_slots[SLOT_CELL] = emit_in_shape(emit, slots[SLOT_CELL], state, 3);
    out_slots[SLOT_PEEPHOLES] =
        emit_in_shape(emit, slots[SLOT_PEEPHOLES], (int64_t[]){directions, 3 * hidden}, 2);
}

// The first output is sequence x directions x batch x hidden; layers from MXNet are without the
// directions.
static int finish_layer(emitter_t* emit, const struct layer* layer, bool from_mxnet)
{
    struct tensor* results[3];
    const int num = emit->origin->output_num < 3 ? emit->origin->output_num : 3;
    end_op_with(emit, results, num);
    if (from_mxnet)
        results[0] = emit_reshape(emit, results[0],
                                  (int64_t[]){layer->sequence, layer->batch, layer->hidden}, 3);
    return finish_emitting_list(emit, results, num);
}

static const char* direction_of(const struct layer* layer)
{
    return layer->directions == 2 ? "bidirectional" : "forward";
}

static int lower_lstm(struct graph* graph, struct node* node)
{
    const struct tm_lstm_param* param = node->op.param_mem;
    struct layer layer = {0};
    struct tensor* slots[SLOT_NUM];
    TENGINE_RETURN_IF_ERROR(measure_layer(node, 4, param->hidden_size, &layer));
    const bool from_mxnet = param->mxnet_flag == 1 && layer.directions == 1;
    emitter_t emit = start_emitting(graph, node);
    emit_slots(&emit, &layer, slots);
    begin_op(&emit, "LSTM", SLOT_NUM, slots[0], slots[1], slots[2], slots[3], slots[4], slots[5],
             slots[6], slots[7]);
    emit_attr_int(&emit, "hidden_size", layer.hidden);
    emit_attr_text(&emit, "direction", direction_of(&layer));
    return finish_layer(&emit, &layer, from_mxnet);
}

// A layer with an initial state comes from a framework that applies the reset gate after the
// product with the recurrent weights, one without has ONNX's default.
static int lower_gru(struct graph* graph, struct node* node)
{
    const struct tm_gru_param* param = node->op.param_mem;
    struct layer layer = {0};
    struct tensor* slots[SLOT_NUM];
    TENGINE_RETURN_IF_ERROR(measure_layer(node, 3, param->hidden_size, &layer));
    const bool from_mxnet = param->mxnet_flag == 1 && layer.directions == 1;
    emitter_t emit = start_emitting(graph, node);
    emit_slots(&emit, &layer, slots);
    begin_op(&emit, "GRU", SLOT_HIDDEN + 1, slots[0], slots[1], slots[2], slots[3], slots[4],
             slots[5]);
    emit_attr_int(&emit, "hidden_size", layer.hidden);
    emit_attr_text(&emit, "direction", direction_of(&layer));
    emit_attr_int(&emit, "linear_before_reset", slots[SLOT_HIDDEN] != NULL);
    return finish_layer(&emit, &layer, from_mxnet);
}

// ---- RNN: one kernel of (input + hidden) x hidden for both products ----

struct rnn_inputs
{
    struct tensor* bias;    // [hidden] or NULL
    struct tensor* hidden;  // [hidden] for all of the batch, [batch x hidden] or NULL
};

// After data and kernel come the bias and the initial state; the flags say which when it is one.
static int find_rnn_inputs(const struct node* node, struct rnn_inputs* out_inputs)
{
    const struct tm_rnn_param* param = node->op.param_mem;
    const int64_t batch = get_ir_node_input(node, 0)->dims[1];
    const bool state_only = param->has_init_state && !param->has_bias;
    struct tensor* third = get_ir_node_input(node, 2);
    struct tensor* fourth = node->input_num > 3 ? get_ir_node_input(node, 3) : NULL;
    *out_inputs = (struct rnn_inputs){.bias = state_only ? NULL : third,
                                      .hidden = state_only ? third : fourth};
    if (out_inputs->bias && !has_elements(out_inputs->bias, param->hidden_size))
        return fail_node(node, TENGINE_EINVAL, "bias has %lld elements, expected %d",
                         (long long)out_inputs->bias->elem_num, param->hidden_size);
    if (out_inputs->hidden && !has_elements(out_inputs->hidden, param->hidden_size) &&
        !has_elements(out_inputs->hidden, batch * param->hidden_size))
        return fail_node(node, TENGINE_EINVAL,
                         "initial state has %lld elements, expected %d or %lld",
                         (long long)out_inputs->hidden->elem_num, param->hidden_size,
                         (long long)batch * param->hidden_size);
    return TENGINE_OK;
}

static int check_rnn(const struct node* node, struct rnn_inputs* out_inputs)
{
    const struct tm_rnn_param* param = node->op.param_mem;
    const struct tensor* x = get_ir_node_input(node, 0);
    const struct tensor* kernel = get_ir_node_input(node, 1);
    TENGINE_RETURN_IF_ERROR(check_layer(node, param->hidden_size));
    if (!has_elements(kernel, ((int64_t)x->dims[2] + param->hidden_size) * param->hidden_size))
        return fail_node(node, TENGINE_EINVAL,
                         "kernel has %lld elements, expected (%d input + %d hidden) x hidden",
                         (long long)kernel->elem_num, x->dims[2], param->hidden_size);
    if (param->output_len < 1 || param->output_len > x->dims[0])
        return fail_node(node, TENGINE_ERANGE, "output_len is %d, expected 1 to %d",
                         param->output_len, x->dims[0]);
    return find_rnn_inputs(node, out_inputs);
}

static struct tensor* emit_rows(emitter_t* emit, struct tensor* input, int64_t begin, int64_t end)
{
    return emit_op(emit, "Slice", 4, input, emit_ints(emit, &begin, 1), emit_ints(emit, &end, 1),
                   emit_ints(emit, (int64_t[]){0}, 1));
}

// Rows begin..end-1 of the kernel, transposed, as weights of one direction.
static struct tensor* emit_weight(emitter_t* emit, struct tensor* kernel, int64_t begin,
                                  int64_t end, int64_t hidden)
{
    struct tensor* transposed =
        emit_transpose(emit, emit_rows(emit, kernel, begin, end), (int64_t[]){1, 0}, 2);
    return emit_reshape(emit, transposed, (int64_t[]){1, hidden, end - begin}, 3);
}

// ONNX has a second bias, that of the recurrent product.
static struct tensor* emit_rnn_bias(emitter_t* emit, struct tensor* bias, int64_t hidden)
{
    if (!bias) return NULL;
    struct tensor* flat = emit_reshape(emit, bias, (int64_t[]){1, hidden}, 2);
    return emit_op(emit, "Pad", 2, flat, emit_ints(emit, (int64_t[]){0, 0, 0, hidden}, 4));
}

static struct tensor* emit_rnn_state(emitter_t* emit, struct tensor* state, int64_t batch,
                                     int64_t hidden)
{
    if (!state) return NULL;
    const int64_t given = has_elements(state, batch * hidden) ? batch : 1;
    struct tensor* shaped = emit_reshape(emit, state, (int64_t[]){1, given, hidden}, 3);
    if (given == batch) return shaped;
    return emit_op(emit, "Expand", 2, shaped, emit_ints(emit, (int64_t[]){1, batch, hidden}, 3));
}

// The results are the last output_len states.
static int lower_rnn(struct graph* graph, struct node* node)
{
    const struct tm_rnn_param* param = node->op.param_mem;
    struct rnn_inputs inputs = {NULL, NULL};
    TENGINE_RETURN_IF_ERROR(check_rnn(node, &inputs));
    struct tensor* x = get_ir_node_input(node, 0);
    const int64_t sequence = x->dims[0], batch = x->dims[1], input = x->dims[2];
    const int64_t hidden = param->hidden_size;
    emitter_t emit = start_emitting(graph, node);
    struct tensor* kernel =
        emit_in_shape(&emit, get_ir_node_input(node, 1), (int64_t[]){input + hidden, hidden}, 2);
    struct tensor* weight = emit_weight(&emit, kernel, 0, input, hidden);
    struct tensor* recurrence = emit_weight(&emit, kernel, input, input + hidden, hidden);
    struct tensor* bias = emit_rnn_bias(&emit, inputs.bias, hidden);
    struct tensor* state = emit_rnn_state(&emit, inputs.hidden, batch, hidden);
    begin_op(&emit, "RNN", 6, x, weight, recurrence, bias, NULL, state);
    emit_attr_int(&emit, "hidden_size", hidden);
    struct tensor* last = emit_rows(&emit, end_op(&emit), sequence - param->output_len, sequence);
    return finish_emitting(
        &emit, 1, emit_reshape(&emit, last, (int64_t[]){param->output_len, batch, hidden}, 3));
}

// ---- raising ----

// Whether an attribute that is a string or a list has the value of an absent one.
static bool has_default(const struct node* node, const char* name)
{
    const op_field_t* field = find_op_field(node->op.method, name, node->op.version);
    return !field || is_default_param(field, (const char*)node->op.param_mem + field->offset);
}

// Returns why Tengine's layer cannot express the node; NULL when it can.
static const char* find_obstacle(const struct node* node)
{
    if (!has_default(node, "direction")) return "its direction is not forward";
    if (!has_default(node, "activations")) return "its activations are not the default ones";
    if (!has_default(node, "clip") || !has_default(node, "input_forget"))
        return "it clips or couples gates";
    if (!has_default(node, "layout")) return "its batch comes first";
    if (is_output_read(node, 1) || is_output_read(node, 2)) return "its last state is read";
    return NULL;
}

static struct tensor* raised_slot(const struct node* node, int slot)
{
    return slot < node->input_num ? get_ir_node_input(node, slot) : NULL;
}

static int raise_layer(struct graph* graph, struct node* node, const char* op)
{
    const struct tensor* recurrence = get_ir_node_input(node, SLOT_R);
    emitter_t emit = start_emitting(graph, node);
    begin_op(&emit, op, 0);
    for (int slot = 0; slot < node->input_num; ++slot)
        if (get_ir_node_input(node, slot)) emit_input(&emit, get_ir_node_input(node, slot));
    emit_attr_int(&emit, "hidden_size", recurrence->dims[2]);
    emit_attr_int(&emit, "input_size", get_ir_node_input(node, SLOT_X)->dims[2]);
    return finish_emitting(&emit, 1, end_op(&emit));
}

// Without its absent inputs an initial state would be taken for another input of the same shape.
static int raise_lstm(struct graph* graph, struct node* node)
{
    const char* obstacle = find_obstacle(node);
    if (obstacle) return refuse_raising(node, "%s", obstacle);
    if (raised_slot(node, SLOT_CELL) && !raised_slot(node, SLOT_HIDDEN))
        return refuse_raising(node, "it has only an initial cell state");
    return raise_layer(graph, node, "tengine.Lstm");
}

static int raise_gru(struct graph* graph, struct node* node)
{
    const char* obstacle = find_obstacle(node);
    if (obstacle) return refuse_raising(node, "%s", obstacle);
    const bool linear = get_ir_node_int(node, "linear_before_reset", 0) != 0;
    if (linear != (raised_slot(node, SLOT_HIDDEN) != NULL))
        return refuse_raising(node,
                              "linear_before_reset is %d, Tengine's Gru has it exactly when there "
                              "is an initial state",
                              linear);
    return raise_layer(graph, node, "tengine.Gru");
}

#define WORD_FIELD(type, kind, member, place, value) \
    TM_FIELD(struct type, kind, member, WORD, place, .number = value)
// The fields that all three operators have, in this order.
#define SIZE_FIELDS(type, place)                                                                \
    WORD_FIELD(type, FLOAT, clip, place, 0), WORD_FIELD(type, INT, output_len, (place) + 4, 1), \
        WORD_FIELD(type, INT, sequence_len, (place) + 8, 1),                                    \
        WORD_FIELD(type, INT, input_size, (place) + 12, 1),                                     \
        WORD_FIELD(type, INT, hidden_size, (place) + 16, 1)

#define LSTM_FLAG(member, place) WORD_FIELD(tm_lstm_param, INT, member, place, 0)
static const op_field_t lstm_fields[] = {
    WORD_FIELD(tm_lstm_param, FLOAT, forget_bias, 0, 0),
    SIZE_FIELDS(tm_lstm_param, 4),
    WORD_FIELD(tm_lstm_param, INT, cell_size, 24, 1),
    LSTM_FLAG(has_peephole, 28),
    LSTM_FLAG(has_projection, 32),
    LSTM_FLAG(has_clip, 36),
    LSTM_FLAG(has_bias, 40),
    LSTM_FLAG(has_init_state, 44),
    LSTM_FLAG(forget_act, 48),
    LSTM_FLAG(input_act, 52),
    LSTM_FLAG(output_act, 56),
    LSTM_FLAG(cellin_act, 60),
    LSTM_FLAG(cellout_act, 64),
    LSTM_FLAG(mxnet_flag, 68),
};

#define GRU_FLAG(member, place) WORD_FIELD(tm_gru_param, INT, member, place, 0)
static const op_field_t gru_fields[] = {
    SIZE_FIELDS(tm_gru_param, 0),     GRU_FLAG(has_clip, 20),       GRU_FLAG(has_gate_bias, 24),
    GRU_FLAG(has_candidate_bias, 28), GRU_FLAG(has_init_state, 32), GRU_FLAG(mxnet_flag, 36),
};

// The names were to find inputs by; the flags do.
#define RNN_FLAG(member, place) WORD_FIELD(tm_rnn_param, INT, member, place, 0)
static const op_field_t rnn_fields[] = {
    SIZE_FIELDS(tm_rnn_param, 0),
    RNN_FLAG(has_clip, 20),
    RNN_FLAG(has_bias, 24),
    RNN_FLAG(has_init_state, 28),
    RNN_FLAG(activation, 32),
    OP_FIELD(struct tm_rnn_param, STRING, inithiddenname, .text = "bias"),
    OP_FIELD(struct tm_rnn_param, STRING, biasname, .text = NULL),
};

#define RECURRENT_ROW(least, most, outputs, op_fields, type)                       \
    .min_input = least, .max_input = most, .min_output = 1, .max_output = outputs, \
    OP_FIELDS(op_fields), .param_size = sizeof(type), .traits = OP_LEGACY

static const ir_method_t* const rows[] = {
    TENGINE_ROW(Lstm, 39, 34, 72, RECURRENT_ROW(3, SLOT_NUM, 3, lstm_fields, struct tm_lstm_param),
                .lower = lower_lstm, RAISED("LSTM", raise_lstm)),
    TENGINE_ROW(Gru, 30, 48, 40,
                RECURRENT_ROW(3, SLOT_HIDDEN + 1, 2, gru_fields, struct tm_gru_param),
                .lower = lower_gru, RAISED("GRU", raise_gru)),
    TENGINE_ROW(RNN, 62, 35, 36, RECURRENT_ROW(2, 4, 1, rnn_fields, struct tm_rnn_param),
                .lower = lower_rnn),
};

OPERATOR_TABLE(tengine_recurrent_ops, rows);
