// SPDX-License-Identifier: Apache-2.0
// Tengine's element-wise arithmetic with two or many operands. With one: unary_ops.c. Comparison
// and logic: logic_ops.c. How operands of different sizes meet: broadcast.h.
#include <stdio.h>
#include <string.h>

#include "operator/row.h"
#include "operator/tengine/broadcast.h"
#include "operator/tengine/emit.h"
#include "operator/tengine/function.h"
#include "operator/tengine/raise.h"

struct tm_eltwise_param
{
    int type;
    int caffe_flavor;
    float shift;
    float power;
    float scale;
};

struct tm_addn_param
{
    int axis;
};

static const op_field_t eltwise_fields[] = {
    TM_FIELD(struct tm_eltwise_param, INT, type, WORD, 0, .number = 0),
    TM_FIELD(struct tm_eltwise_param, INT, caffe_flavor, WORD, 4, .number = 0),
    TM_FIELD(struct tm_eltwise_param, FLOAT, shift, WORD, 8, .number = 0),
    TM_FIELD(struct tm_eltwise_param, FLOAT, power, WORD, 12, .number = 1),
    TM_FIELD(struct tm_eltwise_param, FLOAT, scale, WORD, 16, .number = 1),
};

static const op_field_t addn_fields[] = {
    TM_FIELD(struct tm_addn_param, INT, axis, WORD, 0, .number = 0),
};

#define COUNT(table) ((int)(sizeof(table) / sizeof((table)[0])))

// ---- Eltwise ----

enum eltwise_kind
{
    ELTWISE_UNKNOWN,
    ELTWISE_BINARY,
    ELTWISE_SCALAR,  // the second operand has one element
    ELTWISE_UNARY,   // a second operand is not read
    ELTWISE_POWER    // (shift + scale * x) ^ power
};

static const struct
{
    enum eltwise_kind kind;
    const char* op;
} eltwise_types[] = {
    {ELTWISE_BINARY, "Mul"},   {ELTWISE_SCALAR, "Mul"},  {ELTWISE_BINARY, "Add"},
    {ELTWISE_SCALAR, "Add"},   {ELTWISE_BINARY, "Sub"},  {ELTWISE_SCALAR, "Sub"},
    {ELTWISE_BINARY, "Max"},   {ELTWISE_UNARY, "Rsqrt"}, {ELTWISE_SCALAR, "Min"},
    {ELTWISE_UNKNOWN, NULL},   {ELTWISE_BINARY, "Div"},  {ELTWISE_UNARY, "Log"},
    {ELTWISE_UNARY, "Exp"},    {ELTWISE_UNARY, "Sqrt"},  {ELTWISE_UNARY, "Floor"},
    {ELTWISE_UNARY, "Square"}, {ELTWISE_BINARY, "Pow"},  {ELTWISE_POWER, "Pow"},
};
#define ELTWISE_PROD 0
#define ELTWISE_SUM 2
#define ELTWISE_SUB 4
#define ELTWISE_DIV 10
#define ELTWISE_POW 16
#define ELTWISE_POWER_TYPE 17

static int check_eltwise(struct node* node)
{
    const int type = ((const struct tm_eltwise_param*)node->op.param_mem)->type;
    if (type < 0 || type >= COUNT(eltwise_types) || eltwise_types[type].kind == ELTWISE_UNKNOWN)
        return fail_node(node, TENGINE_EINVAL, "unknown type %d: expected 0 to 17, except 9", type);
    const struct tensor* second = get_ir_node_input(node, 1);
    const enum eltwise_kind kind = eltwise_types[type].kind;
    if ((kind == ELTWISE_BINARY || kind == ELTWISE_SCALAR) && !second)
        return fail_node(node, TENGINE_EINVAL, "type %d needs two inputs, it has one", type);
    if (kind == ELTWISE_SCALAR && second->elem_num != 1)
        return fail_node(node, TENGINE_EINVAL,
                         "type %d needs a second input of one element, it has %lld", type,
                         (long long)second->elem_num);
    return TENGINE_OK;
}

static struct tensor* emit_power(emitter_t* emit, struct tensor* input)
{
    const struct tm_eltwise_param* param = emit->origin->op.param_mem;
    struct tensor* result = input;
    if (param->scale != 1)
        result = emit_op(emit, "Mul", 2, result, emit_number(emit, param->scale, input));
    if (param->shift != 0)
        result = emit_op(emit, "Add", 2, result, emit_number(emit, param->shift, input));
    return emit_op(emit, "Pow", 2, result, emit_number(emit, param->power, input));
}

// Appends the operator `op` of the node's two inputs.
static struct tensor* emit_binary(emitter_t* emit, const char* op)
{
    struct tensor* operands[2];
    emit_tm_operands(emit, operands);
    return emit_op(emit, op, 2, operands[0], operands[1]);
}

static int lower_eltwise(struct graph* graph, struct node* node)
{
    TENGINE_RETURN_IF_ERROR(check_eltwise(node));
    const int type = ((const struct tm_eltwise_param*)node->op.param_mem)->type;
    struct tensor* input = get_ir_node_input(node, 0);
    emitter_t emit = start_emitting(graph, node);
    struct tensor* result;
    if (eltwise_types[type].kind == ELTWISE_POWER)
        result = emit_power(&emit, input);
    else if (eltwise_types[type].kind == ELTWISE_UNARY)
        result = emit_tm_function(&emit, eltwise_types[type].op, input);
    else
        result = emit_binary(&emit, eltwise_types[type].op);
    return finish_emitting(&emit, 1, result);
}

static struct tensor* emit_tm_eltwise(emitter_t* emit, int type, struct tensor* first,
                                      struct tensor* second)
{
    begin_op(emit, "tengine.Eltwise", second ? 2 : 1, first, second);
    emit_attr_int(emit, "type", type);
    return end_op(emit);
}

static int find_eltwise_type(const char* op)
{
    static const int types[] = {ELTWISE_PROD, ELTWISE_SUM, ELTWISE_SUB, ELTWISE_DIV, ELTWISE_POW};
    int i = 0;
    while (strcmp(eltwise_types[types[i]].op, op) != 0)
        ++i;
    return types[i];
}

// Tengine Lite has the larger operand first, and exchanges the operands when it is not.
static int raise_swapped(struct graph* graph, struct node* node, int type)
{
    struct tensor* small = get_ir_node_input(node, 0);
    struct tensor* large = get_ir_node_input(node, 1);
    float one;
    emitter_t emit = start_emitting(graph, node);
    if (type == ELTWISE_PROD || type == ELTWISE_SUM)
        return finish_emitting(&emit, 1, emit_tm_eltwise(&emit, type, large, small));
    if (type == ELTWISE_SUB) {
        struct tensor* negative = emit_tm_unary(&emit, TM_UNARY_NEG, large);
        return finish_emitting(&emit, 1, emit_tm_eltwise(&emit, ELTWISE_SUM, negative, small));
    }
    if (type == ELTWISE_DIV && read_raised_float(node, 0, &one) && one == 1)
        return finish_emitting(&emit, 1, emit_op(&emit, "tengine.Reciprocal", 1, large));
    char texts[2][RAISED_SHAPE_SIZE];
    return refuse_raising(node,
                          "its first operand of shape %s is smaller than the second of shape "
                          "%s; Tengine's %s has the larger one first",
                          print_raised_shape(small, texts[0]), print_raised_shape(large, texts[1]),
                          type == ELTWISE_DIV ? "division" : "power");
}

// Exponents are integers or floats.
static bool read_exponent(const struct node* node, float* out_exponent)
{
    int64_t whole;
    if (read_raised_float(node, 1, out_exponent)) return true;
    if (read_raised_ints(node, 1, &whole, 1) != 1) return false;
    *out_exponent = (float)whole;
    return true;
}

static int raise_power(struct graph* graph, struct node* node, float exponent)
{
    emitter_t emit = start_emitting(graph, node);
    begin_op(&emit, "tengine.Eltwise", 1, get_ir_node_input(node, 0));
    emit_attr_int(&emit, "type", ELTWISE_POWER_TYPE);
    emit_attr_float(&emit, "power", exponent);
    return finish_emitting(&emit, 1, end_op(&emit));
}

// Whether Tengine Lite has a loop for operands of this match.
static bool is_match_computed(int type, tm_match_t match)
{
    if (match == TM_MATCH_PLANE) return type != ELTWISE_SUB && type != ELTWISE_POW;
    return match != TM_MATCH_CHANNEL || type != ELTWISE_POW;
}

static int raise_eltwise(struct graph* graph, struct node* node)
{
    const int type = find_eltwise_type(get_ir_node_op(node));
    struct tensor* first = get_ir_node_input(node, 0);
    struct tensor* second = get_ir_node_input(node, 1);
    tm_operands_t operands;
    float exponent;
    if (!has_tengine_type(node) || !do_tm_operands_fit(node, &operands)) return OP_NOT_RAISED;
    if (type == ELTWISE_POW && !operands.swapped && read_exponent(node, &exponent))
        return raise_power(graph, node, exponent);
    if (!is_match_computed(type, operands.match))
        return refuse_raising(node, "Tengine's %s takes operands of one size, or a scalar",
                              type == ELTWISE_SUB ? "difference" : "power");
    if (operands.swapped && first->elem_num != second->elem_num)
        return raise_swapped(graph, node, type);
    emitter_t emit = start_emitting(graph, node);
    return finish_emitting(&emit, 1, emit_tm_eltwise(&emit, type, first, second));
}

static int lower_broad_mul(struct graph* graph, struct node* node)
{
    emitter_t emit = start_emitting(graph, node);
    return finish_emitting(&emit, 1, emit_binary(&emit, "Mul"));
}

static int lower_squared_difference(struct graph* graph, struct node* node)
{
    struct tensor* inputs[2] = {get_ir_node_input(node, 0), get_ir_node_input(node, 1)};
    char texts[2][RAISED_SHAPE_SIZE];
    if (!have_same_shape(inputs[0], inputs[1]))
        return fail_node(
            node, TENGINE_EINVAL, "its inputs have shapes %s and %s, expected equal ones",
            print_raised_shape(inputs[0], texts[0]), print_raised_shape(inputs[1], texts[1]));
    emitter_t emit = start_emitting(graph, node);
    struct tensor* difference = emit_op(&emit, "Sub", 2, inputs[0], inputs[1]);
    return finish_emitting(&emit, 1, emit_tm_function(&emit, "Square", difference));
}

// ---- any number of operands ----

static const struct
{
    const char* tengine;
    const char* onnx;
} variadic_ops[] = {{"Add_n", "Sum"}, {"Maximum", "Max"}, {"Mean", "Mean"}, {"Minimum", "Min"}};

// Reshapes input `index` to the first one's shape: elements are combined one by one, whatever the
// shapes are.
static struct tensor* emit_like_first(emitter_t* emit, int index)
{
    const struct tensor* first = get_ir_node_input(emit->origin, 0);
    struct tensor* input = get_ir_node_input(emit->origin, index);
    int64_t dims[MAX_SHAPE_DIM_NUM];
    if (have_same_shape(first, input)) return input;
    for (int axis = 0; axis < first->dim_num; ++axis)
        dims[axis] = first->dims[axis];
    return emit_reshape(emit, input, dims, first->dim_num);
}

static int lower_variadic(struct graph* graph, struct node* node)
{
    const struct tensor* first = get_ir_node_input(node, 0);
    emitter_t emit = start_emitting(graph, node);
    for (int n = 1; n < node->input_num; ++n) {
        const struct tensor* input = get_ir_node_input(node, n);
        if (!input || input->elem_num != first->elem_num)
            return fail_node(node, TENGINE_EINVAL,
                             "input %d has %lld elements, input 0 has %lld, expected as many", n,
                             input ? (long long)input->elem_num : 0, (long long)first->elem_num);
        TENGINE_RETURN_IF_ERROR(set_ir_node_input_tensor(node, n, emit_like_first(&emit, n)));
    }
    int i = 0;
    while (strcmp(variadic_ops[i].tengine, get_ir_node_op(node)) != 0)
        ++i;
    begin_op(&emit, variadic_ops[i].onnx, 0);
    for (int n = 0; n < node->input_num; ++n)
        emit_input(&emit, get_ir_node_input(node, n));
    return finish_emitting(&emit, 1, end_op(&emit));
}

static int raise_variadic(struct graph* graph, struct node* node)
{
    int i = 0;
    while (strcmp(variadic_ops[i].onnx, get_ir_node_op(node)) != 0)
        ++i;
    if (!have_inputs_output_shape(node))
        return refuse_raising(node,
                              "its inputs have different shapes, Tengine's %s needs equal ones",
                              variadic_ops[i].tengine);
    if (!has_tengine_type(node)) return OP_NOT_RAISED;
    char op[32];
    snprintf(op, sizeof(op), "tengine.%s", variadic_ops[i].tengine);
    return rewrite_as(graph, node, op);
}

#define ELEMENTWISE(least, most) \
    .min_input = least, .max_input = most, .min_output = 1, .max_output = 1, .traits = OP_LEGACY
#define FIELDS(type, fields) OP_FIELDS(fields), .param_size = sizeof(struct type)

static const ir_method_t* const rows[] = {
    TENGINE_ROW(Add_n, 2, 49, 4, ELEMENTWISE(1, -1), FIELDS(tm_addn_param, addn_fields),
                .lower = lower_variadic, RAISED("Sum", raise_variadic)),
    TENGINE_ROW(BroadMul, 8, 74, 0, ELEMENTWISE(2, 2), .lower = lower_broad_mul),
    TENGINE_ROW(Eltwise, 22, 9, 20, ELEMENTWISE(1, 2), FIELDS(tm_eltwise_param, eltwise_fields),
                .lower = lower_eltwise, RAISED("Add|Sub|Mul|Div|Pow", raise_eltwise)),
    TENGINE_ROW(Maximum, 41, 46, 0, ELEMENTWISE(1, -1), .lower = lower_variadic,
                RAISED("Max", raise_variadic)),
    TENGINE_ROW(Mean, 42, 90, 0, ELEMENTWISE(1, -1), .lower = lower_variadic,
                RAISED("Mean", raise_variadic)),
    TENGINE_ROW(Minimum, 43, 47, 0, ELEMENTWISE(1, -1), .lower = lower_variadic,
                RAISED("Min", raise_variadic)),
    TENGINE_ROW(SquaredDifference, 77, 84, 0, ELEMENTWISE(2, 2), .lower = lower_squared_difference),
};

OPERATOR_TABLE(tengine_elementwise_ops, rows);
