// SPDX-License-Identifier: Apache-2.0
// Matrix products, see blas.h.
//
// OpenBLAS blocks for the caches and packs both operands into buffers it maps once and keeps, so
// nothing is allocated per call. It runs single-threaded here: a large product is cut into strips
// of rows or of columns of c, whichever there are more of, and each strip is one call on one of our
// workers. What limits it: each strip packs the whole other operand again, so strips are few (two a
// worker, to even out their speeds) and wide. Products with a vector are matrix-vector calls, which
// read the matrix once and are bound by memory; OpenBLAS's general product takes two to three times
// as long for them. Small products do not go to OpenBLAS, see small_product_impl.cc.
#ifdef TENGINE_HAVE_OPENBLAS

#include <cblas.h>

#include <algorithm>
#include <array>
#include <climits>
#include <cstdio>
#include <mutex>

#include "device/cpu/kernel/blas.h"
#include "device/cpu/kernel/small_product.h"
#include "device/cpu/parallel.h"

namespace tengine::cpu {
namespace {

// Strips begin at multiples of this, so that no vector register straddles two of them.
constexpr int64_t kStripUnit = 16;
// Multiply-accumulates worth waking a worker for: 10 us of one core, ten times as long where memory
// is the limit.
constexpr int64_t kMinStripWork = 1 << 19;

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

// Distance of consecutive elements of a view with one row (along_row) or one column.
int64_t vector_step(const MatrixView& view, bool along_row)
{
    return view.transposed == along_row ? view.stride : 1;
}

// y = alpha * matrix * x + beta * y, `rows` x `columns` as stored.
void multiply_vector(const Product& p, const MatrixView& matrix, bool transposed, int64_t rows,
                     int64_t columns, const float* x, int64_t x_step, int64_t y_step)
{
    cblas_sgemv(CblasRowMajor, to_cblas(transposed), to_int(rows), to_int(columns), p.alpha,
                matrix.data, to_stride(matrix.stride), x, to_stride(x_step), p.beta, p.c,
                to_stride(y_step));
}

void multiply_strip(const Product& p)
{
    if (p.n == 1) {
        const bool transposed = p.a.transposed;
        multiply_vector(p, p.a, transposed, transposed ? p.k : p.m, transposed ? p.m : p.k,
                        p.b.data, vector_step(p.b, false), p.c_stride);
    } else if (p.m == 1) {
        const bool transposed = !p.b.transposed;  // c' = b' a'
        multiply_vector(p, p.b, transposed, transposed ? p.k : p.n, transposed ? p.n : p.k,
                        p.a.data, vector_step(p.a, true), 1);
    } else if (is_small_product(p)) {
        multiply_small(p);
    } else {
        cblas_sgemm(CblasRowMajor, to_cblas(p.a.transposed), to_cblas(p.b.transposed), to_int(p.m),
                    to_int(p.n), to_int(p.k), p.alpha, p.a.data, to_stride(p.a.stride), p.b.data,
                    to_stride(p.b.stride), p.beta, p.c, to_stride(p.c_stride));
    }
}

// Rows (columns when by_columns) begin..end-1 of c.
Product strip_of(const Product& p, bool by_columns, int64_t begin, int64_t end)
{
    Product strip = p;
    if (by_columns) {
        strip.n = end - begin;
        strip.b.data += begin * (p.b.transposed ? p.b.stride : 1);
        strip.c += begin;
    } else {
        strip.m = end - begin;
        strip.a.data += begin * (p.a.transposed ? 1 : p.a.stride);
        strip.c += begin * p.c_stride;
    }
    return strip;
}

void scale(const Product& p)
{
    for (int64_t i = 0; i < p.m; ++i) {
        float* row = p.c + i * p.c_stride;
        for (int64_t j = 0; j < p.n; ++j)
            row[j] = p.beta == 0 ? 0 : p.beta * row[j];
    }
}

}  // namespace

bool fits_blas(int64_t m, int64_t n, int64_t k)
{
    return std::max({m, n, k}) <= INT_MAX;
}

void prepare_blas()
{
    static std::once_flag once;
    std::call_once(once, [] { openblas_set_num_threads(1); });
}

void multiply(thread_pool_t* pool, const Product& product)
{
    if (product.m == 0 || product.n == 0) return;
    if (product.k == 0) return scale(product);
    const bool by_columns = product.n > product.m;
    const int64_t extent = by_columns ? product.n : product.m;
    const int64_t units = (extent + kStripUnit - 1) / kStripUnit;
    const int64_t unit_work = kStripUnit * (by_columns ? product.m : product.n) * product.k;
    const int64_t fair_share = units / (2 * int64_t{get_thread_pool_size(pool)});
    const int64_t grain = std::max(fair_share, 1 + kMinStripWork / unit_work);
    parallel_for(pool, units, grain, [&](int64_t begin, int64_t end, int) {
        multiply_strip(
            strip_of(product, by_columns, begin * kStripUnit, std::min(end * kStripUnit, extent)));
    });
}

const char* get_blas_name()
{
    static const auto name = [] {
        std::array<char, 48> text = {};
        std::snprintf(text.data(), text.size(), "OpenBLAS %s", openblas_get_corename());
        return text;
    }();
    return name.data();
}

}  // namespace tengine::cpu

#else

#include "device/cpu/kernel/blas.h"

namespace tengine::cpu {

const char* get_blas_name()
{
    return "";
}

}  // namespace tengine::cpu

#endif  // TENGINE_HAVE_OPENBLAS
