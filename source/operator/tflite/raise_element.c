// SPDX-License-Identifier: Apache-2.0
// Functions of single elements.
#include <float.h>
#include <math.h>
#include <string.h>

#include "graph/graph.h"
#include "operator/infer.h"
#include "operator/tengine/move.h"
#include "operator/tengine/raise.h"
#include "operator/tflite/lower.h"
#include "operator/tflite/raise.h"

// ---- types ----

// Kernels of integers of other widths expect scales.
static bool is_computed_type(int type)
{
    return type == TENGINE_DT_FP32 || type == TENGINE_DT_INT32 || type == TENGINE_DT_INT64 ||
           type == TENGINE_DT_BOOL;
}

static bool has_computed_types(struct node* node)
{
    for (int i = 0; i < node->input_num; ++i) {
        const struct tensor* input = get_ir_node_input(node, i);
        if (!input || is_computed_type(input->data_type)) continue;
        refuse_raising(node, "its input %d is %s, the operator computes fp32, int32 and int64", i,
                       get_data_type_name(input->data_type));
        return false;
    }
    return true;
}

// ---- operators of the same inputs ----

typedef struct renaming
{
    const char* from;
    const char* to;
} renaming_t;

static const renaming_t renamings[] = {
    {"Abs", "tflite.ABS"},
    {"Add", "tflite.ADD"},
    {"And", "tflite.LOGICAL_AND"},
    {"Ceil", "tflite.CEIL"},
    {"Cos", "tflite.COS"},
    {"Div", "tflite.DIV"},
    {"Equal", "tflite.EQUAL"},
    {"Exp", "tflite.EXP"},
    {"Floor", "tflite.FLOOR"},
    {"Greater", "tflite.GREATER"},
    {"GreaterOrEqual", "tflite.GREATER_EQUAL"},
    {"HardSwish", "tflite.HARD_SWISH"},
    {"Less", "tflite.LESS"},
    {"LessOrEqual", "tflite.LESS_EQUAL"},
    {"Log", "tflite.LOG"},
    {"Mul", "tflite.MUL"},
    {"Neg", "tflite.NEG"},
    {"Not", "tflite.LOGICAL_NOT"},
    {"Or", "tflite.LOGICAL_OR"},
    {"PRelu", "tflite.PRELU"},
    {"Round", "tflite.ROUND"},
    {"Sigmoid", "tflite.LOGISTIC"},
    {"Sign", "tflite.SIGN"},
    {"Sin", "tflite.SIN"},
    {"Sqrt", "tflite.SQRT"},
    {"Sub", "tflite.SUB"},
    {"Tanh", "tflite.TANH"},
    {"Xor", "tflite.NOT_EQUAL"},
};

static int raise_as(struct graph* graph, struct node* node, const char* op)
{
    if (!has_computed_types(node)) return OP_NOT_RAISED;
    emitter_t emit = start_emitting(graph, node);
    begin_op(&emit, op, 0);
    for (int i = 0; i < node->input_num; ++i)
        emit_input(&emit, get_ir_node_input(node, i));
    return finish_raised(&emit);
}

static int raise_same(struct graph* graph, struct node* node)
{
    const char* op = get_ir_node_op(node);
    const renaming_t* row = renamings;
    while (strcmp(row->from, op) != 0)
        ++row;
    return raise_as(graph, node, row->to);
}

// Max, Min and Sum have any number of inputs.
static int raise_chain(struct graph* graph, struct node* node, const char* op)
{
    const struct tensor* output = get_ir_node_output(node, 0);
    if (node->input_num == 1) return rewrite_as(graph, node, "Identity");
    if (!has_computed_types(node)) return OP_NOT_RAISED;
    emitter_t emit = start_emitting(graph, node);
    struct tensor* result = get_ir_node_input(node, 0);
    for (int i = 1; i < node->input_num; ++i) {
        begin_op(&emit, op, 2, result, get_ir_node_input(node, i));
        if (i + 1 == node->input_num) break;
        result = end_raised(&emit, output->data_type, output->dims, output->dim_num);
    }
    return finish_raised(&emit);
}

static int raise_max(struct graph* graph, struct node* node)
{
    return raise_chain(graph, node, "tflite.MAXIMUM");
}

static int raise_min(struct graph* graph, struct node* node)
{
    return raise_chain(graph, node, "tflite.MINIMUM");
}

static int raise_sum(struct graph* graph, struct node* node)
{
    return raise_chain(graph, node, "tflite.ADD");
}

static int raise_mod(struct graph* graph, struct node* node)
{
    if (get_ir_node_int(node, "fmod", 0) != 0)
        return refuse_raising(node, "its result has the sign of the dividend (fmod)");
    return raise_as(graph, node, "tflite.FLOOR_MOD");
}

static int raise_pow(struct graph* graph, struct node* node)
{
    const int base = get_ir_node_input(node, 0)->data_type;
    const int exponent = get_ir_node_input(node, 1)->data_type;
    if (base != exponent || (base != TENGINE_DT_FP32 && base != TENGINE_DT_INT32))
        return refuse_raising(node, "its operands are %s and %s, expected fp32 or int32",
                              get_data_type_name(base), get_data_type_name(exponent));
    return raise_as(graph, node, "tflite.POW");
}

static int raise_where(struct graph* graph, struct node* node)
{
    emitter_t emit = start_emitting(graph, node);
    begin_op(&emit, "tflite.SELECT_V2", 3, get_ir_node_input(node, 0), get_ir_node_input(node, 1),
             get_ir_node_input(node, 2));
    return finish_raised(&emit);
}

static int raise_reciprocal(struct graph* graph, struct node* node)
{
    emitter_t emit = start_emitting(graph, node);
    begin_op(&emit, "tflite.DIV", 2, emit_float(&emit, 1), get_ir_node_input(node, 0));
    return finish_raised(&emit);
}

// ---- activations ----

// The operator before, if it can apply the function to its result itself.
static struct node* find_applier(const struct node* node)
{
    const struct tensor* input = get_ir_node_input(node, 0);
    struct node* producer = get_ir_graph_node(node->graph, input->producer);
    if (!producer || input->consumer_num != 1 || is_ir_graph_output(node->graph, input->index) ||
        strcmp(get_ir_node_domain(producer), "tflite") != 0 ||
        get_ir_node_int(producer, "activation", -1) != TFL_ACTIVATION_NONE)
        return NULL;
    return producer;
}

static int raise_activation(struct graph* graph, struct node* node, const char* op, int activation)
{
    struct node* applier = find_applier(node);
    if (!applier) {
        emitter_t emit = start_emitting(graph, node);
        begin_op(&emit, op, 1, get_ir_node_input(node, 0));
        return finish_raised(&emit);
    }
    struct tensor* output = get_ir_node_output(node, 0);
    TENGINE_RETURN_IF_ERROR(set_node_int(applier, "activation", activation));
    TENGINE_RETURN_IF_ERROR(set_ir_node_output_tensor(node, 0, NULL));
    TENGINE_RETURN_IF_ERROR(set_ir_node_output_tensor(applier, 0, output));
    destroy_ir_node(graph, node);
    return TENGINE_OK;
}

static int raise_relu(struct graph* graph, struct node* node)
{
    return raise_activation(graph, node, "tflite.RELU", TFL_ACTIVATION_RELU);
}

static int raise_clip(struct graph* graph, struct node* node)
{
    if (!has_computed_types(node)) return OP_NOT_RAISED;
    const struct tensor *low = get_ir_node_input(node, 1), *high = get_ir_node_input(node, 2);
    float least = -FLT_MAX, most = FLT_MAX;
    const bool is_known = (!low || read_raised_float(node, 1, &least)) &&
                          (!high || read_raised_float(node, 2, &most));
    const bool has_most = most<FLT_MAX, has_least = least> - FLT_MAX;
    if (is_known && least == 0 && most == 6)
        return raise_activation(graph, node, "tflite.RELU6", TFL_ACTIVATION_RELU6);
    if (is_known && least == -1 && most == 1)
        return raise_activation(graph, node, "tflite.RELU_N1_TO_1", TFL_ACTIVATION_RELU_N1_TO_1);
    if (is_known && least == 0 && !has_most) return raise_relu(graph, node);
    if (is_known && !has_least && !has_most) return rewrite_as(graph, node, "Identity");
    const struct tensor* output = get_ir_node_output(node, 0);
    emitter_t emit = start_emitting(graph, node);
    struct tensor* result = get_ir_node_input(node, 0);
    if (low && (!is_known || has_least)) {
        begin_op(&emit, "tflite.MAXIMUM", 2, result, get_ir_node_input(node, 1));
        if (!high || (is_known && !has_most)) return finish_raised(&emit);
        result = end_raised(&emit, output->data_type, output->dims, output->dim_num);
    }
    begin_op(&emit, "tflite.MINIMUM", 2, result, get_ir_node_input(node, 2));
    return finish_raised(&emit);
}

static int raise_leaky_relu(struct graph* graph, struct node* node)
{
    emitter_t emit = start_emitting(graph, node);
    begin_op(&emit, "tflite.LEAKY_RELU", 1, get_ir_node_input(node, 0));
    emit_attr_float(&emit, "alpha", get_ir_node_float(node, "alpha", 0.01f));
    return finish_raised(&emit);
}

static int raise_elu(struct graph* graph, struct node* node)
{
    const float alpha = get_ir_node_float(node, "alpha", 1);
    if (alpha != 1) return refuse_raising(node, "its alpha is %g, expected 1", (double)alpha);
    return raise_as(graph, node, "tflite.ELU");
}

static int raise_gelu(struct graph* graph, struct node* node)
{
    emitter_t emit = start_emitting(graph, node);
    begin_op(&emit, "tflite.GELU", 1, get_ir_node_input(node, 0));
    emit_attr_int(&emit, "approximate",
                  strcmp(get_ir_node_text(node, "approximate", "none"), "tanh") == 0);
    return finish_raised(&emit);
}

static bool is_wide_float(int type)
{
    return type == TENGINE_DT_FP32 || type == TENGINE_DT_FP16;
}

static int raise_cast(struct graph* graph, struct node* node)
{
    if (get_ir_node_input(node, 0)->data_type == TENGINE_DT_STRING ||
        get_ir_node_output(node, 0)->data_type == TENGINE_DT_STRING)
        return refuse_raising(node, "CAST does not convert strings");
    if (get_ir_node_int(node, "saturate", 1) == 0 &&
        get_data_type_bits(get_ir_node_output(node, 0)->data_type) == 8 &&
        is_wide_float(get_ir_node_input(node, 0)->data_type))
        return refuse_raising(node, "its values do not saturate, those of CAST do");
    emitter_t emit = start_emitting(graph, node);
    begin_op(&emit, "tflite.CAST", 1, get_ir_node_input(node, 0));
    return finish_raised(&emit);
}

// Where nothing is dropped.
static int raise_dropout(struct graph* graph, struct node* node)
{
    const struct tensor *ratio = get_ir_node_input(node, 1), *training = get_ir_node_input(node, 2);
    float share = 0.5f;
    const bool trains = training && (training->tensor_type != TENSOR_TYPE_CONST ||
                                     !training->data || training->u8[0] != 0);
    const bool drops = !ratio || !read_raised_float(node, 1, &share) || share != 0;
    if (trains && drops) return refuse_raising(node, "it trains");
    keep_ir_node_inputs(node, 1);
    return rewrite_as(graph, node, "Identity");
}

// Readers of the result can read the input, unless a program feeds the one and reads the other.
static int raise_identity(struct graph* graph, struct node* node)
{
    const struct tensor *input = get_ir_node_input(node, 0), *output = get_ir_node_output(node, 0);
    const bool is_inside =
        input->tensor_type == TENSOR_TYPE_VAR && !is_ir_graph_output(graph, input->index);
    if (is_inside || !is_ir_graph_output(graph, output->index)) return TENGINE_OK;
    return raise_as_tfl_reshape(graph, node);
}

static const tfl_raising_t rows[] = {
    {"Abs", raise_same},
    {"Add", raise_same},
    {"And", raise_same},
    {"Cast", raise_cast},
    {"Ceil", raise_same},
    {"Clip", raise_clip},
    {"Cos", raise_same},
    {"Div", raise_same},
    {"Dropout", raise_dropout},
    {"Elu", raise_elu},
    {"Equal", raise_same},
    {"Exp", raise_same},
    {"Floor", raise_same},
    {"Gelu", raise_gelu},
    {"Greater", raise_same},
    {"GreaterOrEqual", raise_same},
    {"HardSwish", raise_same},
    {"Identity", raise_identity},
    {"LeakyRelu", raise_leaky_relu},
    {"Less", raise_same},
    {"LessOrEqual", raise_same},
    {"Log", raise_same},
    {"Max", raise_max},
    {"Min", raise_min},
    {"Mod", raise_mod},
    {"Mul", raise_same},
    {"Neg", raise_same},
    {"Not", raise_same},
    {"Or", raise_same},
    {"PRelu", raise_same},
    {"Pow", raise_pow},
    {"Reciprocal", raise_reciprocal},
    {"Relu", raise_relu},
    {"Round", raise_same},
    {"Sigmoid", raise_same},
    {"Sign", raise_same},
    {"Sin", raise_same},
    {"Sqrt", raise_same},
    {"Sub", raise_same},
    {"Sum", raise_sum},
    {"Tanh", raise_same},
    {"Where", raise_where},
    {"Xor", raise_same},
};

TFL_RAISINGS(tfl_element_raisings, rows);
