// SPDX-License-Identifier: Apache-2.0
// Products of matrices. A constant second matrix is packed once.
#include <arm_compute/runtime/NEON/functions/NEArithmeticAddition.h>
#include <arm_compute/runtime/NEON/functions/NEConcatenateLayer.h>
#include <arm_compute/runtime/NEON/functions/NEFullyConnectedLayer.h>
#include <arm_compute/runtime/NEON/functions/NEGEMM.h>
#include <arm_compute/runtime/NEON/functions/NESlice.h>
#include <arm_compute/runtime/NEON/functions/NETranspose.h>

#include "device/acl/operator_table.h"
#include "operator/onnx/gemm_param.h"

namespace tengine::acl {
namespace {

using arm_compute::Coordinates;
using arm_compute::GEMMInfo;

// The limit for batched products, which are computed matrix by matrix.
constexpr int64_t kMaxMatrices = 64;

TensorInfo matrix_info(int64_t rows, int64_t columns, const TensorInfo& like)
{
    return make_info(TensorShape(static_cast<size_t>(columns), static_cast<size_t>(rows)),
                     like.data_type());
}

bool add_product(Builder& builder, ITensor* a, ITensor* b, ITensor* result, float alpha,
                 bool b_is_constant)
{
    const GEMMInfo info(false, false, b_is_constant);
    return builder.add<arm_compute::NEGEMM>(a, b, nullptr, result, alpha, 0.0F, info);
}

ITensor* transpose(Builder& builder, ITensor* matrix)
{
    const ITensorInfo& info = *matrix->info();
    ITensor* turned = builder.temporary(make_info(
        TensorShape(info.dimension(size_t{1}), info.dimension(size_t{0})), info.data_type()));
    builder.add<arm_compute::NETranspose>(matrix, turned);
    return turned;
}

// x * weights + bias with constants, where the bias is a list.
bool build_fully_connected(Builder& builder, bool transposed_b)
{
    arm_compute::FullyConnectedLayerInfo info;
    // ACL has weights as ONNX has them with transB.
    info.transpose_weights = transposed_b;
    ITensor* bias = nullptr;
    if (const tensor* addend = builder.source(2))
        bias = builder.input(2, make_info(TensorShape(static_cast<size_t>(addend->elem_num)),
                                          to_acl_type(addend->data_type)));
    return builder.add<arm_compute::NEFullyConnectedLayer>(builder.input(0), builder.input(1), bias,
                                                           builder.output(), info);
}

bool build_gemm(Builder& builder)
{
    const node& node = builder.of();
    const bool transposed_a = get_ir_node_int(&node, "transA", 0) != 0;
    const bool transposed_b = get_ir_node_int(&node, "transB", 0) != 0;
    const float alpha = get_ir_node_float(&node, "alpha", 1);
    const float beta = get_ir_node_float(&node, "beta", 1);
    const tensor* addend = builder.source(2);
    const int columns = builder.target()->dims[1];
    const bool is_list = !addend || (addend->elem_num == columns && builder.is_constant(2) &&
                                     (addend->dim_num < 2 || addend->dims[0] == 1) && beta == 1);
    if (!transposed_a && alpha == 1 && builder.is_constant(1) && is_list)
        return build_fully_connected(builder, transposed_b);
    if (addend && beta != 1)
        return builder.refuse(IR_REASON_ATTRIBUTE, "beta", std::to_string(beta).c_str(),
                              "ACL would add C as it is");
    ITensor* a = builder.input(0);
    ITensor* b = builder.input(1);
    if (transposed_a) a = transpose(builder, a);
    if (transposed_b) b = transpose(builder, b);
    const bool keeps_b = builder.is_constant(1) && !transposed_b;
    ITensor* output = builder.output();
    if (!addend) return add_product(builder, a, b, output, alpha, keeps_b);
    ITensor* product = builder.temporary(to_acl_info(*builder.target()));
    return add_product(builder, a, b, product, alpha, keeps_b) &&
           builder.add<arm_compute::NEArithmeticAddition>(product, builder.input(2), output,
                                                          arm_compute::ConvertPolicy::SATURATE);
}

// One matrix of a batch as a separate tensor.
ITensor* take_matrix(Builder& builder, ITensor* stack, int64_t index)
{
    const TensorShape& shape = stack->info()->tensor_shape();
    ITensor* matrix =
        builder.temporary(make_info(TensorShape(shape[0], shape[1]), stack->info()->data_type()));
    if (shape[2] == 1) {
        builder.add<arm_compute::NESlice>(stack, matrix, Coordinates(0, 0),
                                          Coordinates(shape[0], shape[1]));
    } else {
        builder.add<arm_compute::NESlice>(stack, matrix, Coordinates(0, 0, index),
                                          Coordinates(shape[0], shape[1], index + 1));
    }
    return matrix;
}

bool build_stack(Builder& builder, const matmul_shape& shape)
{
    const TensorInfo like = to_acl_info(*builder.target());
    const auto stack_info = [&](const tensor& of, int rows, int columns) {
        const auto number = of.elem_num / rows / columns;
        return make_info(TensorShape(static_cast<size_t>(columns), static_cast<size_t>(rows),
                                     static_cast<size_t>(number)),
                         like.data_type());
    };
    ITensor* a = builder.input(0, stack_info(*builder.source(0), shape.m, shape.k));
    ITensor* b = builder.input(1, stack_info(*builder.source(1), shape.k, shape.n));
    Tensors products;
    for (int64_t i = 0; i < shape.batch; ++i) {
        int64_t from_a = 0, from_b = 0, rest = i;
        for (int d = shape.batch_rank - 1; d >= 0; --d) {
            from_a += rest % shape.batch_dims[d] * shape.a_strides[d];
            from_b += rest % shape.batch_dims[d] * shape.b_strides[d];
            rest /= shape.batch_dims[d];
        }
        ITensor* product = builder.temporary(matrix_info(shape.m, shape.n, like));
        if (!add_product(builder, take_matrix(builder, a, from_a), take_matrix(builder, b, from_b),
                         product, 1, false))
            return false;
        products.push_back(product);
    }
    ITensor* output = builder.output(0, stack_info(*builder.target(), shape.m, shape.n));
    return builder.add<arm_compute::NEConcatenateLayer>(products, output, size_t{2});
}

bool build_matmul(Builder& builder)
{
    matmul_shape shape;
    if (resolve_matmul_shape(&builder.of(), 0, 1, &shape) != TENGINE_OK)
        return builder.refuse(IR_REASON_SHAPE, "", "", "%s", tengine_error_message());
    const TensorInfo like = to_acl_info(*builder.source(0));
    // With one second matrix for the whole batch, the rows of all first matrices are those of one
    // matrix.
    if (builder.source(1)->elem_num == int64_t{shape.k} * shape.n) {
        const int64_t rows = builder.source(0)->elem_num / shape.k;
        return add_product(builder, builder.input(0, matrix_info(rows, shape.k, like)),
                           builder.input(1, matrix_info(shape.k, shape.n, like)),
                           builder.output(0, matrix_info(rows, shape.n, like)), 1,
                           builder.is_constant(1));
    }
    if (shape.batch > kMaxMatrices)
        return builder.refuse(IR_REASON_SHAPE, "", std::to_string(shape.batch).c_str(),
                              "a stack of %lld matrices, expected at most %lld",
                              static_cast<long long>(shape.batch),
                              static_cast<long long>(kMaxMatrices));
    return build_stack(builder, shape);
}

constexpr Operator kMatrixRows[] = {
    {"Gemm", kFloats, build_gemm},
    {"MatMul", kFloats, build_matmul},
};

}  // namespace

extern const OperatorTable matrix_operators;
const OperatorTable matrix_operators = make_table(kMatrixRows);

}  // namespace tengine::acl
