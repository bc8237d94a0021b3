// SPDX-License-Identifier: Apache-2.0
// Products of quantised matrices: MatMulInteger, QLinearMatMul, QGemm, and those with a float
// result, DynamicQuantizeMatMul, RowQuantizeMatMul and MatMulIntegerToFloat.
#include "device/cpu/kernel_table.h"
#include "device/cpu/reference/matmul/product.h"
#include "device/cpu/reference/matmul/qlinear.h"
#include "device/cpu/reference/vector/small_elements.h"
#include "device/cpu/shared/types.h"
#include "operator/onnx/qlinear_param.h"

namespace tengine::cpu {
namespace {

// One operand: the 8-bit tensor at an input, its strides and its zero points.
struct Operand
{
    const tensor* bytes;
    int64_t row_stride, column_stride;
    const tensor* zero_points;

    template <class T>
    Matrix<T> as() const
    {
        return {static_cast<const T*>(bytes->data), row_stride, column_stride, zero_points};
    }
};

// Calls `store` with the sums, which are int32 if they cannot overflow.
template <class Store>
int multiply_bytes(KernelContext& context, const matmul_shape& shape, const Operand& a,
                   const Operand& b, const Store& store)
{
    return dispatch_type(Int8Types{}, a.bytes->data_type, [&](auto a_type) {
        using A = typename decltype(a_type)::type;
        return dispatch_type(Int8Types{}, b.bytes->data_type, [&](auto b_type) {
            using B = typename decltype(b_type)::type;
            if (shape.k <= kMostNarrowProducts)
                multiply<int32_t>(context, shape, a.as<A>(), b.as<B>(), store);
            else
                multiply<int64_t>(context, shape, a.as<A>(), b.as<B>(), store);
            return TENGINE_OK;
        });
    });
}

int run_matmul_integer(KernelContext& context)
{
    matmul_shape shape;
    TENGINE_RETURN_IF_ERROR(resolve_matmul_shape(context.node, 0, 1, &shape));
    const Operand a = {context.input(0), shape.k, 1, context.input(2)};
    const Operand b = {context.input(1), shape.n, 1, context.input(3)};
    int32_t* output = context.output(0)->i32;
    return multiply_bytes(context, shape, a, b, [&](const Element& at, int64_t sum) {
        output[(at.matrix * shape.m + at.row) * shape.n + at.column] = static_cast<int32_t>(sum);
    });
}

// The multipliers of a product's results, in the node's scratch: one, one per column, or one for
// each element.
struct Multipliers
{
    int64_t rows, columns;
    Multiplier* values;

    int64_t number() const { return rows * columns; }
    Multiplier at(int64_t row, int64_t column) const
    {
        return values[(rows == 1 ? 0 : row) * columns + (columns == 1 ? 0 : column)];
    }
};

// Finds the shape of the multipliers. Scales of a and y may be one per row, that of b one per
// column, each also per matrix.
Multipliers shape_matmul_multipliers(const KernelContext& context, const matmul_shape& shape)
{
    const int64_t b_scales = context.input(4)->elem_num;
    const bool by_row =
        context.input(1)->elem_num > 1 || context.input(6)->elem_num > 1 || b_scales > shape.n;
    return {by_row ? shape.batch * shape.m : 1, b_scales > 1 ? shape.n : 1,
            static_cast<Multiplier*>(context.scratch)};
}

// Multiplies fp8 as doubles, in which sums of such products are mostly exact.
int multiply_float8(KernelContext& context, const matmul_shape& shape)
{
    double* numbers[2] = {static_cast<double*>(context.scratch), nullptr};
    numbers[1] = numbers[0] + context.input(0)->elem_num;
    for (int i = 0; i < 2; ++i) {
        const tensor* codes = context.input(3 * i);
        const SmallReader reader(codes);
        for (int64_t k = 0; k < codes->elem_num; ++k)
            numbers[i][k] = reader[k];
    }
    const tensor *a_scale = context.input(1), *b_scale = context.input(4),
                 *y_scale = context.input(6);
    const SmallWriter writer(context.output(0)->data_type, true);
    uint8_t* output = context.output(0)->u8;
    multiply<double>(context, shape, Matrix<double>{numbers[0], shape.k, 1},
                     Matrix<double>{numbers[1], shape.n, 1}, [&](const Element& at, double sum) {
                         const double scale =
                             double{a_scale->f32[find_slice(a_scale, at.from.a, at.row, shape.m)]} *
                             b_scale->f32[find_slice(b_scale, at.from.b, at.column, shape.n)] /
                             y_scale->f32[find_slice(y_scale, at.matrix, at.row, shape.m)];
                         output[(at.matrix * shape.m + at.row) * shape.n + at.column] =
                             writer.encode(sum * scale);
                     });
    return TENGINE_OK;
}

int prepare_qlinear_matmul(KernelContext& context)
{
    if (is_small(context.input(0)->data_type)) {
        context.scratch_size = sizeof(double) * (static_cast<uint64_t>(context.input(0)->elem_num) +
                                                 static_cast<uint64_t>(context.input(3)->elem_num));
        return TENGINE_OK;
    }
    matmul_shape shape;
    TENGINE_RETURN_IF_ERROR(resolve_matmul_shape(context.node, 0, 3, &shape));
    context.scratch_size = sizeof(Multiplier) *
                           static_cast<uint64_t>(shape_matmul_multipliers(context, shape).number());
    return TENGINE_OK;
}

int fill_multipliers(const KernelContext& context, const matmul_shape& shape,
                     const Multipliers& multipliers)
{
    const tensor* a_scale = context.input(1);
    const tensor* b_scale = context.input(4);
    const tensor* y_scale = context.input(6);
    for (int64_t i = 0; i < multipliers.number(); ++i) {
        const int64_t column = i % multipliers.columns;
        const int64_t row = i / multipliers.columns % std::max(1, shape.m);
        const int64_t matrix = i / multipliers.columns / std::max(1, shape.m);
        const StackPosition from(shape, matrix);
        const double real =
            find_product_scale(context, a_scale->f32[find_slice(a_scale, from.a, row, shape.m)],
                               b_scale->f32[find_slice(b_scale, from.b, column, shape.n)],
                               y_scale->f32[find_slice(y_scale, matrix, row, shape.m)]);
        TENGINE_RETURN_IF_ERROR(make_multipliers(context, &real, 1, &multipliers.values[i]));
    }
    return TENGINE_OK;
}

int run_qlinear_matmul(KernelContext& context)
{
    matmul_shape shape;
    TENGINE_RETURN_IF_ERROR(resolve_matmul_shape(context.node, 0, 3, &shape));
    if (is_small(context.input(0)->data_type)) return multiply_float8(context, shape);
    const Multipliers multipliers = shape_matmul_multipliers(context, shape);
    TENGINE_RETURN_IF_ERROR(fill_multipliers(context, shape, multipliers));
    const Operand a = {context.input(0), shape.k, 1, context.input(2)};
    const Operand b = {context.input(3), shape.n, 1, context.input(5)};
    const tensor* zero_points = context.input(7);
    const int data_type = context.output(0)->data_type;
    const ir_rounding_t rounding = find_rounding(context);
    uint8_t* output = context.output(0)->u8;  // int8 results have the same bits
    return multiply_bytes(context, shape, a, b, [&](const Element& at, int64_t sum) {
        const int zero_point =
            read_zero_point(zero_points, find_slice(zero_points, at.matrix, at.row, shape.m));
        const int64_t row = at.matrix * shape.m + at.row;
        output[row * shape.n + at.column] =
            Requantizer(data_type, zero_point, rounding)(sum, multipliers.at(row, at.column));
    });
}

int prepare_qgemm(KernelContext& context)
{
    context.scratch_size = sizeof(Multiplier) * static_cast<uint64_t>(context.input(4)->elem_num);
    return TENGINE_OK;
}

int run_qgemm(KernelContext& context)
{
    const qgemm_param& param = context.param<qgemm_param>();
    gemm_shape matrices;
    TENGINE_RETURN_IF_ERROR(
        resolve_gemm_shape(context.node, 3, 6, param.transA, param.transB, &matrices));
    matmul_shape shape = {};
    shape.m = matrices.m;
    shape.n = matrices.n;
    shape.k = matrices.k;
    shape.batch = 1;
    const Quantization y(context, 7);
    const Multipliers multipliers = {1, context.input(4)->elem_num,
                                     static_cast<Multiplier*>(context.scratch)};
    TENGINE_RETURN_IF_ERROR(
        make_weight_multipliers(context, 1, 7, multipliers.values, param.alpha));
    const Operand a = {context.input(0), param.transA ? 1 : shape.k, param.transA ? shape.m : 1,
                       context.input(2)};
    const Operand b = {context.input(3), param.transB ? 1 : shape.n, param.transB ? shape.k : 1,
                       context.input(5)};
    const tensor* addend = context.input(6);
    const Requantizer requantize(context.output(0)->data_type, y.zero_point,
                                 find_rounding(context));
    uint8_t* output = context.output(0)->u8;
    return multiply_bytes(context, shape, a, b, [&](const Element& at, int64_t sum) {
        if (addend) sum += addend->i32[find_addend(addend, at.row, at.column)];
        output[at.row * shape.n + at.column] = requantize(sum, multipliers.at(0, at.column));
    });
}

// The scale of a, a factor of all sums, and the numbers of the inputs with the scale of b and the
// bias.
struct FloatResult
{
    double a_scale;
    const tensor *b_scale, *bias;
};

// Stores sum * a_scale * b_scale + bias, rounded once.
int multiply_to_float(KernelContext& context, const matmul_shape& shape, const Operand& a,
                      const Operand& b, const FloatResult& result)
{
    float* output = context.output(0)->f32;
    return multiply_bytes(context, shape, a, b, [&](const Element& at, int64_t sum) {
        const int64_t scale = find_slice(result.b_scale, at.from.b, at.column, shape.n);
        const double factor = result.a_scale * double{result.b_scale->f32[scale]};
        const double bias = result.bias ? result.bias->f32[at.column] : 0;
        output[(at.matrix * shape.m + at.row) * shape.n + at.column] =
            static_cast<float>(static_cast<double>(sum) * factor + bias);
    });
}

int run_matmul_integer_to_float(KernelContext& context)
{
    matmul_shape shape;
    TENGINE_RETURN_IF_ERROR(resolve_matmul_shape(context.node, 0, 1, &shape));
    const Operand a = {context.input(0), shape.k, 1, context.input(4)};
    const Operand b = {context.input(1), shape.n, 1, context.input(5)};
    return multiply_to_float(context, shape, a, b,
                             {context.input(2)->f32[0], context.input(3), context.input(6)});
}

// Requests scratch for A as uint8.
int prepare_dynamic_quantize_matmul(KernelContext& context)
{
    context.scratch_size = static_cast<uint64_t>(context.input(0)->elem_num);
    return TENGINE_OK;
}

int run_dynamic_quantize_matmul(KernelContext& context)
{
    matmul_shape shape;
    TENGINE_RETURN_IF_ERROR(resolve_matmul_shape(context.node, 0, 1, &shape));
    const tensor* reals = context.input(0);
    const DynamicRange range(reals->f32, reals->elem_num);
    uint8_t* bytes = static_cast<uint8_t*>(context.scratch);
    for (int64_t i = 0; i < reals->elem_num; ++i)
        bytes[i] = range.quantize_value(reals->f32[i]);
    tensor quantized = {}, zero_point = {};
    uint8_t zero = static_cast<uint8_t>(range.zero_point);
    quantized.data_type = zero_point.data_type = TENGINE_DT_UINT8;
    quantized.data = bytes;
    zero_point.data = &zero;
    zero_point.elem_num = 1;
    const Operand a = {&quantized, shape.k, 1, &zero_point};
    const Operand b = {context.input(1), shape.n, 1, context.input(3)};
    return multiply_to_float(context, shape, a, b,
                             {range.scale, context.input(2), context.input(4)});
}

// The same, for each row of A with its own scale, and one matrix B.
int run_row_quantize_matmul(KernelContext& context)
{
    const tensor &a = *context.input(0), &b = *context.input(1), &scales = *context.input(2);
    const tensor *zero_points = context.input(3), *bias = context.input(4);
    const int64_t depth = b.dims[0], columns = b.dims[1];
    const auto slice = [](const tensor& values, int64_t column) {
        return values.elem_num > 1 ? column : 0;
    };
    uint8_t* bytes = static_cast<uint8_t*>(context.scratch);
    const int64_t rows = columns > 0 ? context.output(0)->elem_num / columns : 0;
    for (int64_t row = 0; row < rows; ++row) {
        const float* reals = a.f32 + row * depth;
        const DynamicRange range(reals, depth);
        for (int64_t k = 0; k < depth; ++k)
            bytes[k] = range.quantize_value(reals[k]);
        for (int64_t i = 0; i < columns; ++i) {
            const int zero = zero_points ? read_zero_point(zero_points, slice(*zero_points, i)) : 0;
            int64_t sum = 0;
            for (int64_t k = 0; k < depth; ++k) {
                const int64_t at = k * columns + i;
                const int weight = b.data_type == TENGINE_DT_INT8 ? b.i8[at] : b.u8[at];
                sum += int64_t{bytes[k] - range.zero_point} * (weight - zero);
            }
            context.output(0)->f32[row * columns + i] = static_cast<float>(
                static_cast<double>(sum) * range.scale * double{scales.f32[slice(scales, i)]} +
                (bias ? bias->f32[i] : 0));
        }
    }
    return TENGINE_OK;
}

constexpr Kernel qlinear_gemm_rows[] = {
    {"MatMulInteger", "reference", nullptr, run_matmul_integer},
    {"QLinearMatMul", "reference", nullptr, run_qlinear_matmul, prepare_qlinear_matmul},
    {"com.microsoft.QGemm", "reference", nullptr, run_qgemm, prepare_qgemm},
    {"com.microsoft.DynamicQuantizeMatMul", "reference", nullptr, run_dynamic_quantize_matmul,
     prepare_dynamic_quantize_matmul},
    {"tengine.RowQuantizeMatMul", "reference", nullptr, run_row_quantize_matmul,
     prepare_dynamic_quantize_matmul},
    {"com.microsoft.MatMulIntegerToFloat", "reference", nullptr, run_matmul_integer_to_float},
};

}  // namespace

extern const KernelTable qlinear_gemm_reference;
const KernelTable qlinear_gemm_reference = make_table<qlinear_gemm_rows>();

}  // namespace tengine::cpu
