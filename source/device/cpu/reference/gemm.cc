// SPDX-License-Identifier: Apache-2.0
// Gemm, MatMul, MatMulInteger and QLinearMatMul as sums of products.
//
// A block of one output row is summed at once. Where rows of b are contiguous the sums advance side
// by side over k; else each is a dot product.
#include <algorithm>
#include <iterator>
#include <limits>

#include "device/cpu/kernel_table.h"
#include "device/cpu/parallel.h"
#include "device/cpu/reference/accumulator.h"
#include "device/cpu/reference/grain.h"
#include "device/cpu/reference/quantize.h"
#include "device/cpu/types.h"
#include "operator/gemm_param.h"

namespace tengine::cpu {
namespace {

constexpr int kColumnBlock = 128;

// Strides in elements. Zero points (bytes only) are one, one per row of a or column of b, or one
// per row or column of each matrix in the stack.
template <class T>
struct Matrix
{
    const T* data;
    int64_t row_stride, column_stride;
    const tensor* zero_points = nullptr;
};

// Element of a parameter list for row or column `index` of `count` in matrix `matrix` of a stack.
int64_t find_slice(const tensor* values, int64_t matrix, int64_t index, int64_t count)
{
    if (values->elem_num == 1) return 0;
    return values->elem_num == count ? index : matrix * count + index;
}

template <class T>
accumulator_t<T> zero_point_of(const Matrix<T>& operand, int64_t matrix, int64_t index,
                               int64_t count)
{
    if (is_float<T> || !operand.zero_points) return 0;
    return static_cast<accumulator_t<T>>(read_zero_point(
        operand.zero_points, find_slice(operand.zero_points, matrix, index, count)));
}

// sums[j] += a[k] * b[k][j] over all k, where a and b start at the row and the block of columns.
template <class A, class B>
void multiply_block(int depth, int columns, Matrix<A> a, accumulator_t<A> a_zero, Matrix<B> b,
                    const accumulator_t<B>* b_zeros, accumulator_t<A>* sums)
{
    const auto centre = [](auto value, [[maybe_unused]] auto zero) {
        if constexpr (is_float<B>)
            return widen(value);
        else
            return widen(value) - zero;
    };
    if (b.column_stride == 1) {
        for (int k = 0; k < depth; ++k) {
            const accumulator_t<A> factor = centre(a.data[k * a.column_stride], a_zero);
            const B* row = b.data + k * b.row_stride;
            for (int j = 0; j < columns; ++j)
                sums[j] += factor * centre(row[j], b_zeros[j]);
        }
        return;
    }
    for (int j = 0; j < columns; ++j) {
        const B* column = b.data + j * b.column_stride;
        accumulator_t<A> sum = sums[j];
        for (int k = 0; k < depth; ++k)
            sum += centre(a.data[k * a.column_stride], a_zero) *
                   centre(column[k * b.row_stride], b_zeros[j]);
        sums[j] = sum;
    }
}

// Which matrices of a and b make matrix `index` of the output's stack.
struct StackPosition
{
    int64_t a = 0, b = 0;

    StackPosition(const matmul_shape& shape, int64_t index)
    {
        for (int i = shape.batch_rank - 1; i >= 0; --i) {
            a += index % shape.batch_dims[i] * shape.a_strides[i];
            b += index % shape.batch_dims[i] * shape.b_strides[i];
            index /= shape.batch_dims[i];
        }
    }
};

struct Element
{
    int64_t matrix;      // in the output's stack
    StackPosition from;  // in the stacks of a and b
    int64_t row, column;
};

// Multiplies every pair of matrices; store(Element, sum) takes the results.
template <class A, class B, class Store>
void multiply(const KernelContext& context, const matmul_shape& shape, const Matrix<A>& a,
              const Matrix<B>& b, const Store& store)
{
    const int64_t blocks = (int64_t{shape.n} + kColumnBlock - 1) / kColumnBlock;
    const auto multiply_blocks = [&](int64_t first, int64_t last, int) {
        accumulator_t<A> sums[kColumnBlock];
        accumulator_t<B> b_zeros[kColumnBlock];
        for (int64_t item = first; item < last; ++item) {
            const int64_t row = item / blocks % shape.m;
            const int64_t matrix = item / blocks / shape.m;
            const int64_t column = item % blocks * kColumnBlock;
            const int columns = static_cast<int>(std::min<int64_t>(kColumnBlock, shape.n - column));
            const StackPosition from(shape, matrix);
            Matrix<A> a_row = a;
            Matrix<B> b_block = b;
            a_row.data += from.a * shape.m * shape.k + row * a.row_stride;
            b_block.data += from.b * shape.k * shape.n + column * b.column_stride;
            for (int j = 0; j < columns; ++j)
                b_zeros[j] = zero_point_of(b, from.b, column + j, shape.n);
            std::fill_n(sums, columns, accumulator_t<A>{0});
            multiply_block(shape.k, columns, a_row, zero_point_of(a, from.a, row, shape.m), b_block,
                           b_zeros, sums);
            for (int j = 0; j < columns; ++j)
                store(Element{matrix, from, row, column + j}, sums[j]);
        }
    };
    parallel_for(context.pool, shape.batch * shape.m * blocks,
                 grain_for(int64_t{shape.k} * kColumnBlock), multiply_blocks);
}

template <class T>
const T* data_of(const tensor* tensor)
{
    return static_cast<const T*>(tensor->data);
}

template <class T>
T* data_of(tensor* tensor)
{
    return static_cast<T*>(tensor->data);
}

using ProductTypes = TypeList<float, Half, BFloat16, double, int32_t, uint32_t, int64_t, uint64_t>;

// alpha * sum + beta * addend. Integers keep all their bits where no factor is involved.
template <class T>
T scale_sum(accumulator_t<T> sum, accumulator_t<T> addend, const gemm_param& param)
{
    if constexpr (is_float<T>) {
        return static_cast<T>(param.alpha * sum + param.beta * addend);
    } else {
        if (param.alpha == 1 && param.beta == 1) return static_cast<T>(sum + addend);
        const double value = param.alpha * static_cast<double>(static_cast<T>(sum)) +
                             param.beta * static_cast<double>(static_cast<T>(addend));
        constexpr double kLowest = static_cast<double>(std::numeric_limits<T>::lowest());
        constexpr double kHighest = static_cast<double>(std::numeric_limits<T>::max());
        if (!(value > kLowest)) return std::numeric_limits<T>::lowest();
        return value < kHighest ? static_cast<T>(value) : std::numeric_limits<T>::max();
    }
}

// Offset of element (row, column) of Gemm's C, a scalar, list or matrix that broadcasts.
int64_t find_addend(const tensor* addend, int64_t row, int64_t column)
{
    const int rank = addend->dim_num;
    const int columns = rank >= 1 ? addend->dims[rank - 1] : 1;
    const int rows = rank >= 2 ? addend->dims[rank - 2] : 1;
    return (rows == 1 ? 0 : row) * columns + (columns == 1 ? 0 : column);
}

int run_gemm(KernelContext& context)
{
    const gemm_param& param = context.param<gemm_param>();
    const tensor* a = context.input(0);
    const tensor* b = context.input(1);
    const tensor* addend = context.input(2);
    matmul_shape shape = {};
    shape.m = context.output(0)->dims[0];
    shape.n = context.output(0)->dims[1];
    shape.k = a->dims[param.transA ? 0 : 1];
    shape.batch = 1;
    return dispatch_type(ProductTypes{}, a->data_type, [&](auto type) {
        using T = typename decltype(type)::type;
        const Matrix<T> left = {data_of<T>(a), param.transA ? 1 : shape.k,
                                param.transA ? shape.m : 1};
        const Matrix<T> right = {data_of<T>(b), param.transB ? 1 : shape.n,
                                 param.transB ? shape.k : 1};
        T* output = data_of<T>(context.output(0));
        multiply(context, shape, left, right, [&](const Element& at, accumulator_t<T> sum) {
            accumulator_t<T> added = 0;
            if (addend) added = widen(data_of<T>(addend)[find_addend(addend, at.row, at.column)]);
            output[at.row * shape.n + at.column] = scale_sum<T>(sum, added, param);
        });
        return TENGINE_OK;
    });
}

int run_matmul(KernelContext& context)
{
    matmul_shape shape;
    TENGINE_RETURN_IF_ERROR(resolve_matmul_shape(context.node, 0, 1, &shape));
    return dispatch_type(ProductTypes{}, context.input(0)->data_type, [&](auto type) {
        using T = typename decltype(type)::type;
        T* output = data_of<T>(context.output(0));
        multiply(context, shape, Matrix<T>{data_of<T>(context.input(0)), shape.k, 1},
                 Matrix<T>{data_of<T>(context.input(1)), shape.n, 1},
                 [&](const Element& at, accumulator_t<T> sum) {
                     output[(at.matrix * shape.m + at.row) * shape.n + at.column] =
                         static_cast<T>(sum);
                 });
        return TENGINE_OK;
    });
}

using ByteTypes = TypeList<int8_t, uint8_t>;

// Calls `store` with the sums of a product of bytes, a at input 0. The other inputs are at these
// indices.
template <class Store>
int multiply_bytes(KernelContext& context, const matmul_shape& shape, int a_zero_index, int b_index,
                   int b_zero_index, const Store& store)
{
    const tensor* b = context.input(b_index);
    return dispatch_type(ByteTypes{}, context.input(0)->data_type, [&](auto a_type) {
        using A = typename decltype(a_type)::type;
        return dispatch_type(ByteTypes{}, b->data_type, [&](auto b_type) {
            using B = typename decltype(b_type)::type;
            multiply(
                context, shape,
                Matrix<A>{data_of<A>(context.input(0)), shape.k, 1, context.input(a_zero_index)},
                Matrix<B>{data_of<B>(b), shape.n, 1, context.input(b_zero_index)}, store);
            return TENGINE_OK;
        });
    });
}

int run_matmul_integer(KernelContext& context)
{
    matmul_shape shape;
    TENGINE_RETURN_IF_ERROR(resolve_matmul_shape(context.node, 0, 1, &shape));
    int32_t* output = context.output(0)->i32;
    return multiply_bytes(context, shape, 2, 1, 3, [&](const Element& at, uint64_t sum) {
        output[(at.matrix * shape.m + at.row) * shape.n + at.column] = static_cast<int32_t>(sum);
    });
}

int run_qlinear_matmul(KernelContext& context)
{
    matmul_shape shape;
    TENGINE_RETURN_IF_ERROR(resolve_matmul_shape(context.node, 0, 3, &shape));
    const tensor* a_scale = context.input(1);
    const tensor* b_scale = context.input(4);
    const tensor* y_scale = context.input(6);
    const tensor* y_zero_point = context.input(7);
    const QuantizedRange range = byte_range(context.output(0)->data_type);
    uint8_t* output = context.output(0)->u8;  // int8 has the same bits
    return multiply_bytes(context, shape, 2, 3, 5, [&](const Element& at, uint64_t sum) {
        const double factor =
            double{a_scale->f32[find_slice(a_scale, at.from.a, at.row, shape.m)]} *
            b_scale->f32[find_slice(b_scale, at.from.b, at.column, shape.n)] /
            y_scale->f32[find_slice(y_scale, at.matrix, at.row, shape.m)];
        const int zero_point =
            read_zero_point(y_zero_point, find_slice(y_zero_point, at.matrix, at.row, shape.m));
        output[(at.matrix * shape.m + at.row) * shape.n + at.column] = static_cast<uint8_t>(
            quantize(static_cast<double>(static_cast<int64_t>(sum)) * factor, zero_point, range));
    });
}

const Kernel rows[] = {
    {"Gemm", "reference", nullptr, run_gemm},
    {"MatMul", "reference", nullptr, run_matmul},
    {"MatMulInteger", "reference", nullptr, run_matmul_integer},
    {"QLinearMatMul", "reference", nullptr, run_qlinear_matmul},
};

}  // namespace

extern const KernelTable gemm_reference;
const KernelTable gemm_reference = {rows, std::size(rows)};

}  // namespace tengine::cpu
