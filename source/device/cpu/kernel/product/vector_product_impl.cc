// SPDX-License-Identifier: Apache-2.0
// Products of a matrix and a vector, see vector_product.h.
//
// The matrix is read once and along its rows. Either each row times the vector is an element of the
// result: one row after the other, so that all is one stream, which memory delivers at 34 to 38
// GB/s on a Zen 4, against 22 to 25 for four rows at a time. Where the vector does not stay in L1
// beside a row, it is 18 against 30, and rows are taken by four. Or each row times an element of
// the vector is added to the result: four at a time, since the result is read and written for each.
// The same rows multiply several vectors in turn, each in the order of a single one.
// Limits: memory.
#include <algorithm>
#include <cstdint>

#include "device/cpu/kernel/product/matrix_product_strip.h"
#include "device/cpu/kernel/product/vector_product.h"

// clang-format off
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "device/cpu/kernel/product/vector_product_impl.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace tengine::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace {

using Floats = hn::ScalableTag<float>;
using Vector = hn::Vec<Floats>;

static int64_t count_lanes()
{
    return static_cast<int64_t>(hn::Lanes(Floats()));
}

HWY_INLINE float sum_lanes(Vector sums)
{
    return hn::GetLane(hn::SumOfLanes(Floats(), sums));
}

HWY_INLINE void finish(const Product& p, float sum, float* y)
{
    *y = p.beta == 0 ? p.alpha * sum : p.alpha * sum + p.beta * *y;
}

// A row times the vector, in as many accumulators as hide the latency of a multiply-add.
HWY_INLINE float multiply_row(const float* row, const float* x, int64_t columns)
{
    const Floats d;
    const int64_t lanes = count_lanes();
    Vector s0 = hn::Zero(d), s1 = s0, s2 = s0, s3 = s0;
    const auto add = [&](int64_t at, Vector sum) {
        return hn::MulAdd(hn::LoadU(d, row + at), hn::LoadU(d, x + at), sum);
    };
    int64_t i = 0;
    for (; i + 4 * lanes <= columns; i += 4 * lanes) {
        s0 = add(i, s0);
        s1 = add(i + lanes, s1);
        s2 = add(i + 2 * lanes, s2);
        s3 = add(i + 3 * lanes, s3);
    }
    for (; i + lanes <= columns; i += lanes)
        s0 = add(i, s0);
    float sum = sum_lanes(hn::Add(hn::Add(s0, s1), hn::Add(s2, s3)));
    for (; i < columns; ++i)
        sum += row[i] * x[i];
    return sum;
}

// Elements of the result from `rows` rows, 1 to 4, of `columns` elements; missing rows are computed
// as copies of the last.
void multiply_rows(const Product& p, const MatrixView& matrix, int64_t rows, int64_t columns,
                   const float* x, int64_t y_step, float* y)
{
    const auto row = [&](int64_t r) { return matrix.data + std::min(r, rows - 1) * matrix.stride; };
    const float *r0 = row(0), *r1 = row(1), *r2 = row(2), *r3 = row(3);
    const Floats d;
    Vector s0 = hn::Zero(d), s1 = s0, s2 = s0, s3 = s0;
    int64_t i = 0;
    for (; i + count_lanes() <= columns; i += count_lanes()) {
        const Vector v = hn::LoadU(d, x + i);
        s0 = hn::MulAdd(hn::LoadU(d, r0 + i), v, s0);
        s1 = hn::MulAdd(hn::LoadU(d, r1 + i), v, s1);
        s2 = hn::MulAdd(hn::LoadU(d, r2 + i), v, s2);
        s3 = hn::MulAdd(hn::LoadU(d, r3 + i), v, s3);
    }
    float sums[4] = {sum_lanes(s0), sum_lanes(s1), sum_lanes(s2), sum_lanes(s3)};
    for (; i < columns; ++i) {
        sums[0] += r0[i] * x[i];
        sums[1] += r1[i] * x[i];
        sums[2] += r2[i] * x[i];
        sums[3] += r3[i] * x[i];
    }
    for (int64_t r = 0; r < rows; ++r)
        finish(p, sums[r], y + r * y_step);
}

// Adds kRows rows of `columns` elements, each times an element of x.
template <int kRows>
void add_rows(const Product& p, const float* r0, int64_t stride, int64_t columns, const float* x,
              float* y)
{
    const float *r1 = r0 + (kRows - 1) / 3 * stride, *r2 = r1 + (kRows - 1) / 3 * stride,
                *r3 = r2 + (kRows - 1) / 3 * stride;
    const float x0 = p.alpha * x[0], x1 = kRows > 1 ? p.alpha * x[1] : 0,
                x2 = kRows > 1 ? p.alpha * x[2] : 0, x3 = kRows > 1 ? p.alpha * x[3] : 0;
    const Floats d;
    int64_t i = 0;
    for (; i + count_lanes() <= columns; i += count_lanes()) {
        Vector sum = hn::MulAdd(hn::LoadU(d, r0 + i), hn::Set(d, x0), hn::LoadU(d, y + i));
        if constexpr (kRows > 1) {
            sum = hn::MulAdd(hn::LoadU(d, r1 + i), hn::Set(d, x1), sum);
            sum = hn::MulAdd(hn::LoadU(d, r2 + i), hn::Set(d, x2), sum);
            sum = hn::MulAdd(hn::LoadU(d, r3 + i), hn::Set(d, x3), sum);
        }
        hn::StoreU(sum, d, y + i);
    }
    for (; i < columns; ++i) {
        y[i] += r0[i] * x0;
        if constexpr (kRows > 1) y[i] = y[i] + r1[i] * x1 + r2[i] * x2 + r3[i] * x3;
    }
}

// y = alpha * matrix * x + beta * y with a matrix of rows x columns as stored.
void multiply_by_rows(const Product& p, const MatrixView& matrix, int64_t rows, int64_t columns,
                      const Vectors& vectors)
{
    constexpr int64_t kStreamedColumns = 3072;
    const int64_t unit = columns <= kStreamedColumns ? 1 : 4;
    MatrixView part = matrix;
    for (int64_t i = 0; i < rows; i += unit, part.data += unit * matrix.stride)
        for (int64_t v = 0; v < vectors.num; ++v) {
            const float* x = vectors.x + v * vectors.x_step;
            float* y = vectors.y + v * vectors.y_step + i * vectors.element_step;
            if (unit == 1)
                finish(p, multiply_row(part.data, x, columns), y);
            else
                multiply_rows(p, part, std::min(rows - i, unit), columns, x, vectors.element_step,
                              y);
        }
}

// The same with the transpose of the matrix.
void multiply_by_columns(const Product& p, const MatrixView& matrix, int64_t rows, int64_t columns,
                         const Vectors& vectors)
{
    for (int64_t v = 0; v < vectors.num; ++v) {
        float* y = vectors.y + v * vectors.y_step;
        for (int64_t j = 0; j < columns; ++j)
            y[j] = p.beta == 0 ? 0 : p.beta * y[j];
    }
    const float* from = matrix.data;
    for (int64_t i = 0; i < rows;) {
        const int64_t unit = i + 4 <= rows ? 4 : 1;
        for (int64_t v = 0; v < vectors.num; ++v) {
            const float* x = vectors.x + v * vectors.x_step + i;
            float* y = vectors.y + v * vectors.y_step;
            if (unit == 4)
                add_rows<4>(p, from, matrix.stride, columns, x, y);
            else
                add_rows<1>(p, from, matrix.stride, columns, x, y);
        }
        i += unit;
        from += unit * matrix.stride;
    }
}

}  // namespace
}  // namespace tengine::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tengine::cpu {
namespace {

HWY_EXPORT(multiply_by_rows);
HWY_EXPORT(multiply_by_columns);

bool has_column(const Product& p)
{
    return p.n == 1 && get_column_step(p.b) == 1 && (!p.a.transposed || p.c_stride == 1);
}

bool has_row(const Product& p)
{
    return (p.m == 1 || p.has_vectors) && get_row_step(p.a) == 1;
}

}  // namespace

bool is_vector_product(const Product& product)
{
    return has_column(product) || has_row(product);
}

void multiply_vector(const Product& p)
{
    if (!has_column(p)) {  // c' = b' a'
        const Vectors vectors = {p.a.data, p.m, p.a.stride, p.c, p.c_stride, 1};
        if (p.b.transposed)
            HWY_DYNAMIC_DISPATCH(multiply_by_rows)(p, p.b, p.n, p.k, vectors);
        else
            HWY_DYNAMIC_DISPATCH(multiply_by_columns)(p, p.b, p.k, p.n, vectors);
        return;
    }
    const Vectors vector = {p.b.data, 1, 0, p.c, 0, p.c_stride};
    if (p.a.transposed)
        HWY_DYNAMIC_DISPATCH(multiply_by_columns)(p, p.a, p.k, p.m, vector);
    else
        HWY_DYNAMIC_DISPATCH(multiply_by_rows)(p, p.a, p.m, p.k, vector);
}

}  // namespace tengine::cpu
#endif  // HWY_ONCE
