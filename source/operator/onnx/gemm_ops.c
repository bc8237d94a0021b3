// SPDX-License-Identifier: Apache-2.0
// Matrix products: Gemm, MatMul, MatMulInteger, QLinearMatMul; Det, and Inverse of com.microsoft.
// QGemm: qlinear_ops.c. Kernels: device/cpu/reference/matmul/gemm.cc, det.cc and inverse.cc.
#include "operator/infer.h"
#include "operator/onnx/gemm_param.h"
#include "operator/onnx/legacy.h"
#include "operator/onnx/macs.h"
#include "operator/onnx/quantized.h"
#include "operator/onnx_type.h"
#include "operator/param.h"
#include "operator/row.h"
#include "operator/type_set.h"

static const op_field_t gemm_fields[] = {
    OP_FIELD(struct gemm_param, FLOAT, alpha, .number = 1),
    OP_FIELD(struct gemm_param, FLOAT, beta, .number = 1),
    OP_FIELD(struct gemm_param, INT, transA, .number = 0),
    OP_FIELD(struct gemm_param, INT, transB, .number = 0),
    OP_FIELD(struct gemm_param, INT, broadcast, .number = 0, .until = 6),
};

// C broadcasts to m x n; A * B does not broadcast to C.
static int check_gemm_addend(const struct node* node, int index, const struct gemm_shape* shape)
{
    const struct tensor* addend = get_ir_node_input(node, index);
    if (!addend) return TENGINE_OK;
    const int rank = addend->dim_num;
    const int rows = rank >= 2 ? addend->dims[rank - 2] : 1;
    const int columns = rank >= 1 ? addend->dims[rank - 1] : 1;
    if (rank <= 2 && (rows == 1 || rows == shape->m) && (columns == 1 || columns == shape->n))
        return TENGINE_OK;
    return fail_node(node, TENGINE_EINVAL,
                     "C of rank %d with %d x %d values does not broadcast to %d x %d", rank, rows,
                     columns, shape->m, shape->n);
}

int resolve_gemm_shape(const struct node* node, int b_index, int addend_index, bool transposed_a,
                       bool transposed_b, struct gemm_shape* out_shape)
{
    const struct tensor* a = get_ir_node_input(node, 0);
    const struct tensor* b = get_ir_node_input(node, b_index);
    if (a->dim_num != 2 || b->dim_num != 2)
        return fail_node(node, TENGINE_EINVAL, "A has rank %d and B rank %d, expected matrices",
                         a->dim_num, b->dim_num);
    out_shape->m = a->dims[transposed_a ? 1 : 0];
    out_shape->k = a->dims[transposed_a ? 0 : 1];
    out_shape->n = b->dims[transposed_b ? 0 : 1];
    if (b->dims[transposed_b ? 1 : 0] != out_shape->k)
        return fail_node(node, TENGINE_EINVAL, "A has %d columns, B has %d rows", out_shape->k,
                         b->dims[transposed_b ? 1 : 0]);
    return check_gemm_addend(node, addend_index, out_shape);
}

static int infer_gemm(struct node* node)
{
    const struct gemm_param* param = node->op.param_mem;
    TENGINE_RETURN_IF_ERROR(require_type(node, 0, TYPES_FLOAT | TYPES_WORD));
    TENGINE_RETURN_IF_ERROR(require_same_types(node, 0, 2));
    struct gemm_shape shape;
    TENGINE_RETURN_IF_ERROR(resolve_gemm_shape(node, 1, 2, param->transA, param->transB, &shape));
    const int64_t dims[] = {shape.m, shape.n};
    return set_node_output(node, 0, get_ir_node_input(node, 0)->data_type, dims, 2);
}

static int64_t count_gemm_macs(const struct node* node)
{
    const struct gemm_param* param = node->op.param_mem;
    const struct tensor* a = get_ir_node_input(node, 0);
    return multiply_macs(get_ir_node_output(node, 0)->elem_num, a->dims[param->transA ? 0 : 1]);
}

// Computes the strides, in matrices, of the stack of `tensor` within the output's stack.
static void fill_stack_strides(const struct tensor* tensor, int batch_rank, int64_t strides[])
{
    const int shift = batch_rank - (tensor->dim_num - 2);
    int64_t stride = 1;
    for (int i = batch_rank - 1; i >= 0; --i) {
        const int dim = i >= shift ? tensor->dims[i - shift] : 1;
        strides[i] = dim == 1 ? 0 : stride;
        stride *= dim;
    }
}

int resolve_matmul_shape(const struct node* node, int a_index, int b_index,
                         struct matmul_shape* out_shape)
{
    const struct tensor* a = get_ir_node_input(node, a_index);
    const struct tensor* b = get_ir_node_input(node, b_index);
    if (a->dim_num < 1 || b->dim_num < 1)
        return fail_node(node, TENGINE_EINVAL, "an input is a scalar, expected at least a vector");
    const int rows_of_b = b->dims[b->dim_num >= 2 ? b->dim_num - 2 : 0];
    out_shape->m = a->dim_num >= 2 ? a->dims[a->dim_num - 2] : 1;
    out_shape->k = a->dims[a->dim_num - 1];
    out_shape->n = b->dim_num >= 2 ? b->dims[b->dim_num - 1] : 1;
    if (out_shape->k != rows_of_b)
        return fail_node(node, TENGINE_EINVAL, "'%s' has %d columns, '%s' has %d rows", a->name,
                         out_shape->k, b->name, rows_of_b);

    // The stacks without the matrices broadcast as tensors of their own.
    struct tensor stack_of_b = *b;
    stack_of_b.dim_num = (uint8_t)(b->dim_num > 2 ? b->dim_num - 2 : 0);
    int rank = a->dim_num > 2 ? a->dim_num - 2 : 0;
    for (int i = 0; i < rank; ++i)
        out_shape->output_dims[i] = a->dims[i];
    TENGINE_RETURN_IF_ERROR(broadcast_with(node, out_shape->output_dims, &rank, &stack_of_b));
    out_shape->batch_rank = rank;
    out_shape->batch = 1;
    for (int i = 0; i < rank; ++i) {
        out_shape->batch_dims[i] = (int)out_shape->output_dims[i];
        if (__builtin_mul_overflow(out_shape->batch, out_shape->output_dims[i], &out_shape->batch))
            return fail_node(node, TENGINE_ERANGE, "there are too many matrices");
    }
    fill_stack_strides(a, rank, out_shape->a_strides);
    fill_stack_strides(b, rank, out_shape->b_strides);
    if (a->dim_num >= 2) out_shape->output_dims[rank++] = out_shape->m;
    if (b->dim_num >= 2) out_shape->output_dims[rank++] = out_shape->n;
    out_shape->output_rank = rank;
    return TENGINE_OK;
}

static int infer_product(struct node* node, int b_index, int data_type)
{
    struct matmul_shape shape;
    TENGINE_RETURN_IF_ERROR(resolve_matmul_shape(node, 0, b_index, &shape));
    return set_node_output(node, 0, data_type, shape.output_dims, shape.output_rank);
}

static int infer_matmul(struct node* node)
{
    TENGINE_RETURN_IF_ERROR(require_type(node, 0, TYPES_FLOAT | TYPES_WORD));
    TENGINE_RETURN_IF_ERROR(require_same_types(node, 0, 1));
    return infer_product(node, 1, get_ir_node_input(node, 0)->data_type);
}

// Checks scale or zero point `index`: one value; or a list with one per row (of a and y) or column
// (of b), or such a list for each matrix of the stack.
static int check_slices(const struct node* node, int index, int64_t slices, int64_t batch)
{
    const struct tensor* tensor = get_ir_node_input(node, index);
    if (!tensor || tensor->elem_num == 1 || tensor->elem_num == slices ||
        (tensor->dim_num > 1 && tensor->elem_num == slices * batch))
        return TENGINE_OK;
    return fail_node(node, TENGINE_EINVAL, "input %d '%s' has %lld values, expected 1 or %lld",
                     index, tensor->name, (long long)tensor->elem_num, (long long)slices);
}

static int64_t stack_size(const struct tensor* tensor)
{
    return tensor->dim_num > 2 ? multiply_dims(tensor, 0, tensor->dim_num - 2) : 1;
}

// Checks that zero point `index` has the type of its value, which is input `value`.
static int require_type_of(const struct node* node, int index, int value)
{
    return require_type(node, index, UINT32_C(1) << get_ir_node_input(node, value)->data_type);
}

static int infer_matmul_integer(struct node* node)
{
    TENGINE_RETURN_IF_ERROR(require_type(node, 0, TYPES_BYTE));
    TENGINE_RETURN_IF_ERROR(require_type(node, 1, TYPES_BYTE));
    TENGINE_RETURN_IF_ERROR(require_type_of(node, 2, 0));
    TENGINE_RETURN_IF_ERROR(require_type_of(node, 3, 1));
    struct matmul_shape shape;
    TENGINE_RETURN_IF_ERROR(resolve_matmul_shape(node, 0, 1, &shape));
    TENGINE_RETURN_IF_ERROR(check_slices(node, 2, shape.m, stack_size(get_ir_node_input(node, 0))));
    TENGINE_RETURN_IF_ERROR(check_slices(node, 3, shape.n, stack_size(get_ir_node_input(node, 1))));
    return infer_product(node, 1, TENGINE_DT_INT32);
}

// Checks that all values are int8 or uint8, or all of them 8-bit floats with zero points of 0.
static int check_qlinear_types(const struct node* node)
{
    const int type = get_ir_node_input(node, 0)->data_type;
    const bool is_float8 = type < 32 && (TYPES_FLOAT8 >> type & 1u);
    const uint32_t types = is_float8 ? TYPES_FLOAT8 : TYPES_BYTE;
    for (int i = 0; i < 8; ++i) {
        if (i == 1 || i == 4 || i == 6)
            TENGINE_RETURN_IF_ERROR(require_type(node, i, TYPE_BIT(FP32)));
        else if (i == 2 || i == 5)
            TENGINE_RETURN_IF_ERROR(require_type_of(node, i, i - 2));
        else
            TENGINE_RETURN_IF_ERROR(require_type(node, i, types));
    }
    return TENGINE_OK;
}

// Inputs: value, scale and zero point of a, of b; scale and zero point of y.
static int infer_qlinear_matmul(struct node* node)
{
    TENGINE_RETURN_IF_ERROR(check_qlinear_types(node));
    struct matmul_shape shape;
    TENGINE_RETURN_IF_ERROR(resolve_matmul_shape(node, 0, 3, &shape));
    for (int i = 1; i <= 2; ++i) {
        TENGINE_RETURN_IF_ERROR(
            check_slices(node, i, shape.m, stack_size(get_ir_node_input(node, 0))));
        TENGINE_RETURN_IF_ERROR(
            check_slices(node, 3 + i, shape.n, stack_size(get_ir_node_input(node, 3))));
        TENGINE_RETURN_IF_ERROR(check_slices(node, 5 + i, shape.m, shape.batch));
    }
    TENGINE_RETURN_IF_ERROR(check_scale_values(node, 1, false));
    TENGINE_RETURN_IF_ERROR(check_scale_values(node, 4, false));
    TENGINE_RETURN_IF_ERROR(check_scale_values(node, 6, true));
    return infer_product(node, 3, get_ir_node_input(node, 7)->data_type);
}

// Since opset 21 the scales may have 16 bits: they are converted to fp32.
static int lower_qlinear_matmul(struct graph* graph, struct node* node)
{
    static const int scales[] = {1, 4, 6};
    for (int i = 0; i < 3; ++i) {
        struct tensor* scale = get_ir_node_input(node, scales[i]);
        if (!scale || (scale->data_type != TENGINE_DT_FP16 && scale->data_type != TENGINE_DT_BF16))
            continue;
        struct node* cast = append_lowered_node(graph, node, "Cast", &scale, 1);
        if (!cast) return tengine_error_code();
        TENGINE_RETURN_IF_ERROR(set_node_int(cast, "to", get_onnx_type(TENGINE_DT_FP32)));
        TENGINE_RETURN_IF_ERROR(
            set_ir_node_input_tensor(node, scales[i], get_ir_node_output(cast, 0)));
    }
    return change_node_method(node, "QLinearMatMul");
}

static int64_t count_product_macs(const struct node* node)
{
    const struct tensor* a = get_ir_node_input(node, 0);
    return multiply_macs(get_ir_node_output(node, 0)->elem_num, a->dims[a->dim_num - 1]);
}

static int require_squares(const struct node* node)
{
    const struct tensor* input = get_ir_node_input(node, 0);
    const int rank = input->dim_num;
    TENGINE_RETURN_IF_ERROR(require_type(node, 0, TYPES_FLOAT));
    if (rank >= 2 && input->dims[rank - 1] == input->dims[rank - 2]) return TENGINE_OK;
    return fail_node(node, TENGINE_EINVAL, "the input has rank %d, expected square matrices", rank);
}

static int infer_inverse(struct node* node)
{
    TENGINE_RETURN_IF_ERROR(require_squares(node));
    return set_node_output_like(node, 0, get_ir_node_input(node, 0), -1);
}

static int infer_det(struct node* node)
{
    const struct tensor* input = get_ir_node_input(node, 0);
    const int rank = input->dim_num;
    TENGINE_RETURN_IF_ERROR(require_squares(node));
    int64_t dims[MAX_SHAPE_DIM_NUM];
    for (int i = 0; i < rank - 2; ++i)
        dims[i] = input->dims[i];
    return set_node_output(node, 0, input->data_type, dims, rank - 2);
}

static const ir_method_t* const rows[] = {
    OP_ROW(Gemm, .version = 1, .min_input = 2, .max_input = 3, .min_output = 1, .max_output = 1,
           OP_FIELDS(gemm_fields), .param_size = sizeof(struct gemm_param),
           .infer_shape = infer_gemm, .macs = count_gemm_macs),
    OP_ROW(MatMul, .version = 1, .min_input = 2, .max_input = 2, .min_output = 1, .max_output = 1,
           .infer_shape = infer_matmul, .macs = count_product_macs),
    OP_ROW(MatMulInteger, .version = 10, .min_input = 2, .max_input = 4, .min_output = 1,
           .max_output = 1, .infer_shape = infer_matmul_integer, .types = "int32",
           .macs = count_product_macs),
    OP_ROW(QLinearMatMul, .version = 10, .min_input = 8, .max_input = 8, .min_output = 1,
           .max_output = 1, .traits = OP_TAKES_SMALL, .infer_shape = infer_qlinear_matmul,
           .types = "7", .macs = count_product_macs, .lower = lower_qlinear_matmul),
    OP_ROW(Det, .version = 11, .min_input = 1, .max_input = 1, .min_output = 1, .max_output = 1,
           .infer_shape = infer_det),
    MICROSOFT_ROW(Inverse, .version = 1, .min_input = 1, .max_input = 1, .min_output = 1,
                  .max_output = 1, .infer_shape = infer_inverse),
};

OPERATOR_TABLE(gemm_ops, rows);
