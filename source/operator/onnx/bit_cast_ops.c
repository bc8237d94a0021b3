// SPDX-License-Identifier: Apache-2.0
// BitCast: reinterprets the bits as elements of another type. Kernel:
// device/cpu/reference/vector/bit_cast.cc.
#include "operator/infer.h"
#include "operator/onnx/cast_param.h"
#include "operator/onnx_type.h"
#include "operator/row.h"

static int infer_bit_cast(struct node* node)
{
    const struct cast_param* param = node->op.param_mem;
    const struct tensor* input = get_ir_node_input(node, 0);
    const int type = get_data_type_of_onnx(param->to);
    if (type < 0 || type == TENGINE_DT_STRING)
        return fail_node(node, TENGINE_EDTYPE, "to is %d (%s), which is not supported", param->to,
                         get_onnx_type_name(param->to));
    if (get_data_type_bits(type) != get_data_type_bits(input->data_type))
        return fail_node(node, TENGINE_EDTYPE,
                         "elements of %s have %d bits, those of %s %d: expected as many",
                         get_data_type_name(input->data_type), get_data_type_bits(input->data_type),
                         get_data_type_name(type), get_data_type_bits(type));
    return set_node_output_like(node, 0, input, type);
}

static const op_field_t bit_cast_fields[] = {
    OP_FIELD(struct cast_param, INT, to, .required = 1),
};

static const ir_method_t* const rows[] = {
    OP_ROW(BitCast, .version = 26, .min_input = 1, .max_input = 1, .min_output = 1, .max_output = 1,
           OP_FIELDS(bit_cast_fields), .param_size = sizeof(struct cast_param),
           .traits = OP_TAKES_SMALL, .infer_shape = infer_bit_cast, .types = "@to"),
};

OPERATOR_TABLE(bit_cast_ops, rows);
