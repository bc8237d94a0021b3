// SPDX-License-Identifier: Apache-2.0
// Recurrent layers: LSTM, GRU, RNN. Kernels: device/cpu/kernel/matmul/recurrent_pixels.cc,
// device/cpu/reference/matmul/recurrent.cc. tengine.RowQuantizeLSTM is an LSTM with int8 W and R
// and a scale for each of their rows, inputs 8 and 9. It quantises the tensors that they are
// multiplied by to uint8, as DynamicQuantizeLinear does, but each row (one step of one sequence)
// separately. tengine.ClippedLSTM is an LSTM whose cell stays in -cell_clip to cell_clip, as
// TensorFlow Lite's does; an LSTM's `clip` bounds the operands of functions.
#include <string.h>
#include <strings.h>

#include "operator/infer.h"
#include "operator/onnx/macs.h"
#include "operator/onnx/recurrent_param.h"
#include "operator/row.h"
#include "operator/type_set.h"

#define RECURRENT_BASE_FIELDS                                                     \
    OP_FIELD(struct recurrent_param, FLOATS, activation_alpha, .required = 0),    \
        OP_FIELD(struct recurrent_param, FLOATS, activation_beta, .required = 0), \
        OP_FIELD(struct recurrent_param, STRINGS, activations, .required = 0),    \
        OP_FIELD(struct recurrent_param, FLOAT, clip, .number = 0),               \
        OP_FIELD(struct recurrent_param, STRING, direction, .text = "forward",    \
                 .choices = "forward|reverse|bidirectional"),                     \
        OP_FIELD(struct recurrent_param, INT, hidden_size, .number = 0)
#define RECURRENT_FIELDS   \
    RECURRENT_BASE_FIELDS, \
        OP_FIELD(struct recurrent_param, INT, layout, .minimum = 0, .maximum = 1, .since = 14)

static const op_field_t lstm_fields[] = {
    RECURRENT_FIELDS,
    OP_FIELD(struct recurrent_param, INT, input_forget, .minimum = 0, .maximum = 1),
};
// This operator's layout exists in all opsets.
static const op_field_t byte_lstm_fields[] = {
    RECURRENT_BASE_FIELDS,
    OP_FIELD(struct recurrent_param, INT, layout, .minimum = 0, .maximum = 1),
    OP_FIELD(struct recurrent_param, INT, input_forget, .minimum = 0, .maximum = 1),
};
static const op_field_t clipped_lstm_fields[] = {
    RECURRENT_BASE_FIELDS,
    OP_FIELD(struct recurrent_param, FLOAT, cell_clip, .number = 0),
    OP_FIELD(struct recurrent_param, INT, layout, .minimum = 0, .maximum = 1),
    OP_FIELD(struct recurrent_param, INT, input_forget, .minimum = 0, .maximum = 1),
};
static const op_field_t gru_fields[] = {
    RECURRENT_FIELDS,
    OP_FIELD(struct recurrent_param, INT, linear_before_reset, .minimum = 0, .maximum = 1),
};
static const op_field_t rnn_fields[] = {RECURRENT_FIELDS};

// The differences between the operators.
struct cell_kind
{
    const char* name;
    int gates;
    int function_num;
    enum recurrent_activation functions[RECURRENT_MAX_FUNCTIONS];  // defaults
};

static const struct cell_kind cell_kinds[] = {
    {"LSTM", 4, 3, {RECURRENT_SIGMOID, RECURRENT_TANH, RECURRENT_TANH}},
    {"GRU", 3, 2, {RECURRENT_SIGMOID, RECURRENT_TANH, RECURRENT_TANH}},
    {"RowQuantizeLSTM", 4, 3, {RECURRENT_SIGMOID, RECURRENT_TANH, RECURRENT_TANH}},
    {"ClippedLSTM", 4, 3, {RECURRENT_SIGMOID, RECURRENT_TANH, RECURRENT_TANH}},
    {"RNN", 1, 1, {RECURRENT_TANH, RECURRENT_TANH, RECURRENT_TANH}},
};

struct activation_kind
{
    const char* name;
    uint8_t has_alpha;
    uint8_t has_beta;
    float alpha;  // defaults, those of the operators with the same names
    float beta;
};

static const struct activation_kind activation_kinds[] = {
    [RECURRENT_RELU] = {"Relu", 0, 0, 0, 0},
    [RECURRENT_TANH] = {"Tanh", 0, 0, 0, 0},
    [RECURRENT_SIGMOID] = {"Sigmoid", 0, 0, 0, 0},
    [RECURRENT_AFFINE] = {"Affine", 1, 1, 1, 0},
    [RECURRENT_LEAKY_RELU] = {"LeakyRelu", 1, 0, 0.01f, 0},
    [RECURRENT_THRESHOLDED_RELU] = {"ThresholdedRelu", 1, 0, 1, 0},
    [RECURRENT_SCALED_TANH] = {"ScaledTanh", 1, 1, 1, 1},
    [RECURRENT_HARD_SIGMOID] = {"HardSigmoid", 1, 1, 0.2f, 0.5f},
    [RECURRENT_ELU] = {"Elu", 1, 0, 1, 0},
    [RECURRENT_SOFTSIGN] = {"Softsign", 0, 0, 0, 0},
    [RECURRENT_SOFTPLUS] = {"Softplus", 0, 0, 0, 0},
};

static const struct cell_kind* find_cell_kind(const struct node* node)
{
    const struct cell_kind* kind = cell_kinds;
    while (strcmp(kind->name, node->op.method->name) != 0)
        ++kind;
    return kind;
}

static int find_activation(const struct node* node, const char* name,
                           enum recurrent_activation* out_activation)
{
    const int num = (int)(sizeof(activation_kinds) / sizeof(activation_kinds[0]));
    for (int i = 0; i < num; ++i) {
        if (strcasecmp(activation_kinds[i].name, name) != 0) continue;
        *out_activation = (enum recurrent_activation)i;
        return TENGINE_OK;
    }
    return fail_node(node, TENGINE_EINVAL, "unknown activation '%s'", name);
}

// Alphas and betas are assigned from their lists to the functions that have them, in order.
static int resolve_functions(const struct node* node, const struct cell_kind* cell,
                             struct recurrent_shape* shape)
{
    const struct recurrent_param* param = node->op.param_mem;
    const int needed = cell->function_num * shape->directions;
    const int given = param->activations.num;
    if (given != 0 && given < needed)
        return fail_node(node, TENGINE_EINVAL, "%d activations, expected %d", given, needed);
    int alpha = 0;
    int beta = 0;
    for (int i = 0; i < needed; ++i) {
        const int position = i % cell->function_num;
        struct recurrent_function* function = &shape->functions[i / cell->function_num][position];
        function->kind = cell->functions[position];
        if (given != 0)
            TENGINE_RETURN_IF_ERROR(
                find_activation(node, param->activations.values[i], &function->kind));
        const struct activation_kind* kind = &activation_kinds[function->kind];
        function->alpha = kind->alpha;
        function->beta = kind->beta;
        if (kind->has_alpha && alpha < param->activation_alpha.num)
            function->alpha = param->activation_alpha.values[alpha++];
        if (kind->has_beta && beta < param->activation_beta.num)
            function->beta = param->activation_beta.values[beta++];
    }
    return TENGINE_OK;
}

int resolve_recurrent_shape(const struct node* node, struct recurrent_shape* out_shape)
{
    const struct recurrent_param* param = node->op.param_mem;
    const struct cell_kind* cell = find_cell_kind(node);
    const struct tensor* input = get_ir_node_input(node, 0);
    const struct tensor* recurrence = get_ir_node_input(node, 2);
    if (input->dim_num != 3 || recurrence->dim_num != 3)
        return fail_node(node, TENGINE_EINVAL, "X has rank %d and R rank %d, expected 3 and 3",
                         input->dim_num, recurrence->dim_num);
    out_shape->sequence = input->dims[param->layout ? 1 : 0];
    out_shape->batch = input->dims[param->layout ? 0 : 1];
    out_shape->input = input->dims[2];
    out_shape->hidden = recurrence->dims[2];
    out_shape->directions = strcmp(param->direction, "bidirectional") == 0 ? 2 : 1;
    out_shape->first_reverse = strcmp(param->direction, "reverse") == 0;
    out_shape->gates = cell->gates;
    if (param->hidden_size != 0 && param->hidden_size != out_shape->hidden)
        return fail_node(node, TENGINE_EINVAL, "hidden_size is %d, R has %d columns",
                         param->hidden_size, out_shape->hidden);
    return resolve_functions(node, cell, out_shape);
}

int check_recurrent_lengths(const struct node* node, const struct recurrent_shape* shape,
                            const struct tensor* lengths)
{
    for (int i = 0; lengths && i < shape->batch; ++i)
        if (lengths->i32[i] < 0 || lengths->i32[i] > shape->sequence)
            return fail_node(node, TENGINE_ERANGE, "sequence_lens[%d] is %d, expected 0 to %d", i,
                             lengths->i32[i], shape->sequence);
    return TENGINE_OK;
}

// Checks that input `index` is absent or has exactly these dimensions.
static int check_input(const struct node* node, int index, const char* what, int dim_num,
                       const int64_t dims[])
{
    const struct tensor* tensor = get_ir_node_input(node, index);
    if (!tensor) return TENGINE_OK;
    if (tensor->dim_num != dim_num)
        return fail_node(node, TENGINE_EINVAL, "%s has rank %d, expected %d", what, tensor->dim_num,
                         dim_num);
    for (int i = 0; i < dim_num; ++i)
        if (tensor->dims[i] != dims[i])
            return fail_node(node, TENGINE_EINVAL, "dimension %d of %s is %d, expected %lld", i,
                             what, tensor->dims[i], (long long)dims[i]);
    return TENGINE_OK;
}

static int check_inputs(const struct node* node, const struct recurrent_shape* shape)
{
    const struct recurrent_param* param = node->op.param_mem;
    const int64_t directions = shape->directions;
    const int64_t batch = shape->batch;
    const int64_t hidden = shape->hidden;
    const int64_t rows = shape->gates * hidden;
    const int64_t state[] = {param->layout ? batch : directions, param->layout ? directions : batch,
                             hidden};
    TENGINE_RETURN_IF_ERROR(
        check_input(node, 1, "W", 3, (int64_t[]){directions, rows, shape->input}));
    TENGINE_RETURN_IF_ERROR(check_input(node, 2, "R", 3, (int64_t[]){directions, rows, hidden}));
    TENGINE_RETURN_IF_ERROR(check_input(node, 3, "B", 2, (int64_t[]){directions, 2 * rows}));
    TENGINE_RETURN_IF_ERROR(check_input(node, 4, "sequence_lens", 1, &batch));
    TENGINE_RETURN_IF_ERROR(check_input(node, 5, "initial_h", 3, state));
    TENGINE_RETURN_IF_ERROR(check_input(node, 6, "initial_c", 3, state));
    TENGINE_RETURN_IF_ERROR(check_input(node, 8, "W_scale", 2, (int64_t[]){directions, rows}));
    TENGINE_RETURN_IF_ERROR(check_input(node, 9, "R_scale", 2, (int64_t[]){directions, rows}));
    return check_input(node, 7, "P", 2, (int64_t[]){directions, 3 * hidden});
}

// Whether W and R are int8 with scales at inputs 8 and 9.
static bool has_bytes(const struct node* node)
{
    return strcmp(node->op.method->name, "RowQuantizeLSTM") == 0;
}

static int check_types(const struct node* node)
{
    TENGINE_RETURN_IF_ERROR(require_type(node, 0, has_bytes(node) ? TYPE_BIT(FP32) : TYPES_FLOAT));
    TENGINE_RETURN_IF_ERROR(require_type(node, 4, TYPE_BIT(INT32)));
    if (has_bytes(node)) {
        if (!get_ir_node_input(node, 8) || !get_ir_node_input(node, 9))
            return fail_node(node, TENGINE_EINVAL, "W_scale and R_scale are required");
        for (int index = 1; index < node->input_num; ++index)
            if (index != 4)
                TENGINE_RETURN_IF_ERROR(
                    require_type(node, index, index < 3 ? TYPE_BIT(INT8) : TYPE_BIT(FP32)));
        return TENGINE_OK;
    }
    const uint32_t type = UINT32_C(1) << get_ir_node_input(node, 0)->data_type;
    for (int index = 1; index < node->input_num; ++index)
        if (index != 4) TENGINE_RETURN_IF_ERROR(require_type(node, index, type));
    return TENGINE_OK;
}

static int infer_recurrent(struct node* node)
{
    const struct recurrent_param* param = node->op.param_mem;
    const int data_type = get_ir_node_input(node, 0)->data_type;
    struct recurrent_shape shape;
    TENGINE_RETURN_IF_ERROR(check_types(node));
    TENGINE_RETURN_IF_ERROR(resolve_recurrent_shape(node, &shape));
    TENGINE_RETURN_IF_ERROR(check_inputs(node, &shape));

    const int64_t sequence = shape.sequence;
    const int64_t directions = shape.directions;
    const int64_t batch = shape.batch;
    const int64_t hidden = shape.hidden;
    const int64_t* all = param->layout ? (int64_t[]){batch, sequence, directions, hidden}
                                       : (int64_t[]){sequence, directions, batch, hidden};
    const int64_t* last = param->layout ? (int64_t[]){batch, directions, hidden}
                                        : (int64_t[]){directions, batch, hidden};
    TENGINE_RETURN_IF_ERROR(set_node_output(node, 0, data_type, all, 4));
    TENGINE_RETURN_IF_ERROR(set_node_output(node, 1, data_type, last, 3));
    return set_node_output(node, 2, data_type, last, 3);
}

static int64_t count_recurrent_macs(const struct node* node)
{
    const struct tensor* input = get_ir_node_input(node, 0);
    const int64_t steps = (int64_t)input->dims[0] * input->dims[1];
    return multiply_macs(
        steps, get_ir_node_input(node, 1)->elem_num + get_ir_node_input(node, 2)->elem_num);
}

#define RECURRENT_ROW(inputs, outputs, op_fields)                                \
    .min_input = 3, .max_input = inputs, .min_output = 0, .max_output = outputs, \
    OP_FIELDS(op_fields), .param_size = sizeof(struct recurrent_param),          \
    .infer_shape = infer_recurrent, .macs = count_recurrent_macs

static const ir_method_t* const rows[] = {
    OP_ROW(LSTM, .version = 7, RECURRENT_ROW(8, 3, lstm_fields)),
    OP_ROW(GRU, .version = 7, RECURRENT_ROW(6, 2, gru_fields)),
    OP_ROW(RNN, .version = 7, RECURRENT_ROW(6, 2, rnn_fields)),
    OWN_ROW(ClippedLSTM, .version = 1, .until = 1, RECURRENT_ROW(8, 3, clipped_lstm_fields)),
    OWN_ROW(RowQuantizeLSTM, .version = 1, .until = 1, RECURRENT_ROW(10, 3, byte_lstm_fields)),
};

OPERATOR_TABLE(recurrent_ops, rows);
