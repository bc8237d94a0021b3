// SPDX-License-Identifier: Apache-2.0
// Element-wise operators with one input and without tunable shape: functions, roundings, logic.
// Activations that carry parameters are in activation_ops.c.
#include "operator/infer.h"
#include "operator/type_set.h"
#include "operator/unary_param.h"

#define UNARY(op_name, ...)                                                                \
    {                                                                                      \
        .name = op_name, .min_input = 1, .max_input = 1, .min_output = 1, .max_output = 1, \
        __VA_ARGS__                                                                        \
    }

static int infer_predicate(struct node* node)
{
    return set_node_output_like(node, 0, get_ir_node_input(node, 0), TENGINE_DT_BOOL);
}

static int infer_not(struct node* node)
{
    TENGINE_RETURN_IF_ERROR(require_type(node, 0, TYPE_BIT(BOOL)));
    return infer_predicate(node);
}

static const op_field_t is_inf_fields[] = {
    OP_FIELD(struct is_inf_param, INT, detect_negative, .number = 1, .maximum = 1),
    OP_FIELD(struct is_inf_param, INT, detect_positive, .number = 1, .maximum = 1),
};

static const ir_method_t rows[] = {
    UNARY("Abs", .version = 6),
    UNARY("Acos", .version = 7),
    UNARY("Acosh", .version = 9),
    UNARY("Asin", .version = 7),
    UNARY("Asinh", .version = 9),
    UNARY("Atan", .version = 7),
    UNARY("Atanh", .version = 9),
    UNARY("BitwiseNot", .version = 18),
    UNARY("Ceil", .version = 6),
    UNARY("Cos", .version = 7),
    UNARY("Cosh", .version = 9),
    UNARY("Erf", .version = 9),
    UNARY("Exp", .version = 6),
    UNARY("Floor", .version = 6),
    UNARY("HardSwish", .version = 14),
    UNARY("IsInf", .version = 10, .infer_shape = infer_predicate, OP_FIELDS(is_inf_fields),
          .param_size = sizeof(struct is_inf_param)),
    UNARY("IsNaN", .version = 9, .infer_shape = infer_predicate),
    UNARY("Log", .version = 6),
    UNARY("Mish", .version = 18),
    UNARY("Neg", .version = 6),
    UNARY("Not", .version = 1, .infer_shape = infer_not),
    UNARY("Reciprocal", .version = 6),
    UNARY("Relu", .version = 6),
    UNARY("Round", .version = 11),
    UNARY("Sigmoid", .version = 6),
    UNARY("Sign", .version = 9),
    UNARY("Sin", .version = 7),
    UNARY("Sinh", .version = 9),
    UNARY("Softplus", .version = 1),
    UNARY("Softsign", .version = 1),
    UNARY("Sqrt", .version = 6),
    UNARY("Tan", .version = 7),
    UNARY("Tanh", .version = 6),
};

OPERATOR_TABLE(unary_ops, rows);
