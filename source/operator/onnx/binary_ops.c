// SPDX-License-Identifier: Apache-2.0
// Element-wise operators with two or more inputs, all with numpy's broadcasting: arithmetic, bits,
// comparison, logic, Min Max Sum Mean, Where.
#include "operator/infer.h"
#include "operator/onnx/binary_param.h"
#include "operator/onnx/legacy.h"
#include "operator/row.h"
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

// Floats support the remainder of C only.
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

#define BINARY(...) .min_input = 2, .max_input = 2, .min_output = 1, .max_output = 1, __VA_ARGS__
#define LEGACY                                                                       \
    BINARY(.version = 1, .until = 6, OP_FIELDS(legacy_broadcast_fields),             \
           .param_size = sizeof(struct legacy_broadcast_param), .traits = OP_LEGACY, \
           .lower = lower_broadcast)
#define VARIADIC                                                                     \
    .version = 6, .min_input = 1, .max_input = -1, .min_output = 1, .max_output = 1, \
    .infer_shape = infer_arithmetic

static const ir_method_t* const rows[] = {
    OP_ROW(Add, LEGACY),
    OP_ROW(Add, BINARY(.version = 7, .infer_shape = infer_arithmetic)),
    OP_ROW(And, LEGACY),
    OP_ROW(And, BINARY(.version = 7, .infer_shape = infer_logic, .types = "bool")),
    OP_ROW(BitShift,
           BINARY(.version = 11, .infer_shape = infer_arithmetic, OP_FIELDS(bit_shift_fields),
                  .param_size = sizeof(struct bit_shift_param))),
    OP_ROW(BitwiseAnd, BINARY(.version = 18, .infer_shape = infer_arithmetic)),
    OP_ROW(BitwiseOr, BINARY(.version = 18, .infer_shape = infer_arithmetic)),
    OP_ROW(BitwiseXor, BINARY(.version = 18, .infer_shape = infer_arithmetic)),
    OP_ROW(Div, LEGACY),
    OP_ROW(Div, BINARY(.version = 7, .infer_shape = infer_arithmetic)),
    OP_ROW(Equal, LEGACY),
    OP_ROW(Equal, BINARY(.version = 7, .traits = OP_TAKES_STRINGS, .infer_shape = infer_comparison,
                         .types = "bool")),
    OP_ROW(Greater, LEGACY),
    OP_ROW(Greater, BINARY(.version = 7, .infer_shape = infer_comparison, .types = "bool")),
    OP_ROW(GreaterOrEqual, BINARY(.version = 12, .infer_shape = infer_comparison, .types = "bool")),
    OP_ROW(Less, LEGACY),
    OP_ROW(Less, BINARY(.version = 7, .infer_shape = infer_comparison, .types = "bool")),
    OP_ROW(LessOrEqual, BINARY(.version = 12, .infer_shape = infer_comparison, .types = "bool")),
    OP_ROW(Max, VARIADIC),
    OP_ROW(Mean, VARIADIC),
    OP_ROW(Min, VARIADIC),
    OP_ROW(Mod, BINARY(.version = 10, .infer_shape = infer_mod, OP_FIELDS(mod_fields),
                       .param_size = sizeof(struct mod_param))),
    OP_ROW(Mul, LEGACY),
    OP_ROW(Mul, BINARY(.version = 7, .infer_shape = infer_arithmetic)),
    OP_ROW(Or, LEGACY),
    OP_ROW(Or, BINARY(.version = 7, .infer_shape = infer_logic, .types = "bool")),
    OP_ROW(Pow, LEGACY),
    OP_ROW(Pow, BINARY(.version = 7, .infer_shape = infer_pow)),
    OP_ROW(Sub, LEGACY),
    OP_ROW(Sub, BINARY(.version = 7, .infer_shape = infer_arithmetic)),
    OP_ROW(Sum, VARIADIC),
    OP_ROW(Where, .version = 9, .min_input = 3, .max_input = 3, .min_output = 1, .max_output = 1,
           .traits = OP_TAKES_STRINGS | OP_TAKES_COMPLEX, .infer_shape = infer_where, .types = "1"),
    OP_ROW(Xor, LEGACY),
    OP_ROW(Xor, BINARY(.version = 7, .infer_shape = infer_logic, .types = "bool")),
};

OPERATOR_TABLE(binary_ops, rows);
