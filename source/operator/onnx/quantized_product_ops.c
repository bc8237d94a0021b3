// SPDX-License-Identifier: Apache-2.0
// Products of com.microsoft with quantised weights and a float result: MatMulNBits, with a scale
// for each block of 16 to 256 weights, MatMulBnb4, with weights from a table, DynamicQuantizeMatMul
// and MatMulIntegerToFloat; and tengine.RowQuantizeMatMul, which is DynamicQuantizeMatMul with a
// scale for each row of A. Neighbours: MatMulInteger in gemm_ops.c, QGemm in qlinear_ops.c.
// Kernels: device/cpu/reference/matmul/matmul_nbits.cc, matmul_bnb4.cc and qlinear_gemm.cc.
#include "operator/infer.h"
#include "operator/onnx/gemm_param.h"
#include "operator/onnx/macs.h"
#include "operator/onnx/quantized.h"
#include "operator/onnx/quantized_product_param.h"
#include "operator/row.h"
#include "operator/type_set.h"

enum nbits_input
{
    NBITS_A,
    NBITS_B,
    NBITS_SCALES,
    NBITS_ZERO_POINTS,
    NBITS_G_IDX,
    NBITS_BIAS
};

static const op_field_t nbits_fields[] = {
    OP_FIELD(struct matmul_nbits_param, INT, K, .required = 1, .minimum = 1, .maximum = INT32_MAX),
    OP_FIELD(struct matmul_nbits_param, INT, N, .required = 1, .minimum = 1, .maximum = INT32_MAX),
    OP_FIELD(struct matmul_nbits_param, INT, bits, .number = 4),
    OP_FIELD(struct matmul_nbits_param, INT, block_size, .required = 1, .minimum = 16,
             .maximum = 256),
    OP_FIELD(struct matmul_nbits_param, INT, accuracy_level, .number = 0, .maximum = 4),
    OP_FIELD(struct matmul_nbits_param, INT, weight_prepacked, .number = 0),
};

void resolve_nbits_shape(const struct node* node, struct nbits_shape* out_shape)
{
    const struct matmul_nbits_param* param = node->op.param_mem;
    out_shape->n = param->N;
    out_shape->k = param->K;
    out_shape->bits = param->bits;
    out_shape->block_size = param->block_size;
    out_shape->blocks = (param->K - 1) / param->block_size + 1;
    out_shape->block_bytes = param->block_size * param->bits / 8;
    out_shape->zero_point_step = (int)(((int64_t)out_shape->blocks * param->bits + 7) / 8);
}

static int check_nbits_param(const struct node* node)
{
    const struct matmul_nbits_param* param = node->op.param_mem;
    if (param->bits != 2 && param->bits != 4 && param->bits != 8)
        return fail_node(node, TENGINE_ENOTSUP, "bits is %d, expected 2, 4 or 8", param->bits);
    if ((param->block_size & (param->block_size - 1)) != 0)
        return fail_node(node, TENGINE_EINVAL, "block_size is %d, expected a power of two",
                         param->block_size);
    if (param->weight_prepacked != 0)
        return fail_node(node, TENGINE_ENOTSUP,
                         "weight_prepacked is %d, expected 0, the layout of the operator's "
                         "description",
                         param->weight_prepacked);
    return TENGINE_OK;
}

// Checks the number of values. An input may be a list where the description has a matrix.
static int check_number(const struct node* node, int index, int64_t expected)
{
    const struct tensor* tensor = get_ir_node_input(node, index);
    if (!tensor || tensor->elem_num == expected) return TENGINE_OK;
    return fail_node(node, TENGINE_EINVAL, "input %d '%s' has %lld values, expected %lld", index,
                     tensor->name, (long long)tensor->elem_num, (long long)expected);
}

static int check_zero_points(const struct node* node, const struct nbits_shape* shape)
{
    const struct tensor* zero_points = get_ir_node_input(node, NBITS_ZERO_POINTS);
    if (!zero_points) return TENGINE_OK;
    const uint32_t type = UINT32_C(1) << get_ir_node_input(node, NBITS_A)->data_type;
    TENGINE_RETURN_IF_ERROR(require_type(node, NBITS_ZERO_POINTS, type | TYPE_BIT(UINT8)));
    const bool is_packed = zero_points->data_type == TENGINE_DT_UINT8;
    return check_number(node, NBITS_ZERO_POINTS,
                        (int64_t)shape->n * (is_packed ? shape->zero_point_step : shape->blocks));
}

static int check_block_indices(const struct node* node, const struct nbits_shape* shape)
{
    const struct tensor* indices = get_ir_node_input(node, NBITS_G_IDX);
    if (!indices) return TENGINE_OK;
    TENGINE_RETURN_IF_ERROR(require_type(node, NBITS_G_IDX, TYPE_BIT(INT32)));
    TENGINE_RETURN_IF_ERROR(check_number(node, NBITS_G_IDX, shape->k));
    if (!indices->data)
        return fail_node(node, TENGINE_ENOTSUP, "g_idx '%s' is not a constant", indices->name);
    for (int i = 0; i < shape->k; ++i)
        if (indices->i32[i] < 0 || indices->i32[i] >= shape->blocks)
            return fail_node(node, TENGINE_ERANGE, "value %d of g_idx '%s' is %d, expected 0 to %d",
                             i, indices->name, indices->i32[i], shape->blocks - 1);
    return TENGINE_OK;
}

static int infer_nbits(struct node* node)
{
    const struct tensor* a = get_ir_node_input(node, NBITS_A);
    TENGINE_RETURN_IF_ERROR(check_nbits_param(node));
    struct nbits_shape shape;
    resolve_nbits_shape(node, &shape);
    TENGINE_RETURN_IF_ERROR(require_type(node, NBITS_A, TYPES_FLOAT & ~TYPE_BIT(FP64)));
    TENGINE_RETURN_IF_ERROR(require_type(node, NBITS_B, TYPE_BIT(UINT8)));
    TENGINE_RETURN_IF_ERROR(require_type(node, NBITS_SCALES, UINT32_C(1) << a->data_type));
    TENGINE_RETURN_IF_ERROR(require_type(node, NBITS_BIAS, UINT32_C(1) << a->data_type));
    if (a->dim_num < 1 || a->dims[a->dim_num - 1] != shape.k)
        return fail_node(node, TENGINE_EINVAL, "A has rank %d and %d columns, expected %d",
                         a->dim_num, a->dim_num < 1 ? 0 : a->dims[a->dim_num - 1], shape.k);
    const int64_t blocks = (int64_t)shape.n * shape.blocks;
    TENGINE_RETURN_IF_ERROR(check_number(node, NBITS_B, blocks * shape.block_bytes));
    TENGINE_RETURN_IF_ERROR(check_number(node, NBITS_SCALES, blocks));
    TENGINE_RETURN_IF_ERROR(check_zero_points(node, &shape));
    TENGINE_RETURN_IF_ERROR(check_block_indices(node, &shape));
    TENGINE_RETURN_IF_ERROR(check_number(node, NBITS_BIAS, shape.n));
    int64_t dims[MAX_SHAPE_DIM_NUM];
    for (int i = 0; i < a->dim_num; ++i)
        dims[i] = a->dims[i];
    dims[a->dim_num - 1] = shape.n;
    return set_node_output(node, 0, a->data_type, dims, a->dim_num);
}

static const op_field_t bnb4_fields[] = {
    OP_FIELD(struct matmul_bnb4_param, INT, K, .required = 1, .minimum = 1, .maximum = INT32_MAX),
    OP_FIELD(struct matmul_bnb4_param, INT, N, .required = 1, .minimum = 1, .maximum = INT32_MAX),
    OP_FIELD(struct matmul_bnb4_param, INT, block_size, .required = 1, .minimum = 16,
             .maximum = INT32_MAX),
    OP_FIELD(struct matmul_bnb4_param, INT, quant_type, .required = 1, .minimum = 0, .maximum = 1),
    OP_FIELD(struct matmul_bnb4_param, INT, transB, .number = 1, .maximum = 1),
    OP_FIELD(struct matmul_bnb4_param, INT, training_mode, .number = 0),
};

// Inputs: A, B, absmax.
static int infer_bnb4(struct node* node)
{
    const struct matmul_bnb4_param* param = node->op.param_mem;
    const struct tensor* a = get_ir_node_input(node, 0);
    const int depth = param->transB ? param->K : param->N;
    const int64_t elements = (int64_t)param->N * param->K;
    TENGINE_RETURN_IF_ERROR(require_type(node, 0, TYPES_FLOAT & ~TYPE_BIT(FP64)));
    TENGINE_RETURN_IF_ERROR(require_type(node, 1, TYPE_BIT(UINT8)));
    TENGINE_RETURN_IF_ERROR(require_type(node, 2, UINT32_C(1) << a->data_type));
    if ((param->block_size & (param->block_size - 1)) != 0)
        return fail_node(node, TENGINE_EINVAL, "block_size is %d, expected a power of two",
                         param->block_size);
    if (a->dim_num < 1 || a->dims[a->dim_num - 1] != depth)
        return fail_node(node, TENGINE_EINVAL, "A has rank %d and %d columns, expected %d",
                         a->dim_num, a->dim_num < 1 ? 0 : a->dims[a->dim_num - 1], depth);
    TENGINE_RETURN_IF_ERROR(check_number(node, 1, (elements + 1) / 2));
    TENGINE_RETURN_IF_ERROR(check_number(node, 2, (elements - 1) / param->block_size + 1));
    int64_t dims[MAX_SHAPE_DIM_NUM];
    for (int i = 0; i < a->dim_num; ++i)
        dims[i] = a->dims[i];
    dims[a->dim_num - 1] = param->transB ? param->N : param->K;
    return set_node_output(node, 0, a->data_type, dims, a->dim_num);
}

// Each element of the result multiplies a row of A.
static int64_t count_product_macs(const struct node* node)
{
    const struct tensor* a = get_ir_node_input(node, 0);
    return multiply_macs(get_ir_node_output(node, 0)->elem_num, a->dims[a->dim_num - 1]);
}

// Checks scale or zero point `index` of B: one value, one for each column, or one for each column
// of each matrix.
static int check_columns(const struct node* node, int index, const struct matmul_shape* shape)
{
    const struct tensor* tensor = get_ir_node_input(node, index);
    const struct tensor* b = get_ir_node_input(node, 1);
    const int64_t matrices = b->dim_num > 2 ? multiply_dims(b, 0, b->dim_num - 2) : 1;
    if (!tensor || tensor->elem_num == 1 || tensor->elem_num == shape->n ||
        (tensor->dim_num > 1 && tensor->elem_num == shape->n * matrices))
        return TENGINE_OK;
    return fail_node(node, TENGINE_EINVAL, "input %d '%s' has %lld values, expected 1 or %d", index,
                     tensor->name, (long long)tensor->elem_num, shape->n);
}

// Checks the inputs of both 8-bit products: B at input 1, its scale and zero point at the given
// ones. The bias is a list with a value for each column.
static int infer_bytes(struct node* node, int scale, int zero_point, int bias)
{
    TENGINE_RETURN_IF_ERROR(require_type(node, 1, TYPES_BYTE));
    TENGINE_RETURN_IF_ERROR(require_type(node, scale, TYPE_BIT(FP32)));
    TENGINE_RETURN_IF_ERROR(
        require_type(node, zero_point, UINT32_C(1) << get_ir_node_input(node, 1)->data_type));
    TENGINE_RETURN_IF_ERROR(require_type(node, bias, TYPE_BIT(FP32)));
    struct matmul_shape shape;
    TENGINE_RETURN_IF_ERROR(resolve_matmul_shape(node, 0, 1, &shape));
    TENGINE_RETURN_IF_ERROR(check_columns(node, scale, &shape));
    TENGINE_RETURN_IF_ERROR(check_columns(node, zero_point, &shape));
    TENGINE_RETURN_IF_ERROR(check_scale_values(node, scale, false));
    TENGINE_RETURN_IF_ERROR(check_number(node, bias, shape.n));
    return set_node_output(node, 0, TENGINE_DT_FP32, shape.output_dims, shape.output_rank);
}

// Inputs: A, B, b_scale, b_zero_point, bias.
static int infer_dynamic_quantize_matmul(struct node* node)
{
    TENGINE_RETURN_IF_ERROR(require_type(node, 0, TYPE_BIT(FP32)));
    return infer_bytes(node, 2, 3, 4);
}

// Inputs as for DynamicQuantizeMatMul, with a matrix B.
static int infer_row_quantize_matmul(struct node* node)
{
    const int rank = get_ir_node_input(node, 1)->dim_num;
    if (rank != 2) return fail_node(node, TENGINE_EINVAL, "B has rank %d, expected a matrix", rank);
    return infer_dynamic_quantize_matmul(node);
}

// Inputs: A, B, a_scale, b_scale, a_zero_point, b_zero_point, bias.
static int infer_matmul_integer_to_float(struct node* node)
{
    TENGINE_RETURN_IF_ERROR(require_type(node, 0, TYPES_BYTE));
    TENGINE_RETURN_IF_ERROR(require_type(node, 2, TYPE_BIT(FP32)));
    TENGINE_RETURN_IF_ERROR(
        require_type(node, 4, UINT32_C(1) << get_ir_node_input(node, 0)->data_type));
    TENGINE_RETURN_IF_ERROR(check_number(node, 2, 1));
    TENGINE_RETURN_IF_ERROR(check_number(node, 4, 1));
    TENGINE_RETURN_IF_ERROR(check_scale_values(node, 2, false));
    return infer_bytes(node, 3, 5, 6);
}

#define PRODUCT_ROW(least, most, infer)                                               \
    .version = 1, .until = 1, .min_input = least, .max_input = most, .min_output = 1, \
    .max_output = 1, .infer_shape = infer, .macs = count_product_macs

static const ir_method_t* const rows[] = {
    MICROSOFT_ROW(MatMulNBits, PRODUCT_ROW(3, 6, infer_nbits), OP_FIELDS(nbits_fields),
                  .param_size = sizeof(struct matmul_nbits_param)),
    MICROSOFT_ROW(MatMulBnb4, PRODUCT_ROW(3, 3, infer_bnb4), OP_FIELDS(bnb4_fields),
                  .param_size = sizeof(struct matmul_bnb4_param)),
    MICROSOFT_ROW(DynamicQuantizeMatMul, PRODUCT_ROW(3, 5, infer_dynamic_quantize_matmul)),
    MICROSOFT_ROW(MatMulIntegerToFloat, PRODUCT_ROW(4, 7, infer_matmul_integer_to_float),
                  .types = "fp32"),
    OWN_ROW(RowQuantizeMatMul, PRODUCT_ROW(3, 5, infer_row_quantize_matmul)),
};

OPERATOR_TABLE(quantized_product_ops, rows);
