// SPDX-License-Identifier: Apache-2.0
// Tengine's element-wise operators with one operand, and those that copy it or give it another
// type. Activations: activation_ops.c.
#include <string.h>

#include "operator/row.h"
#include "operator/tengine/emit.h"
#include "operator/tengine/function.h"
#include "operator/tengine/raise.h"

struct tm_unary_param
{
    int type;
};

struct tm_cast_param
{
    int type_from;
    int type_to;
};

static const op_field_t unary_fields[] = {
    TM_FIELD(struct tm_unary_param, INT, type, WORD, 0, .number = 0),
};

static const op_field_t cast_fields[] = {
    TM_FIELD(struct tm_cast_param, INT, type_from, WORD, 0, .number = 0),
    TM_FIELD(struct tm_cast_param, INT, type_to, WORD, 4, .number = 0),
};

#define COUNT(table) ((int)(sizeof(table) / sizeof((table)[0])))

// ---- functions of one operand ----

static struct tensor* emit_square(emitter_t* emit, struct tensor* input)
{
    return emit_op(emit, "Mul", 2, input, input);
}

static struct tensor* emit_rsqrt(emitter_t* emit, struct tensor* input)
{
    return emit_op(emit, "Reciprocal", 1, emit_op(emit, "Sqrt", 1, input));
}

// Unary's types. "Square" and "Rsqrt" are not operators of ONNX.
static const char* const unary_ops[] = {"Abs",   "Neg",  "Floor", "Ceil",       "Square", "Sqrt",
                                        "Rsqrt", "Exp",  "Log",   "Sin",        "Cos",    "Tan",
                                        "Asin",  "Acos", "Atan",  "Reciprocal", "Tanh"};

struct tensor* emit_tm_function(emitter_t* emit, const char* function, struct tensor* input)
{
    if (strcmp(function, "Square") == 0) return emit_square(emit, input);
    if (strcmp(function, "Rsqrt") == 0) return emit_rsqrt(emit, input);
    return emit_op(emit, function, 1, input);
}

static int lower_unary(struct graph* graph, struct node* node)
{
    const int type = ((const struct tm_unary_param*)node->op.param_mem)->type;
    if (type < 0 || type >= COUNT(unary_ops))
        return fail_node(node, TENGINE_EINVAL, "unknown type %d: expected 0 (abs) to 16 (tanh)",
                         type);
    emitter_t emit = start_emitting(graph, node);
    return finish_emitting(&emit, 1,
                           emit_tm_function(&emit, unary_ops[type], get_ir_node_input(node, 0)));
}

struct tensor* emit_tm_unary(emitter_t* emit, int type, struct tensor* input)
{
    begin_op(emit, "tengine.Unary", 1, input);
    emit_attr_int(emit, "type", type);
    return end_op(emit);
}

static int raise_unary(struct graph* graph, struct node* node)
{
    int type = 0;
    if (!has_tengine_type(node)) return OP_NOT_RAISED;
    while (strcmp(unary_ops[type], get_ir_node_op(node)) != 0)
        ++type;
    emitter_t emit = start_emitting(graph, node);
    return finish_emitting(&emit, 1, emit_tm_unary(&emit, type, get_ir_node_input(node, 0)));
}

static int lower_dropout(struct graph* graph, struct node* node)
{
    return rewrite_as(graph, node, "Identity");
}

// C's round(): ties go away from zero, ONNX's go to even. x = sign * (whole + fraction), and the
// difference that gives the fraction is exact.
static int lower_round(struct graph* graph, struct node* node)
{
    struct tensor* input = get_ir_node_input(node, 0);
    emitter_t emit = start_emitting(graph, node);
    struct tensor* size = emit_op(&emit, "Abs", 1, input);
    struct tensor* whole = emit_op(&emit, "Floor", 1, size);
    struct tensor* fraction = emit_op(&emit, "Sub", 2, size, whole);
    struct tensor* half = emit_number(&emit, 0.5f, input);
    struct tensor* up =
        emit_cast(&emit, emit_op(&emit, "GreaterOrEqual", 2, fraction, half), input->data_type);
    struct tensor* rounded = emit_op(&emit, "Add", 2, whole, up);
    return finish_emitting(&emit, 1,
                           emit_op(&emit, "Mul", 2, rounded, emit_op(&emit, "Sign", 1, input)));
}

static int raise_round(struct graph* graph, struct node* node)
{
    (void)graph;
    return refuse_raising(node, "it rounds halves to even, Tengine's Round away from zero");
}

static int lower_zeros_like(struct graph* graph, struct node* node)
{
    const struct tensor* input = get_ir_node_input(node, 0);
    int64_t dims[MAX_SHAPE_DIM_NUM];
    for (int i = 0; i < input->dim_num; ++i)
        dims[i] = input->dims[i];
    emitter_t emit = start_emitting(graph, node);
    struct tensor* zeros =
        emit_op(&emit, "ConstantOfShape", 1, emit_ints(&emit, dims, input->dim_num));
    if (input->data_type != TENGINE_DT_FP32) zeros = emit_cast(&emit, zeros, input->data_type);
    return finish_emitting(&emit, 1, zeros);
}

// ---- Cast ----

// Finds the output's type, as Tengine Lite does. When the file says only that it is the input's,
// the parameter counts: a TENGINE_DT_*, or ONNX's number with type_from 1, as the converter from
// ONNX wrote them. Tengine has no int64; its converters made them int32.
static int find_cast_type(const struct node* node)
{
    const struct tm_cast_param* param = node->op.param_mem;
    const int from = get_ir_node_input(node, 0)->data_type;
    const int declared = get_ir_node_output(node, 0)->data_type;
    if (declared != from) return declared;
    const bool of_onnx = param->type_from == 1 && from != TENGINE_DT_FP16;
    const int type = of_onnx ? get_data_type_of_onnx(param->type_to) : param->type_to;
    return of_onnx && type == TENGINE_DT_INT64 ? TENGINE_DT_INT32 : type;
}

static int lower_cast(struct graph* graph, struct node* node)
{
    const struct tm_cast_param* param = node->op.param_mem;
    if (!get_ir_node_output(node, 0)) return rewrite_as(graph, node, "Identity");
    const int type = find_cast_type(node);
    if (type < 0 || type > TENGINE_DT_UINT64)
        return fail_node(node, TENGINE_EINVAL,
                         "invalid data type type_to %d (type_from %d): expected 0 to %d",
                         param->type_to, param->type_from, TENGINE_DT_UINT64);
    emitter_t emit = start_emitting(graph, node);
    return finish_emitting(&emit, 1, emit_cast(&emit, get_ir_node_input(node, 0), type));
}

static int raise_cast(struct graph* graph, struct node* node)
{
    const int from = get_ir_node_input(node, 0)->data_type;
    const int to = get_data_type_of_onnx(get_ir_node_int(node, "to", 0));
    if (from > TENGINE_DT_INT16 || to > TENGINE_DT_INT16 || to < 0)
        return refuse_raising(node,
                              "it casts %s to %s; Tengine's types are fp32, fp16, int8, "
                              "uint8, int32 and int16",
                              get_data_type_name(from), get_data_type_name(to));
    emitter_t emit = start_emitting(graph, node);
    begin_op(&emit, "tengine.Cast", 1, get_ir_node_input(node, 0));
    emit_attr_int(&emit, "type_from", from);
    emit_attr_int(&emit, "type_to", to);
    return finish_emitting(&emit, 1, end_op(&emit));
}

static int raise_dropout(struct graph* graph, struct node* node)
{
    if (get_ir_node_input(node, 2))
        return refuse_raising(node, "it is in training_mode, Tengine's Dropout only copies");
    if (get_ir_node_output(node, 1))
        return refuse_raising(node, "its mask is used, Tengine's Dropout has none");
    if (!has_tengine_type(node)) return OP_NOT_RAISED;
    emitter_t emit = start_emitting(graph, node);
    return finish_emitting(&emit, 1,
                           emit_op(&emit, "tengine.Dropout", 1, get_ir_node_input(node, 0)));
}

#define UNARY .min_input = 1, .max_input = 1, .min_output = 1, .max_output = 1, .traits = OP_LEGACY
#define FIELDS(type, fields) OP_FIELDS(fields), .param_size = sizeof(struct type)

static const ir_method_t* const rows[] = {
    TENGINE_ROW(Cast, 9, 69, 8, UNARY, FIELDS(tm_cast_param, cast_fields), .lower = lower_cast,
                RAISED("Cast", raise_cast)),
    TENGINE_ROW(Ceil, 10, 83, 0, UNARY, RENAMED("Ceil")),
    TENGINE_ROW(Dropout, 21, 8, 0, UNARY, .lower = lower_dropout, RAISED("Dropout", raise_dropout)),
    TENGINE_ROW(Noop, 45, 62, 0, UNARY, RENAMED("Identity")),
    TENGINE_ROW(Round, 65, 85, 0, UNARY, .lower = lower_round, RAISED("Round", raise_round)),
    TENGINE_ROW(Unary, 85, 59, 4, UNARY, FIELDS(tm_unary_param, unary_fields), .lower = lower_unary,
                RAISED("Abs|Neg|Floor|Sqrt|Exp|Log|Sin|Cos|Tan|Asin|Acos|Atan", raise_unary)),
    TENGINE_ROW(ZerosLike, 88, 86, 0, UNARY, .lower = lower_zeros_like),
    TENGINE_ROW(Reciprocal, 99, 103, 0, UNARY, RENAMED("Reciprocal")),
};

OPERATOR_TABLE(tengine_unary_ops, rows);
