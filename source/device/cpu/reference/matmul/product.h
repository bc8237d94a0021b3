// SPDX-License-Identifier: Apache-2.0
// Products of stacks of matrices, for the kernels of gemm.cc and qlinear_gemm.cc.
//
// A block of one output row is accumulated together. If rows of b are contiguous, all accumulators
// advance along k together; else each is a dot product.
#pragma once

#include <algorithm>
#include <cstdint>

#include "device/cpu/kernel_context.h"
#include "device/cpu/parallel.h"
#include "device/cpu/reference/vector/quantize.h"
#include "device/cpu/shared/grain.h"
#include "device/cpu/shared/matrix_stack.h"
#include "device/cpu/shared/types.h"
#include "operator/onnx/gemm_param.h"

namespace tengine::cpu {

inline constexpr int kColumnBlock = 128;

// Strides are in elements. Zero points (8-bit types only) are one value, one per row of a or column
// of b, or one per row or column of each matrix in the stack.
template <class T>
struct Matrix
{
    const T* data;
    int64_t row_stride, column_stride;
    const tensor* zero_points = nullptr;
};

// Returns the element of a parameter list for row or column `index` of `count` in matrix `matrix`
// of a stack.
inline int64_t find_slice(const tensor* values, int64_t matrix, int64_t index, int64_t count)
{
    if (values->elem_num == 1) return 0;
    return values->elem_num == count ? index : matrix * count + index;
}

template <class Sum, class T>
Sum zero_point_of(const Matrix<T>& operand, int64_t matrix, int64_t index, int64_t count)
{
    if (is_float<T> || !operand.zero_points) return 0;
    return static_cast<Sum>(read_zero_point(operand.zero_points,
                                            find_slice(operand.zero_points, matrix, index, count)));
}

// Adds a[k] * b[k][j] to sums[j] for all k; a and b start at the row and the block of columns.
template <class Sum, class A, class B>
void multiply_block(int depth, int columns, Matrix<A> a, Sum a_zero, Matrix<B> b,
                    const Sum* b_zeros, Sum* sums)
{
    const auto centre = [](auto value, [[maybe_unused]] Sum zero) {
        if constexpr (is_float<B>)
            return static_cast<Sum>(value);
        else
            return static_cast<Sum>(value) - zero;
    };
    if (b.column_stride == 1) {
        for (int k = 0; k < depth; ++k) {
            const Sum factor = centre(a.data[k * a.column_stride], a_zero);
            const B* row = b.data + k * b.row_stride;
            for (int j = 0; j < columns; ++j)
                sums[j] += factor * centre(row[j], b_zeros[j]);
        }
        return;
    }
    for (int j = 0; j < columns; ++j) {
        const B* column = b.data + j * b.column_stride;
        Sum sum = sums[j];
        for (int k = 0; k < depth; ++k)
            sum += centre(a.data[k * a.column_stride], a_zero) *
                   centre(column[k * b.row_stride], b_zeros[j]);
        sums[j] = sum;
    }
}

struct Element
{
    int64_t matrix;      // in the output's stack
    StackPosition from;  // in the stacks of a and b
    int64_t row, column;
};

// Multiplies every pair of matrices; store(Element, sum) takes the results. Accumulators have a
// type without overflow, or wrap.
template <class Sum, class A, class B, class Store>
void multiply(const KernelContext& context, const matmul_shape& shape, const Matrix<A>& a,
              const Matrix<B>& b, const Store& store)
{
    const int64_t blocks = (int64_t{shape.n} + kColumnBlock - 1) / kColumnBlock;
    const auto multiply_blocks = [&](int64_t first, int64_t last, int) {
        Sum sums[kColumnBlock];
        Sum b_zeros[kColumnBlock];
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
                b_zeros[j] = zero_point_of<Sum>(b, from.b, column + j, shape.n);
            std::fill_n(sums, columns, Sum{0});
            multiply_block(shape.k, columns, a_row, zero_point_of<Sum>(a, from.a, row, shape.m),
                           b_block, b_zeros, sums);
            for (int j = 0; j < columns; ++j)
                store(Element{matrix, from, row, column + j}, sums[j]);
        }
    };
    parallel_for(context.pool, shape.batch * shape.m * blocks,
                 grain_for(int64_t{shape.k} * kColumnBlock), multiply_blocks);
}

// Returns the offset of element (row, column) of Gemm's C, a scalar, list or matrix that
// broadcasts.
inline int64_t find_addend(const tensor* addend, int64_t row, int64_t column)
{
    const int rank = addend->dim_num;
    const int columns = rank >= 1 ? addend->dims[rank - 1] : 1;
    const int rows = rank >= 2 ? addend->dims[rank - 2] : 1;
    return (rows == 1 ? 0 : row) * columns + (columns == 1 ? 0 : column);
}

}  // namespace tengine::cpu
