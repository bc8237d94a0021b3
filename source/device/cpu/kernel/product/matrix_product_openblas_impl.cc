// SPDX-License-Identifier: Apache-2.0
// Matrix products with OpenBLAS, see matrix_product.h.
//
// OpenBLAS blocks for the caches and packs both operands into buffers it maps once and keeps, so
// nothing is allocated per call and no workspace is needed. It runs single-threaded here. Products
// with a vector are matrix-vector calls, which read the matrix once and are bound by memory;
// OpenBLAS's general product takes two to three times as long for them. Small products do not go to
// OpenBLAS, see small_product_impl.cc.

#include <cblas.h>

#include <algorithm>
#include <array>
#include <climits>
#include <cstdio>
#include <mutex>

#include "device/cpu/kernel/product/matrix_product_strip.h"
#include "device/cpu/kernel/product/small_product.h"

namespace tengine::cpu {
namespace {

blasint to_int(int64_t value)
{
    return static_cast<blasint>(value);
}

// cblas refuses a leading dimension of 0, which empty matrices have.
blasint to_stride(int64_t stride)
{
    return to_int(std::max<int64_t>(stride, 1));
}

CBLAS_TRANSPOSE to_cblas(bool transposed)
{
    return transposed ? CblasTrans : CblasNoTrans;
}

// y = alpha * matrix * x + beta * y, `rows` x `columns` as stored.
void multiply_vector(const Product& p, const MatrixView& matrix, bool transposed, int64_t rows,
                     int64_t columns, const float* x, int64_t x_step, int64_t y_step)
{
    cblas_sgemv(CblasRowMajor, to_cblas(transposed), to_int(rows), to_int(columns), p.alpha,
                matrix.data, to_stride(matrix.stride), x, to_stride(x_step), p.beta, p.c,
                to_stride(y_step));
}

}  // namespace

StripUnit get_strip_unit()
{
    return {16, 16};
}

void multiply_strip(const Product& p, float*)
{
    if (p.n == 1) {
        const bool transposed = p.a.transposed;
        multiply_vector(p, p.a, transposed, transposed ? p.k : p.m, transposed ? p.m : p.k,
                        p.b.data, get_column_step(p.b), p.c_stride);
    } else if (p.m == 1) {
        const bool transposed = !p.b.transposed;  // c' = b' a'
        multiply_vector(p, p.b, transposed, transposed ? p.k : p.n, transposed ? p.n : p.k,
                        p.a.data, get_row_step(p.a), 1);
    } else if (is_small_product(p)) {
        multiply_small(p);
    } else {
        cblas_sgemm(CblasRowMajor, to_cblas(p.a.transposed), to_cblas(p.b.transposed), to_int(p.m),
                    to_int(p.n), to_int(p.k), p.alpha, p.a.data, to_stride(p.a.stride), p.b.data,
                    to_stride(p.b.stride), p.beta, p.c, to_stride(p.c_stride));
    }
}

uint64_t find_product_workspace(const Product&)
{
    return 0;
}

bool fits_product(int64_t m, int64_t n, int64_t k)
{
    return std::max({m, n, k}) <= INT_MAX;
}

void prepare_products()
{
    static std::once_flag once;
    std::call_once(once, [] { openblas_set_num_threads(1); });
}

const char* get_product_library()
{
    static const auto name = [] {
        std::array<char, 48> text = {};
        std::snprintf(text.data(), text.size(), "OpenBLAS %s", openblas_get_corename());
        return text;
    }();
    return name.data();
}

}  // namespace tengine::cpu
