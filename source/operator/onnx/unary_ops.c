// SPDX-License-Identifier: Apache-2.0
// Element-wise operators with one input and without parameters: functions, roundings, logic.
// Activations with parameters are in activation_ops.c.
#include "operator/infer.h"
#include "operator/onnx/unary_param.h"
#include "operator/row.h"
#include "operator/type_set.h"

#define UNARY(...) .min_input = 1, .max_input = 1, .min_output = 1, .max_output = 1, __VA_ARGS__

static int infer_predicate(struct node* node)
{
    return set_node_output_like(node, 0, get_ir_node_input(node, 0), TENGINE_DT_BOOL);
}

static int infer_float_predicate(struct node* node)
{
    TENGINE_RETURN_IF_ERROR(require_type(node, 0, TYPES_FLOAT | TYPES_FLOAT8));
    return infer_predicate(node);
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

static const ir_method_t* const rows[] = {
    OP_ROW(Abs, UNARY(.version = 6)),
    OP_ROW(Acos, UNARY(.version = 7)),
    OP_ROW(Acosh, UNARY(.version = 9)),
    OP_ROW(Asin, UNARY(.version = 7)),
    OP_ROW(Asinh, UNARY(.version = 9)),
    OP_ROW(Atan, UNARY(.version = 7)),
    OP_ROW(Atanh, UNARY(.version = 9)),
    OP_ROW(BitwiseNot, UNARY(.version = 18)),
    OP_ROW(Ceil, UNARY(.version = 6)),
    OP_ROW(Cos, UNARY(.version = 7)),
    OP_ROW(Cosh, UNARY(.version = 9)),
    OP_ROW(Erf, UNARY(.version = 9)),
    OP_ROW(Exp, UNARY(.version = 6)),
    OP_ROW(Floor, UNARY(.version = 6)),
    OP_ROW(HardSwish, UNARY(.version = 14)),
    OP_ROW(IsInf, UNARY(.version = 10, .traits = OP_TAKES_SMALL,
                        .infer_shape = infer_float_predicate, .types = "bool",
                        OP_FIELDS(is_inf_fields), .param_size = sizeof(struct is_inf_param))),
    OP_ROW(IsNaN, UNARY(.version = 9, .traits = OP_TAKES_SMALL,
                        .infer_shape = infer_float_predicate, .types = "bool")),
    OP_ROW(Log, UNARY(.version = 6)),
    OP_ROW(Mish, UNARY(.version = 18)),
    OP_ROW(Neg, UNARY(.version = 6)),
    OP_ROW(Not, UNARY(.version = 1, .infer_shape = infer_not, .types = "bool")),
    OP_ROW(Reciprocal, UNARY(.version = 6)),
    OP_ROW(Relu, UNARY(.version = 6)),
    OP_ROW(Round, UNARY(.version = 11)),
    OP_ROW(Sigmoid, UNARY(.version = 6)),
    OP_ROW(Sign, UNARY(.version = 9)),
    OP_ROW(Sin, UNARY(.version = 7)),
    OP_ROW(Sinh, UNARY(.version = 9)),
    OP_ROW(Softplus, UNARY(.version = 1)),
    OP_ROW(Softsign, UNARY(.version = 1)),
    OP_ROW(Sqrt, UNARY(.version = 6)),
    OP_ROW(Tan, UNARY(.version = 7)),
    OP_ROW(Tanh, UNARY(.version = 6)),
};

OPERATOR_TABLE(unary_ops, rows);
