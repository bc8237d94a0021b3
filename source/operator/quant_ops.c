// SPDX-License-Identifier: Apache-2.0
// QuantizeLinear, DequantizeLinear, DynamicQuantizeLinear. Kernels: device/cpu/reference/quant.cc.
// 8-bit and 4-bit floats, blocks (block_size) and output_dtype are not supported.
#include "operator/infer.h"
#include "operator/quant_param.h"
#include "operator/type_set.h"

#define TYPES_QUANTIZED (TYPES_BYTE | TYPE_BIT(INT16) | TYPE_BIT(UINT16))

static const op_field_t quantize_fields[] = {
    OP_FIELD(struct quant_param, INT, axis, .number = 1, .since = 13),
    OP_FIELD(struct quant_param, INT, saturate, .number = 1, .since = 19),
};
static const op_field_t dequantize_fields[] = {
    OP_FIELD(struct quant_param, INT, axis, .number = 1, .since = 13),
};

// The scale is one value, or a list with one for each slice of the axis; the zero point likewise.
static int check_scale(const struct node* node)
{
    const struct quant_param* param = node->op.param_mem;
    const struct tensor* input = get_ir_node_input(node, 0);
    const struct tensor* scale = get_ir_node_input(node, 1);
    const struct tensor* zero_point = get_ir_node_input(node, 2);
    if (zero_point && zero_point->elem_num != scale->elem_num)
        return fail_node(node, TENGINE_EINVAL, "%lld zero points for %lld scales",
                         (long long)zero_point->elem_num, (long long)scale->elem_num);
    if (scale->dim_num <= 1 && scale->elem_num == 1) return TENGINE_OK;
    int axis;
    TENGINE_RETURN_IF_ERROR(normalize_axis(node, param->axis, input->dim_num, &axis));
    if (scale->dim_num == 1 && scale->dims[0] == input->dims[axis]) return TENGINE_OK;
    return fail_node(node, TENGINE_EINVAL, "scale has rank %d and %lld values, 1 or %d expected",
                     scale->dim_num, (long long)scale->elem_num, input->dims[axis]);
}

static int infer_quantize(struct node* node)
{
    const struct tensor* zero_point = get_ir_node_input(node, 2);
    TENGINE_RETURN_IF_ERROR(require_type(node, 0, TYPES_FLOAT | TYPE_BIT(INT32)));
    TENGINE_RETURN_IF_ERROR(require_type(node, 1, TYPES_FLOAT));
    TENGINE_RETURN_IF_ERROR(require_type(node, 2, TYPES_QUANTIZED));
    TENGINE_RETURN_IF_ERROR(check_scale(node));
    return set_node_output_like(node, 0, get_ir_node_input(node, 0),
                                zero_point ? zero_point->data_type : TENGINE_DT_UINT8);
}

static int infer_dequantize(struct node* node)
{
    const struct tensor* input = get_ir_node_input(node, 0);
    TENGINE_RETURN_IF_ERROR(require_type(node, 0, TYPES_QUANTIZED | TYPE_BIT(INT32)));
    TENGINE_RETURN_IF_ERROR(require_type(node, 1, TYPES_FLOAT));
    TENGINE_RETURN_IF_ERROR(require_type(node, 2, UINT32_C(1) << input->data_type));
    TENGINE_RETURN_IF_ERROR(check_scale(node));
    return set_node_output_like(node, 0, input, get_ir_node_input(node, 1)->data_type);
}

static int infer_dynamic_quantize(struct node* node)
{
    TENGINE_RETURN_IF_ERROR(require_type(node, 0, TYPE_BIT(FP32)));
    TENGINE_RETURN_IF_ERROR(set_node_output(node, 1, TENGINE_DT_FP32, NULL, 0));
    TENGINE_RETURN_IF_ERROR(set_node_output(node, 2, TENGINE_DT_UINT8, NULL, 0));
    return set_node_output_like(node, 0, get_ir_node_input(node, 0), TENGINE_DT_UINT8);
}

static const ir_method_t* const rows[] = {
    OP_ROW(QuantizeLinear, .version = 10, .min_input = 2, .max_input = 3, .min_output = 1,
           .max_output = 1, OP_FIELDS(quantize_fields), .param_size = sizeof(struct quant_param),
           .infer_shape = infer_quantize),
    OP_ROW(DequantizeLinear, .version = 10, .min_input = 2, .max_input = 3, .min_output = 1,
           .max_output = 1, OP_FIELDS(dequantize_fields), .param_size = sizeof(struct quant_param),
           .infer_shape = infer_dequantize),
    OP_ROW(DynamicQuantizeLinear, .version = 11, .min_input = 1, .max_input = 1, .min_output = 3,
           .max_output = 3, .infer_shape = infer_dynamic_quantize),
};

OPERATOR_TABLE(quant_ops, rows);
