// SPDX-License-Identifier: Apache-2.0
// Matrix products on several workers, see matrix_product.h.
//
// A large product is cut into strips of rows or of columns of c, whichever there are more of, and
// each strip is one product on one of the library's workers. Limits: each strip packs the whole
// other operand again, so strips are few (two a worker, to even out their speeds) and wide.
#include <algorithm>

#include "device/cpu/kernel/product/matrix_product_strip.h"
#include "device/cpu/parallel.h"
#include "device/cpu/shared/rounding.h"

namespace tengine::cpu {
namespace {

// Multiply-accumulates worth waking a worker for: 10 us of one core, ten times as long where memory
// is the limit.
constexpr int64_t kMinStripWork = 1 << 19;

// Rows (columns when by_columns) begin..end-1 of c.
Product strip_of(const Product& p, bool by_columns, int64_t begin, int64_t end)
{
    Product strip = p;
    if (by_columns) {
        strip.n = end - begin;
        strip.b.data += begin * get_row_step(p.b);
        strip.c += begin;
    } else {
        strip.m = end - begin;
        strip.a.data += begin * get_column_step(p.a);
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

void multiply(thread_pool_t* pool, const Product& product, float* workspace)
{
    if (product.m == 0 || product.n == 0) return;
    if (product.k == 0) return scale(product);
    const bool by_columns = product.n > product.m;
    const int64_t extent = by_columns ? product.n : product.m;
    const int64_t unit = by_columns ? get_strip_unit().columns : get_strip_unit().rows;
    const int64_t units = divide_up(extent, unit);
    const int64_t unit_work = unit * (by_columns ? product.m : product.n) * product.k;
    const int64_t fair_share = units / (2 * int64_t{get_thread_pool_size(pool)});
    const int64_t grain = std::max(fair_share, 1 + kMinStripWork / unit_work);
    const uint64_t workspace_size = find_product_workspace(product);
    parallel_for(pool, units, grain, [&](int64_t begin, int64_t end, int worker) {
        multiply_strip(
            strip_of(product, by_columns, begin * unit, std::min(end * unit, extent)),
            workspace_size ? workspace + workspace_size * static_cast<uint64_t>(worker) : nullptr);
    });
}

}  // namespace tengine::cpu
