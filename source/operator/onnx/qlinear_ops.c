// SPDX-License-Identifier: Apache-2.0
// Integer operators of the domain com.microsoft (ONNX Runtime's contributed operators) and of
// tengine. Neighbours: QLinearConv in conv_ops.c, QLinearMatMul in gemm_ops.c, the integer pools in
// pool_ops.c; those that are lowered to float operators in qlinear_float_ops.c. Kernels:
// device/cpu/reference/qlinear_*.cc and lookup.cc.
#include "operator/infer.h"
#include "operator/onnx/gemm_param.h"
#include "operator/onnx/macs.h"
#include "operator/onnx/norm_param.h"
#include "operator/onnx/qlinear_param.h"
#include "operator/onnx/quantized.h"
#include "operator/registry.h"
#include "operator/row.h"
#include "operator/type_set.h"

// Inputs: a, a_scale, a_zero_point, b, b_scale, b_zero_point, y_scale, y_zero_point. Zero points
// are optional, so that a row can require only the first two inputs.
static int infer_binary(struct node* node)
{
    const struct tensor* a = get_ir_node_input(node, 0);
    for (int i = 0; i <= 3; i += 3) {
        TENGINE_RETURN_IF_ERROR(require_quantized(node, i));
        TENGINE_RETURN_IF_ERROR(check_quantization(node, i + 1, 1));
    }
    TENGINE_RETURN_IF_ERROR(check_result_quantization(node, 6));
    int64_t dims[MAX_SHAPE_DIM_NUM];
    int dim_num = a->dim_num;
    for (int i = 0; i < dim_num; ++i)
        dims[i] = a->dims[i];
    TENGINE_RETURN_IF_ERROR(broadcast_with(node, dims, &dim_num, get_ir_node_input(node, 3)));
    return set_node_output(node, 0, result_type(node, 7), dims, dim_num);
}

// Whether the scale of an input or of the result is known and negative.
static bool has_negative_scale(const struct node* node)
{
    static const int scales[] = {1, 4, 6};
    for (int i = 0; i < 3; ++i) {
        const struct tensor* scale = get_ir_node_input(node, scales[i]);
        if (scale && scale->data && scale->data_type == TENGINE_DT_FP32 && scale->elem_num > 0 &&
            scale->f32[0] < 0)
            return true;
    }
    return false;
}

static int lower_add(struct graph* graph, struct node* node)
{
    return has_negative_scale(node) ? lower_binary_to_floats(graph, node, "Add")
                                    : change_node_method(node, "com.microsoft.QLinearAdd");
}

static int lower_mul(struct graph* graph, struct node* node)
{
    return has_negative_scale(node) ? lower_binary_to_floats(graph, node, "Mul")
                                    : change_node_method(node, "com.microsoft.QLinearMul");
}

static const op_field_t qgemm_fields[] = {
    OP_FIELD(struct qgemm_param, FLOAT, alpha, .number = 1),
    OP_FIELD(struct qgemm_param, INT, transA, .number = 0),
    OP_FIELD(struct qgemm_param, INT, transB, .number = 0),
};

static int resolve_qgemm(const struct node* node, struct gemm_shape* out_shape)
{
    const struct qgemm_param* param = node->op.param_mem;
    return resolve_gemm_shape(node, 3, 6, param->transA, param->transB, out_shape);
}

// Inputs: a, a_scale, a_zero_point, b, b_scale, b_zero_point, C, y_scale, y_zero_point. The scale
// of C, int32, is alpha * a_scale * b_scale.
static int infer_qgemm(struct node* node)
{
    const struct qgemm_param* param = node->op.param_mem;
    if (!get_ir_node_input(node, 7))
        return fail_node(node, TENGINE_ENOTSUP,
                         "y_scale is missing: a float result is not supported");
    if (!(param->alpha > 0))
        return fail_node(node, TENGINE_ERANGE, "alpha is %g, expected a positive number",
                         (double)param->alpha);
    TENGINE_RETURN_IF_ERROR(require_quantized(node, 0));
    TENGINE_RETURN_IF_ERROR(require_quantized(node, 3));
    TENGINE_RETURN_IF_ERROR(require_type(node, 6, TYPE_BIT(INT32)));
    struct gemm_shape shape;
    TENGINE_RETURN_IF_ERROR(resolve_qgemm(node, &shape));
    TENGINE_RETURN_IF_ERROR(check_quantization(node, 1, 1));
    TENGINE_RETURN_IF_ERROR(check_quantization(node, 4, shape.n));
    TENGINE_RETURN_IF_ERROR(check_result_quantization(node, 7));
    const int64_t dims[] = {shape.m, shape.n};
    return set_node_output(node, 0, result_type(node, 8), dims, 2);
}

static int64_t count_qgemm_macs(const struct node* node)
{
    const struct qgemm_param* param = node->op.param_mem;
    const struct tensor* a = get_ir_node_input(node, 0);
    return multiply_macs(get_ir_node_output(node, 0)->elem_num, a->dims[param->transA ? 0 : 1]);
}

static const op_field_t softmax_fields[] = {
    OP_FIELD(struct qlinear_softmax_param, INT, axis, .number = -1),
    OP_FIELD(struct qlinear_softmax_param, INT, opset, .required = 1),
};

// Inputs: x, x_scale, x_zero_point, y_scale, y_zero_point.
static int infer_softmax(struct node* node)
{
    const struct qlinear_softmax_param* param = node->op.param_mem;
    const struct tensor* x = get_ir_node_input(node, 0);
    int axis;
    if (param->opset < 13)
        return fail_node(node, TENGINE_ENOTSUP, "opset is %d, expected 13 or newer", param->opset);
    TENGINE_RETURN_IF_ERROR(require_quantized(node, 0));
    TENGINE_RETURN_IF_ERROR(check_quantization(node, 1, 1));
    TENGINE_RETURN_IF_ERROR(check_result_quantization(node, 3));
    TENGINE_RETURN_IF_ERROR(normalize_axis(node, param->axis, x->dim_num, &axis));
    return set_node_output_like(node, 0, x, result_type(node, 4));
}

// Inputs: x, x_scale, x_zero_point, scale, y_scale, y_zero_point, bias.
static int infer_layer_norm(struct node* node)
{
    const struct layer_norm_param* param = node->op.param_mem;
    const struct tensor* x = get_ir_node_input(node, 0);
    int axis;
    TENGINE_RETURN_IF_ERROR(require_quantized(node, 0));
    TENGINE_RETURN_IF_ERROR(check_quantization(node, 1, 1));
    TENGINE_RETURN_IF_ERROR(check_result_quantization(node, 4));
    TENGINE_RETURN_IF_ERROR(normalize_axis(node, param->axis, x->dim_num, &axis));
    const int64_t length = multiply_dims(x, axis, x->dim_num);
    if (length > QLINEAR_LAYER_NORM_LONGEST)
        return fail_node(node, TENGINE_ENOTSUP, "rows have %lld values, expected %d at most",
                         (long long)length, QLINEAR_LAYER_NORM_LONGEST);
    for (int i = 3; i <= 6; i += 3) {
        const struct tensor* values = get_ir_node_input(node, i);
        TENGINE_RETURN_IF_ERROR(require_type(node, i, TYPE_BIT(FP32)));
        if (values && values->elem_num != length)
            return fail_node(node, TENGINE_EINVAL, "%s has %lld values, rows have %lld",
                             i == 3 ? "scale" : "bias", (long long)values->elem_num,
                             (long long)length);
    }
    return set_node_output_like(node, 0, x, result_type(node, 5));
}

static const op_field_t layer_norm_fields[] = {
    OP_FIELD(struct layer_norm_param, INT, axis, .number = -1),
    OP_FIELD(struct layer_norm_param, FLOAT, epsilon, .number = 1e-5),
};

static int infer_lookup(struct node* node)
{
    const struct tensor* table = get_ir_node_input(node, 1);
    TENGINE_RETURN_IF_ERROR(require_type(node, 0, TYPES_BYTE));
    TENGINE_RETURN_IF_ERROR(require_type(node, 1, TYPES_BYTE));
    if (table->dim_num != 1 || table->dims[0] != LOOKUP_TABLE_SIZE)
        return fail_node(node, TENGINE_EINVAL,
                         "the table has rank %d and %lld values, expected a list of %d",
                         table->dim_num, (long long)table->elem_num, LOOKUP_TABLE_SIZE);
    return set_node_output_like(node, 0, get_ir_node_input(node, 0), table->data_type);
}

#define BINARY_ROW                                                                              \
    .version = 1, .until = 1, .min_input = 2, .max_input = 8, .min_output = 1, .max_output = 1, \
    .infer_shape = infer_binary, .types = "7|0"

static const ir_method_t* const rows[] = {
    MICROSOFT_ROW(QLinearAdd, BINARY_ROW, .lower = lower_add),
    MICROSOFT_ROW(QLinearMul, BINARY_ROW, .lower = lower_mul),
    MICROSOFT_ROW(QLinearSoftmax, .version = 1, .until = 1, .min_input = 5, .max_input = 5,
                  .min_output = 1, .max_output = 1, OP_FIELDS(softmax_fields),
                  .param_size = sizeof(struct qlinear_softmax_param), .infer_shape = infer_softmax,
                  .types = "4|0"),
    MICROSOFT_ROW(QGemm, .version = 1, .until = 1, .min_input = 6, .max_input = 9, .min_output = 1,
                  .max_output = 1, OP_FIELDS(qgemm_fields),
                  .param_size = sizeof(struct qgemm_param), .infer_shape = infer_qgemm,
                  .types = "8|0", .macs = count_qgemm_macs),
    OWN_ROW(QLinearLayerNormalization, .version = 1, .until = 1, .min_input = 6, .max_input = 7,
            .min_output = 1, .max_output = 1, OP_FIELDS(layer_norm_fields),
            .param_size = sizeof(struct layer_norm_param), .infer_shape = infer_layer_norm,
            .types = "5|0"),
    OWN_ROW(Lookup, .version = 1, .until = 1, .min_input = 2, .max_input = 2, .min_output = 1,
            .max_output = 1, .infer_shape = infer_lookup, .types = "1"),
};

OPERATOR_TABLE(qlinear_ops, rows);
