// SPDX-License-Identifier: Apache-2.0
// Element-wise operators with two or more inputs, all with numpy's broadcasting: arithmetic, bits,
// comparison, logic, Min Max Sum Mean, Where.
#include "operator/binary_param.h"
#include "operator/infer.h"
#include "operator/legacy.h"
#include "operator/type_set.h"

static int infer_broadcast(struct node* node, int data_type)
{
    int64_t dims[MAX_SHAPE_DIM_NUM];
    int dim_num = 0;
    for (int i = 0; i < node->input_num; ++i) {
        TENGINE_RETURN_IF_ERROR(broadcast_with(node, dims, &dim_num, get_ir_node_input(node, i)));
    }
    return set_node_output(node, 0, data_type, dims, dim_num);
}

// All inputs and the output have one type.
static int infer_arithmetic(struct node* node)
{
    TENGINE_RETURN_IF_ERROR(require_same_types(node, 0, node->input_num - 1));
    return infer_broadcast(node, get_ir_node_input(node, 0)->data_type);
}

// The exponent has a type of its own.
static int infer_pow(struct node* node)
{
    return infer_broadcast(node, get_ir_node_input(node, 0)->data_type);
}

static int infer_comparison(struct node* node)
{
    TENGINE_RETURN_IF_ERROR(require_same_types(node, 0, 1));
    return infer_broadcast(node, TENGINE_DT_BOOL);
}

static int infer_logic(struct node* node)
{
    TENGINE_RETURN_IF_ERROR(require_type(node, 0, TYPE_BIT(BOOL)));
    TENGINE_RETURN_IF_ERROR(require_type(node, 1, TYPE_BIT(BOOL)));
    return infer_broadcast(node, TENGINE_DT_BOOL);
}

// Floats have the remainder of C only.
static int infer_mod(struct node* node)
{
    const struct mod_param* param = node->op.param_mem;
    const uint32_t types = param->fmod ? TYPES_NUMBER : TYPES_NUMBER & ~TYPES_FLOAT;
    TENGINE_RETURN_IF_ERROR(require_type(node, 0, types));
    return infer_arithmetic(node);
}

static int infer_where(struct node* node)
{
    TENGINE_RETURN_IF_ERROR(require_type(node, 0, TYPE_BIT(BOOL)));
    TENGINE_RETURN_IF_ERROR(require_same_types(node, 1, 2));
    return infer_broadcast(node, get_ir_node_input(node, 1)->data_type);
}

static int lower_broadcast(struct graph* graph, struct node* node)
{
    const struct legacy_broadcast_param* param = node->op.param_mem;
    if (param->broadcast && param->axis >= 0) {
        TENGINE_RETURN_IF_ERROR(align_second_input(graph, node, param->axis));
    }
    return change_node_method(node, get_ir_node_op(node));
}

static const op_field_t mod_fields[] = {
    OP_FIELD(struct mod_param, INT, fmod, .maximum = 1),
};
static const op_field_t bit_shift_fields[] = {
    OP_FIELD(struct bit_shift_param, STRING, direction, .required = 1, .choices = "LEFT|RIGHT"),
};
static const op_field_t legacy_broadcast_fields[] = {
    OP_FIELD(struct legacy_broadcast_param, INT, broadcast, .maximum = 1),
    OP_FIELD(struct legacy_broadcast_param, INT, axis, .number = -1),
    OP_FIELD(struct legacy_broadcast_param, INTS, consumed_inputs, .until = 5),
};

#define BINARY(op_name, ...)                                                               \
    {                                                                                      \
        .name = op_name, .min_input = 2, .max_input = 2, .min_output = 1, .max_output = 1, \
        __VA_ARGS__                                                                        \
    }
#define LEGACY(op_name)                                                              \
    BINARY(op_name, .version = 1, .until = 6, OP_FIELDS(legacy_broadcast_fields),    \
           .param_size = sizeof(struct legacy_broadcast_param), .traits = OP_LEGACY, \
           .lower = lower_broadcast)
#define VARIADIC(op_name)                                                                \
    {                                                                                    \
        .name = op_name, .version = 6, .min_input = 1, .max_input = -1, .min_output = 1, \
        .max_output = 1, .infer_shape = infer_arithmetic                                 \
    }

static const ir_method_t rows[] = {
    LEGACY("Add"),
    BINARY("Add", .version = 7, .infer_shape = infer_arithmetic),
    LEGACY("And"),
    BINARY("And", .version = 7, .infer_shape = infer_logic),
    BINARY("BitShift", .version = 11, .infer_shape = infer_arithmetic, OP_FIELDS(bit_shift_fields),
           .param_size = sizeof(struct bit_shift_param)),
    BINARY("BitwiseAnd", .version = 18, .infer_shape = infer_arithmetic),
    BINARY("BitwiseOr", .version = 18, .infer_shape = infer_arithmetic),
    BINARY("BitwiseXor", .version = 18, .infer_shape = infer_arithmetic),
    LEGACY("Div"),
    BINARY("Div", .version = 7, .infer_shape = infer_arithmetic),
    LEGACY("Equal"),
    BINARY("Equal", .version = 7, .infer_shape = infer_comparison),
    LEGACY("Greater"),
    BINARY("Greater", .version = 7, .infer_shape = infer_comparison),
    BINARY("GreaterOrEqual", .version = 12, .infer_shape = infer_comparison),
    LEGACY("Less"),
    BINARY("Less", .version = 7, .infer_shape = infer_comparison),
    BINARY("LessOrEqual", .version = 12, .infer_shape = infer_comparison),
    VARIADIC("Max"),
    VARIADIC("Mean"),
    VARIADIC("Min"),
    BINARY("Mod", .version = 10, .infer_shape = infer_mod, OP_FIELDS(mod_fields),
           .param_size = sizeof(struct mod_param)),
    LEGACY("Mul"),
    BINARY("Mul", .version = 7, .infer_shape = infer_arithmetic),
    LEGACY("Or"),
    BINARY("Or", .version = 7, .infer_shape = infer_logic),
    LEGACY("Pow"),
    BINARY("Pow", .version = 7, .infer_shape = infer_pow),
    LEGACY("Sub"),
    BINARY("Sub", .version = 7, .infer_shape = infer_arithmetic),
    VARIADIC("Sum"),
    {.name = "Where",
     .version = 9,
     .min_input = 3,
     .max_input = 3,
     .min_output = 1,
     .max_output = 1,
     .infer_shape = infer_where},
    LEGACY("Xor"),
    BINARY("Xor", .version = 7, .infer_shape = infer_logic),
};

OPERATOR_TABLE(binary_ops, rows);
