// SPDX-License-Identifier: Apache-2.0
// Matrix products with OpenBLAS, see matrix_product.h.
//
// OpenBLAS blocks for the caches and packs both operands into buffers it maps once and keeps, so
// nothing is allocated per call and no workspace is needed. It runs single-threaded here. Products
// with a vector are matrix-vector calls, which read the matrix once and are bound by memory;
// OpenBLAS's general product takes two to three times as long for them. OpenBLAS 0.3.21, where it
// takes a processor for one with AVX-512, allocates memory in each product of up to 10^6
// multiply-accumulates with untransposed operands, and running a graph must not: these are made
// with Highway, where the build has it.

#include <cblas.h>

#include <algorithm>
#include <array>
#include <climits>
#include <cstdio>
#include <mutex>

#include "device/cpu/kernel/product/matrix_product_strip.h"

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

#ifdef TENGINE_HAVE_HIGHWAY
constexpr bool kPacks = true;
#else
constexpr bool kPacks = false;
#endif

bool is_small(const Product& p)
{
    constexpr double kSmall = 1e6;
    return !p.a.transposed && !p.b.transposed &&
           static_cast<double>(p.m) * static_cast<double>(p.n) * static_cast<double>(p.k) <= kSmall;
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

uint64_t find_product_workspace(const Product& product)
{
    const bool is_empty = product.m == 0 || product.n == 0 || product.k == 0;
    if constexpr (kPacks) return is_empty ? 0 : find_packed_workspace(product);
    return 0;
}

void multiply_strip(const Product& p, [[maybe_unused]] float* workspace)
{
    if constexpr (kPacks) {
        if (p.n > 1 && p.m > 1 && !p.has_vectors && is_small(p))
            return multiply_packed(p, workspace);
    }
    if (p.n == 1) {
        const bool transposed = p.a.transposed;
        multiply_vector(p, p.a, transposed, transposed ? p.k : p.m, transposed ? p.m : p.k,
                        p.b.data, get_column_step(p.b), p.c_stride);
    } else if (p.m == 1 || p.has_vectors) {
        const bool transposed = !p.b.transposed;  // c' = b' a'
        Product row = p;
        for (int64_t i = 0; i < p.m; ++i, row.c += p.c_stride)
            multiply_vector(row, p.b, transposed, transposed ? p.k : p.n, transposed ? p.n : p.k,
                            p.a.data + i * p.a.stride, get_row_step(p.a), 1);
    } else {
        cblas_sgemm(CblasRowMajor, to_cblas(p.a.transposed), to_cblas(p.b.transposed), to_int(p.m),
                    to_int(p.n), to_int(p.k), p.alpha, p.a.data, to_stride(p.a.stride), p.b.data,
                    to_stride(p.b.stride), p.beta, p.c, to_stride(p.c_stride));
    }
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
