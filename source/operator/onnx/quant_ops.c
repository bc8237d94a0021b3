// SPDX-License-Identifier: Apache-2.0
// QuantizeLinear, DequantizeLinear, DynamicQuantizeLinear. Kernels:
// device/cpu/reference/vector/quant.cc.
#include "operator/infer.h"
#include "operator/onnx/quant_param.h"
#include "operator/onnx_type.h"
#include "operator/row.h"
#include "operator/type_set.h"

#define TYPES_QUANTIZED                                                                \
    (TYPES_BYTE | TYPE_BIT(INT16) | TYPE_BIT(UINT16) | TYPES_FEW_BITS | TYPES_FLOAT8 | \
     TYPE_BIT(FLOAT4E2M1))
#define TYPES_SCALE (TYPES_FLOAT | TYPE_BIT(FLOAT8E8M0))

#define AXIS_FIELD OP_FIELD(struct quant_param, INT, axis, .number = 1, .since = 13)
#define BLOCK_SIZE_FIELD \
    OP_FIELD(struct quant_param, INT, block_size, .minimum = 0, .maximum = INT32_MAX, .since = 21)

static const op_field_t quantize_fields[] = {
    AXIS_FIELD,
    BLOCK_SIZE_FIELD,
    OP_FIELD(struct quant_param, INT, output_dtype, .number = 0, .since = 21),
    OP_FIELD(struct quant_param, INT, precision, .number = 0, .since = 23),
    OP_FIELD(struct quant_param, INT, saturate, .number = 1, .since = 19),
};
static const op_field_t dequantize_fields[] = {
    AXIS_FIELD,
    BLOCK_SIZE_FIELD,
    OP_FIELD(struct quant_param, INT, output_dtype, .number = 0, .since = 23),
};

// Checks for one scale per block: the input's shape, divided along the axis.
static int check_blocks(const struct node* node, int axis)
{
    const struct quant_param* param = node->op.param_mem;
    const struct tensor* input = get_ir_node_input(node, 0);
    const struct tensor* scale = get_ir_node_input(node, 1);
    bool fits = scale->dim_num == input->dim_num;
    for (int i = 0; fits && i < input->dim_num; ++i) {
        const int64_t blocks =
            ((int64_t)input->dims[i] + param->block_size - 1) / param->block_size;
        fits = scale->dims[i] == (i == axis ? blocks : input->dims[i]);
    }
    if (fits) return TENGINE_OK;
    return fail_node(node, TENGINE_EINVAL,
                     "scale has rank %d and %lld values, expected the input's shape with "
                     "blocks of %d along axis %d",
                     scale->dim_num, (long long)scale->elem_num, param->block_size, axis);
}

// The scale is one value, a list with one for each slice of the axis, or one for each block; the
// zero point has the same shape.
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
    if (param->block_size > 0) return check_blocks(node, axis);
    if (scale->dim_num == 1 && scale->dims[0] == input->dims[axis]) return TENGINE_OK;
    return fail_node(node, TENGINE_EINVAL, "scale has rank %d and %lld values, expected 1 or %d",
                     scale->dim_num, (long long)scale->elem_num, input->dims[axis]);
}

// Returns the type that an attribute names, one of `types`; `otherwise` if it names none.
static int find_named_type(const struct node* node, const char* name, int onnx_type, uint32_t types,
                           int otherwise, int* out_type)
{
    *out_type = onnx_type == 0 ? otherwise : get_data_type_of_onnx(onnx_type);
    if (*out_type >= 0 && (types >> *out_type & 1u)) return TENGINE_OK;
    return fail_node(node, TENGINE_EDTYPE, "%s is %d (%s), which is not supported", name, onnx_type,
                     get_onnx_type_name(onnx_type));
}

static int infer_quantize(struct node* node)
{
    const struct quant_param* param = node->op.param_mem;
    const struct tensor* zero_point = get_ir_node_input(node, 2);
    int type, precision;
    TENGINE_RETURN_IF_ERROR(require_type(node, 0, TYPES_FLOAT | TYPE_BIT(INT32)));
    TENGINE_RETURN_IF_ERROR(require_type(node, 1, TYPES_SCALE));
    TENGINE_RETURN_IF_ERROR(require_type(node, 2, TYPES_QUANTIZED));
    TENGINE_RETURN_IF_ERROR(check_scale(node));
    TENGINE_RETURN_IF_ERROR(
        find_named_type(node, "output_dtype", param->output_dtype, TYPES_QUANTIZED,
                        zero_point ? zero_point->data_type : TENGINE_DT_UINT8, &type));
    TENGINE_RETURN_IF_ERROR(find_named_type(node, "precision", param->precision,
                                            TYPES_FLOAT & ~TYPE_BIT(FP64), TENGINE_DT_FP32,
                                            &precision));
    if (zero_point && zero_point->data_type != type)
        return fail_node(node, TENGINE_EDTYPE, "output_dtype is %s, the zero point is %s",
                         get_data_type_name(type), get_data_type_name(zero_point->data_type));
    return set_node_output_like(node, 0, get_ir_node_input(node, 0), type);
}

static int infer_dequantize(struct node* node)
{
    const struct quant_param* param = node->op.param_mem;
    const struct tensor* input = get_ir_node_input(node, 0);
    int type;
    TENGINE_RETURN_IF_ERROR(require_type(node, 0, TYPES_QUANTIZED | TYPE_BIT(INT32)));
    TENGINE_RETURN_IF_ERROR(require_type(node, 1, TYPES_SCALE));
    TENGINE_RETURN_IF_ERROR(require_type(node, 2, UINT32_C(1) << input->data_type));
    TENGINE_RETURN_IF_ERROR(check_scale(node));
    const int scale_type = get_ir_node_input(node, 1)->data_type;
    if (param->output_dtype == 0 && scale_type == TENGINE_DT_FLOAT8E8M0)
        return fail_node(node, TENGINE_EDTYPE, "output_dtype is missing: the scale is %s",
                         get_data_type_name(scale_type));
    TENGINE_RETURN_IF_ERROR(
        find_named_type(node, "output_dtype", param->output_dtype, TYPES_FLOAT, scale_type, &type));
    return set_node_output_like(node, 0, input, type);
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
           .traits = OP_TAKES_SMALL, .infer_shape = infer_quantize,
           .types = "2|@output_dtype|uint8"),
    OP_ROW(DequantizeLinear, .version = 10, .min_input = 2, .max_input = 3, .min_output = 1,
           .max_output = 1, OP_FIELDS(dequantize_fields), .param_size = sizeof(struct quant_param),
           .traits = OP_TAKES_SMALL, .infer_shape = infer_dequantize, .types = "@output_dtype|1"),
    OP_ROW(DynamicQuantizeLinear, .version = 11, .min_input = 1, .max_input = 1, .min_output = 3,
           .max_output = 3, .infer_shape = infer_dynamic_quantize, .types = "uint8 fp32 uint8"),
};

OPERATOR_TABLE(quant_ops, rows);
