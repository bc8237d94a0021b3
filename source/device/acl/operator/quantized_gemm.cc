// SPDX-License-Identifier: Apache-2.0
// Products of quantised matrices: QLinearMatMul and QGemm, both with a constant
// second matrix.
#include <arm_compute/core/utils/quantization/AsymmHelpers.h>
#include <arm_compute/runtime/NEON/functions/NEGEMMLowpMatrixMultiplyCore.h>
#include <cstring>

#include "device/acl/operator/quantized.h"
#include "device/acl/operator_table.h"
#include "operator/onnx/gemm_param.h"
#include "operator/onnx/qlinear_param.h"

namespace tengine::acl {
namespace {

using arm_compute::GEMMInfo;
using arm_compute::GEMMLowpOutputStageInfo;
using arm_compute::GEMMLowpOutputStageType;

// y (m x n) = a (m x k) * weights (k x n) + bias.
struct Product
{
    int m, n, k;
    Quantization a, y;
    QuantizedWeights weights;
    ITensor* bias;
};

// ACL's matrix product adds zero points of its factors.
TensorInfo matrix_info(const TensorShape& shape, int data_type, const Quantization& by)
{
    return make_info(shape, to_quantized_type(data_type),
                     QuantizationInfo(by.scale, -by.zero_point));
}

TensorShape matrix_shape(int rows, int columns)
{
    return to_acl_shape({rows, columns});
}

// The requantisation of int32 sums to int8 or uint8.
bool make_stage(Builder& builder, const Product& product, GEMMLowpOutputStageInfo* stage)
{
    const int data_type = builder.target()->data_type;
    const QuantizationInfo a(product.a.scale, product.a.zero_point);
    const QuantizationInfo y(product.y.scale, product.y.zero_point);
    stage->type = GEMMLowpOutputStageType::QUANTIZE_DOWN_FIXEDPOINT;
    stage->gemmlowp_offset = product.y.zero_point;
    stage->gemmlowp_min_bound = data_type == TENGINE_DT_INT8 ? INT8_MIN : 0;
    stage->gemmlowp_max_bound = data_type == TENGINE_DT_INT8 ? INT8_MAX : UINT8_MAX;
    stage->is_quantized_per_channel = product.weights.is_per_slice();
    stage->output_data_type = to_quantized_type(data_type);
    const arm_compute::Status status = arm_compute::quantization::calculate_quantized_multipliers(
        a, product.weights.quantization(0, product.n), y, *stage);
    if (status) {
        stage->gemmlowp_multiplier = stage->gemmlowp_multipliers[0];
        stage->gemmlowp_shift = stage->gemmlowp_shifts[0];
        return true;
    }
    return builder.refuse(IR_REASON_ATTRIBUTE, "", "", "%s", status.error_description().c_str());
}

bool add_product(Builder& builder, Product& product)
{
    GEMMLowpOutputStageInfo stage;
    if (!make_stage(builder, product, &stage)) return false;
    const GEMMInfo info(false, false, true, 0, false, false, stage);
    const tensor& a = *builder.source(0);
    const tensor& y = *builder.target();
    ITensor* left =
        builder.input(0, matrix_info(matrix_shape(product.m, product.k), a.data_type, product.a));
    product.weights.negate_zero_point();
    ITensor* right =
        product.weights.make(builder, matrix_shape(product.k, product.n), 0, product.n);
    const TensorInfo result = make_info(matrix_shape(product.m, product.n), DataType::U8);
    return builder.add<arm_compute::NEGEMMLowpMatrixMultiplyCore>(
        left, right, product.bias,
        builder.output(0, quantized_info(result, y.data_type, product.y)), info);
}

// Inputs: a, its scale and zero point, b, its scale and zero point, those of y.
bool build_qlinear_matmul(Builder& builder)
{
    matmul_shape shape;
    if (resolve_matmul_shape(&builder.of(), 0, 3, &shape) != TENGINE_OK)
        return builder.refuse(IR_REASON_SHAPE, "", "", "%s", tengine_error_message());
    if (builder.source(3)->elem_num != int64_t{shape.k} * shape.n)
        return builder.refuse(IR_REASON_SHAPE, "", "",
                              "b is a stack of matrices, expected one matrix");
    Product product = {};
    product.m = static_cast<int>(shape.batch * shape.m);
    product.n = shape.n;
    product.k = shape.k;
    return read_quantization(builder, 1, &product.a) && read_quantization(builder, 6, &product.y) &&
           product.weights.read(builder, builder.source(0)->data_type, product.n, 1) &&
           product.weights.check_sums(builder, product.a.scale, product.y.scale, nullptr) &&
           add_product(builder, product);
}

// The addend as a list of n.
bool make_bias(Builder& builder, const tensor* addend, int n, ITensor** out_bias)
{
    *out_bias = nullptr;
    if (!addend) return true;
    if (addend->elem_num != 1 && addend->elem_num != n)
        return builder.refuse(IR_REASON_SHAPE, addend->name, "",
                              "C has a value for each element, expected one for each column");
    if (addend->dim_num == 2 && addend->dims[1] != n && addend->dims[0] > 1)
        return builder.refuse(IR_REASON_SHAPE, addend->name, "",
                              "C has a value for each row, expected one for each column");
    std::vector<uint8_t> bytes(static_cast<size_t>(n) * sizeof(int32_t));
    for (int i = 0; i < n; ++i)
        std::memcpy(&bytes[static_cast<size_t>(i) * sizeof(int32_t)],
                    &addend->i32[addend->elem_num > 1 ? i : 0], sizeof(int32_t));
    *out_bias = builder.constant(make_info(to_acl_shape({n}), DataType::S32), std::move(bytes));
    return true;
}

// Inputs: a, its scale and zero point, b, its scale and zero point, C, the scale and zero point of
// y. alpha is another factor of the scale of a.
bool build_qgemm(Builder& builder)
{
    const auto& param = *static_cast<const qgemm_param*>(builder.of().op.param_mem);
    gemm_shape shape;
    if (resolve_gemm_shape(&builder.of(), 3, 6, param.transA, param.transB, &shape) != TENGINE_OK)
        return builder.refuse(IR_REASON_SHAPE, "", "", "%s", tengine_error_message());
    if (param.transA) return builder.refuse_value("transA", param.transA, "0");
    Product product = {};
    product.m = shape.m;
    product.n = shape.n;
    product.k = shape.k;
    if (!read_quantization(builder, 1, &product.a) || !read_quantization(builder, 7, &product.y) ||
        !builder.require_constant(6, "addend C") ||
        !product.weights.read(builder, builder.source(0)->data_type, shape.n,
                              param.transB ? shape.k : 1))
        return false;
    product.a.scale *= param.alpha;
    if (!make_bias(builder, builder.source(6), shape.n, &product.bias) ||
        !product.weights.check_sums(builder, product.a.scale, product.y.scale, builder.source(6)))
        return false;
    if (param.transB) product.weights.transpose(shape.n, shape.k);
    return add_product(builder, product);
}

constexpr Operator kQuantizedGemmRows[] = {
    {"QLinearMatMul", kBytes, build_qlinear_matmul},
    {"com.microsoft.QGemm", kBytes, build_qgemm},
};

}  // namespace

extern const OperatorTable quantized_gemm_operators;
const OperatorTable quantized_gemm_operators = make_table(kQuantizedGemmRows);

}  // namespace tengine::acl
