// SPDX-License-Identifier: Apache-2.0
// BitCast: reinterprets the bits as elements of another type; Tengine's takes elements of other
// sizes, too. Kernel: device/cpu/reference/vector/bit_cast.cc.
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

// An element that is several of the other type becomes a last axis, and the reverse.
static int infer_sized_bit_cast(struct node* node)
{
    const struct cast_param* param = node->op.param_mem;
    const struct tensor* input = get_ir_node_input(node, 0);
    const int type = get_data_type_of_onnx(param->to);
    const int bits = get_data_type_bits(input->data_type);
    const int result_bits = type < 0 ? 0 : get_data_type_bits(type);
    if (bits < 8 || result_bits < 8 || type == TENGINE_DT_STRING)
        return fail_node(node, TENGINE_EDTYPE, "%s to %s (%d) is not supported",
                         get_data_type_name(input->data_type), get_onnx_type_name(param->to),
                         param->to);
    int64_t dims[MAX_SHAPE_DIM_NUM + 1];
    int rank = input->dim_num;
    for (int i = 0; i < rank; ++i)
        dims[i] = input->dims[i];
    if (bits > result_bits) dims[rank++] = bits / result_bits;
    if (bits < result_bits) {
        const int needed = result_bits / bits;
        if (rank == 0 || dims[rank - 1] != needed)
            return fail_node(node, TENGINE_EINVAL,
                             "%s to %s needs a last axis of %d elements, the input has rank %d",
                             get_data_type_name(input->data_type), get_data_type_name(type), needed,
                             rank);
        --rank;
    }
    return set_node_output(node, 0, type, dims, rank);
}

static const op_field_t bit_cast_fields[] = {
    OP_FIELD(struct cast_param, INT, to, .required = 1),
};

static const ir_method_t* const rows[] = {
    OP_ROW(BitCast, .version = 26, .min_input = 1, .max_input = 1, .min_output = 1, .max_output = 1,
           OP_FIELDS(bit_cast_fields), .param_size = sizeof(struct cast_param),
           .traits = OP_TAKES_SMALL, .infer_shape = infer_bit_cast, .types = "@to"),
    OWN_ROW(BitCast, .version = 1, .until = 1, .min_input = 1, .max_input = 1, .min_output = 1,
            .max_output = 1, OP_FIELDS(bit_cast_fields), .param_size = sizeof(struct cast_param),
            .traits = OP_TAKES_COMPLEX, .infer_shape = infer_sized_bit_cast, .types = "@to"),
};

OPERATOR_TABLE(bit_cast_ops, rows);
