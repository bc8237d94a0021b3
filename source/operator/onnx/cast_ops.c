// SPDX-License-Identifier: Apache-2.0
// Conversion of element types: Cast and CastLike.
#include "operator/infer.h"
#include "operator/onnx/cast_param.h"
#include "operator/onnx_type.h"
#include "operator/row.h"

static int infer_cast(struct node* node)
{
    const struct cast_param* param = node->op.param_mem;
    const int data_type = get_data_type_of_onnx(param->to);
    if (data_type < 0) {
        return fail_node(node, TENGINE_EDTYPE,
                         "to is %d (%s), which is not supported: expected bool, an integer of 2 to "
                         "64 bits or a float of 4 to 64 bits",
                         param->to, get_onnx_type_name(param->to));
    }
    return set_node_output_like(node, 0, get_ir_node_input(node, 0), data_type);
}

static int infer_cast_like(struct node* node)
{
    return set_node_output_like(node, 0, get_ir_node_input(node, 0),
                                get_ir_node_input(node, 1)->data_type);
}

#define SATURATE_FIELD \
    OP_FIELD(struct cast_param, INT, saturate, .number = 1, .maximum = 1, .since = 19)
#define ROUND_MODE_FIELD                                                                        \
    OP_FIELD(struct cast_param, STRING, round_mode, .text = "up", .choices = "up|down|nearest", \
             .since = 24)
static const op_field_t cast_fields[] = {
    OP_FIELD(struct cast_param, INT, to, .required = 1),
    SATURATE_FIELD,
    ROUND_MODE_FIELD,
};
static const op_field_t cast_like_fields[] = {SATURATE_FIELD, ROUND_MODE_FIELD};

static const ir_method_t* const rows[] = {
    OP_ROW(Cast, .version = 6, .min_input = 1, .max_input = 1, .min_output = 1, .max_output = 1,
           OP_FIELDS(cast_fields), .param_size = sizeof(struct cast_param),
           .traits = OP_TAKES_SMALL | OP_TAKES_STRINGS, .infer_shape = infer_cast, .types = "@to"),
    OP_ROW(CastLike, .version = 15, .min_input = 2, .max_input = 2, .min_output = 1,
           .max_output = 1, OP_FIELDS(cast_like_fields), .param_size = sizeof(struct cast_param),
           .traits = OP_TAKES_SMALL | OP_TAKES_STRINGS, .infer_shape = infer_cast_like,
           .types = "1"),
};

OPERATOR_TABLE(cast_ops, rows);
