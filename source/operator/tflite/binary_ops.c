// SPDX-License-Identifier: Apache-2.0
// TensorFlow Lite's functions of two elements: arithmetic, comparisons, logic and selection.
#include "operator/tengine/function.h"
#include "operator/tflite/lower.h"

struct tfl_sum_param
{
    struct tfl_activation_param with;
    int pot_scale_int16;  // whether scales of int16 are powers of two: LiteRT's
};

static const op_field_t activation_fields[] = {
    TFL_ACTIVATION(struct tfl_activation_param, 0),
};

static const op_field_t sum_fields[] = {
    TFL_ACTIVATION(struct tfl_activation_param, 0),
    TM_FIELD(struct tfl_sum_param, INT, pot_scale_int16, BYTE, 1, .number = 1, .maximum = 1),
};

TFL_LOWER_AS(lower_add_n, "Sum")
TFL_LOWER_AS(lower_and, "And")
TFL_LOWER_AS(lower_equal, "Equal")
TFL_LOWER_AS(lower_greater, "Greater")
TFL_LOWER_AS(lower_greater_equal, "GreaterOrEqual")
TFL_LOWER_AS(lower_less, "Less")
TFL_LOWER_AS(lower_less_equal, "LessOrEqual")
TFL_LOWER_AS(lower_maximum, "Max")
TFL_LOWER_AS(lower_minimum, "Min")
TFL_LOWER_AS(lower_or, "Or")
TFL_LOWER_AS(lower_pow, "Pow")
TFL_LOWER_AS(lower_select_v2, "Where")
TFL_LOWER_AS(lower_xor, "BitwiseXor")

static struct tensor* emit_pair(emitter_t* emit, const char* op, struct tensor* x, struct tensor* y)
{
    return emit_op(emit, op, 2, x, y);
}

static bool is_float(const struct tensor* tensor)
{
    const int type = tensor->data_type;
    return type == TENGINE_DT_FP32 || type == TENGINE_DT_FP16 || type == TENGINE_DT_BF16 ||
           type == TENGINE_DT_FP64;
}

// ---- arithmetic with an activation ----

static int lower_with_activation(struct graph* graph, struct node* node, const char* op)
{
    const struct tfl_activation_param* param = node->op.param_mem;
    emitter_t emit = start_emitting(graph, node);
    struct tensor* result = emit_pair(&emit, op, get_operand(&emit, 0), get_operand(&emit, 1));
    return finish_emitting(&emit, 1, emit_activation(&emit, param->activation, result));
}

static int lower_add(struct graph* graph, struct node* node)
{
    return lower_with_activation(graph, node, "Add");
}

static int lower_sub(struct graph* graph, struct node* node)
{
    return lower_with_activation(graph, node, "Sub");
}

static int lower_mul(struct graph* graph, struct node* node)
{
    return lower_with_activation(graph, node, "Mul");
}

static int lower_div(struct graph* graph, struct node* node)
{
    return lower_with_activation(graph, node, "Div");
}

static int lower_squared_difference(struct graph* graph, struct node* node)
{
    emitter_t emit = start_emitting(graph, node);
    struct tensor* difference =
        emit_pair(&emit, "Sub", get_operand(&emit, 0), get_operand(&emit, 1));
    return finish_emitting(&emit, 1, emit_tm_function(&emit, "Square", difference));
}

// ---- division with rounding towards minus infinity ----

// ONNX truncates quotients of integers: one is too large where there is a remainder and the signs
// differ, and then Mod, whose sign is the divisor's, is what is missing.
static struct tensor* emit_floor_div(emitter_t* emit, struct tensor* x, struct tensor* y)
{
    if (is_float(x)) return emit_op(emit, "Floor", 1, emit_pair(emit, "Div", x, y));
    struct tensor* remainder = emit_pair(emit, "Mod", x, y);
    return emit_pair(emit, "Div", emit_pair(emit, "Sub", x, remainder), y);
}

static int lower_floor_div(struct graph* graph, struct node* node)
{
    emitter_t emit = start_emitting(graph, node);
    return finish_emitting(&emit, 1,
                           emit_floor_div(&emit, get_operand(&emit, 0), get_operand(&emit, 1)));
}

static int lower_floor_mod(struct graph* graph, struct node* node)
{
    emitter_t emit = start_emitting(graph, node);
    struct tensor *x = get_operand(&emit, 0), *y = get_operand(&emit, 1);
    if (!is_float(x)) return finish_emitting(&emit, 1, emit_pair(&emit, "Mod", x, y));
    // The remainder of a truncated quotient has the sign of x.
    begin_op(&emit, "Mod", 2, x, y);
    emit_attr_int(&emit, "fmod", 1);
    struct tensor* remainder = end_op(&emit);
    struct tensor* zero = emit_number(&emit, 0, x);
    struct tensor* differs =
        emit_pair(&emit, "Less",
                  emit_op(&emit, "Mul", 2, emit_op(&emit, "Sign", 1, remainder),
                          emit_op(&emit, "Sign", 1, y)),
                  zero);
    struct tensor* raised = emit_pair(&emit, "Add", remainder, y);
    return finish_emitting(&emit, 1, emit_op(&emit, "Where", 3, differs, raised, remainder));
}

// An arithmetic shift is a division by a power of two that rounds down.
static int lower_right_shift(struct graph* graph, struct node* node)
{
    emitter_t emit = start_emitting(graph, node);
    struct tensor *x = get_operand(&emit, 0), *places = get_operand(&emit, 1);
    struct tensor* wide = emit_cast(&emit, x, TENGINE_DT_INT64);
    struct tensor* divisor =
        emit_pair(&emit, "Pow", emit_int(&emit, 2), emit_cast(&emit, places, TENGINE_DT_INT64));
    struct tensor* quotient = emit_floor_div(&emit, wide, divisor);
    return finish_emitting(&emit, 1, emit_cast(&emit, quotient, x->data_type));
}

// ---- others ----

static int lower_not_equal(struct graph* graph, struct node* node)
{
    emitter_t emit = start_emitting(graph, node);
    struct tensor* equal = emit_pair(&emit, "Equal", get_operand(&emit, 0), get_operand(&emit, 1));
    return finish_emitting(&emit, 1, emit_op(&emit, "Not", 1, equal));
}

#define PI 3.14159274f

// atan(y / x) in the right half of the plane, half a turn more or less in the left one. On the axis
// between them the quotient is infinite, and 0 / 0 is 0 where x is not negative.
static int lower_atan2(struct graph* graph, struct node* node)
{
    emitter_t emit = start_emitting(graph, node);
    struct tensor *y = get_operand(&emit, 0), *x = get_operand(&emit, 1);
    struct tensor* zero = emit_number(&emit, 0, y);
    struct tensor* is_zero = emit_op(&emit, "Equal", 2, y, zero);
    struct tensor* angle = emit_op(&emit, "Atan", 1, emit_pair(&emit, "Div", y, x));
    angle = emit_op(&emit, "Where", 3, is_zero, zero, angle);
    struct tensor* half = emit_op(&emit, "Where", 3, emit_pair(&emit, "Less", y, zero),
                                  emit_number(&emit, -PI, y), emit_number(&emit, PI, y));
    struct tensor* is_left = emit_pair(&emit, "Less", x, zero);
    struct tensor* turned = emit_pair(&emit, "Add", angle, half);
    return finish_emitting(&emit, 1, emit_op(&emit, "Where", 3, is_left, turned, angle));
}

// A condition of rank 1 chooses rows of operands of a higher rank.
static int lower_select(struct graph* graph, struct node* node)
{
    emitter_t emit = start_emitting(graph, node);
    struct tensor *condition = get_operand(&emit, 0), *x = get_operand(&emit, 1);
    if (condition->dim_num == 1 && x->dim_num > 1) {
        int64_t dims[MAX_SHAPE_DIM_NUM] = {condition->dims[0]};
        for (int i = 1; i < x->dim_num; ++i)
            dims[i] = 1;
        condition = emit_reshape(&emit, condition, dims, x->dim_num);
    }
    return finish_emitting(&emit, 1,
                           emit_op(&emit, "Where", 3, condition, x, get_operand(&emit, 2)));
}

#define WITH_ACTIVATION                                \
    TFL_COUNTS(2, 2, 1), OP_FIELDS(activation_fields), \
        .param_size = sizeof(struct tfl_activation_param)

static const ir_method_t* const rows[] = {
    SHAPELESS_ROW(ADD, 0, TFL_COUNTS(2, 2, 1), TFL_PARAMS(sum), .lower = lower_add),
    SHAPELESS_ROW(SUB, 41, TFL_COUNTS(2, 2, 1), TFL_PARAMS(sum), .lower = lower_sub),
    SHAPELESS_ROW(MUL, 18, WITH_ACTIVATION, .lower = lower_mul),
    SHAPELESS_ROW(DIV, 42, WITH_ACTIVATION, .lower = lower_div),
    SHAPELESS_ROW(ADD_N, 106, TFL_COUNTS(1, -1, 1), .lower = lower_add_n),
    SHAPELESS_ROW(ATAN2, 156, TFL_COUNTS(2, 2, 1), .lower = lower_atan2),
    SHAPELESS_ROW(BITWISE_XOR, 160, TFL_COUNTS(2, 2, 1), .lower = lower_xor),
    SHAPELESS_ROW(EQUAL, 71, TFL_COUNTS(2, 2, 1), .lower = lower_equal),
    SHAPELESS_ROW(FLOOR_DIV, 90, TFL_COUNTS(2, 2, 1), .lower = lower_floor_div),
    SHAPELESS_ROW(FLOOR_MOD, 95, TFL_COUNTS(2, 2, 1), .lower = lower_floor_mod),
    SHAPELESS_ROW(GREATER, 61, TFL_COUNTS(2, 2, 1), .lower = lower_greater),
    SHAPELESS_ROW(GREATER_EQUAL, 62, TFL_COUNTS(2, 2, 1), .lower = lower_greater_equal),
    SHAPELESS_ROW(LESS, 58, TFL_COUNTS(2, 2, 1), .lower = lower_less),
    SHAPELESS_ROW(LESS_EQUAL, 63, TFL_COUNTS(2, 2, 1), .lower = lower_less_equal),
    SHAPELESS_ROW(LOGICAL_AND, 86, TFL_COUNTS(2, 2, 1), .lower = lower_and),
    SHAPELESS_ROW(LOGICAL_OR, 84, TFL_COUNTS(2, 2, 1), .lower = lower_or),
    SHAPELESS_ROW(MAXIMUM, 55, TFL_COUNTS(2, 2, 1), .lower = lower_maximum),
    SHAPELESS_ROW(MINIMUM, 57, TFL_COUNTS(2, 2, 1), .lower = lower_minimum),
    SHAPELESS_ROW(NOT_EQUAL, 72, TFL_COUNTS(2, 2, 1), .lower = lower_not_equal),
    SHAPELESS_ROW(POW, 78, TFL_COUNTS(2, 2, 1), .lower = lower_pow),
    SHAPELESS_ROW(RIGHT_SHIFT, 161, TFL_COUNTS(2, 2, 1), .lower = lower_right_shift),
    TFLITE_ROW(SELECT, 64, TFL_COUNTS(3, 3, 1), .lower = lower_select),
    SHAPELESS_ROW(SELECT_V2, 123, TFL_COUNTS(3, 3, 1), .lower = lower_select_v2),
    SHAPELESS_ROW(SQUARED_DIFFERENCE, 99, TFL_COUNTS(2, 2, 1), .lower = lower_squared_difference),
};

OPERATOR_TABLE(tflite_binary_ops, rows);
