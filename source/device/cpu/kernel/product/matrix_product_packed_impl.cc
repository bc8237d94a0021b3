// SPDX-License-Identifier: Apache-2.0
// Matrix products with Highway, for builds without OpenBLAS; see matrix_product.h.
//
// K. Goto, R. van de Geijn, Anatomy of High-Performance Matrix Multiplication, 2008; F. Van Zee,
// R. van de Geijn, BLIS: A Framework for Rapidly Instantiating BLAS Functionality, 2015.
// c is computed in tiles of registers, four or eight rows by three vectors: one element of a,
// broadcast, and three vectors of b give three multiply-adds. Both operands are packed in the order
// in which tiles read them. A block of up to kDepth rows of b is packed, in panels as wide as a
// tile, and stays in a quarter of the L2 cache; one panel of a is packed, and stays in L1 while it
// meets all panels of the block. Transposed operands differ in packing only. Where a has one panel,
// each element of b is used once, and b is read where it is.
// The last panel of columns has as many vectors as it needs. A tile beyond the edge of c is
// computed in full, next to c, and its part within c is copied.
// Limits: multiply-adds, where c has some hundreds of columns; with fewer, packing a is not repaid.
#include <algorithm>
#include <cstdint>

#include "base/cpu.h"
#include "device/cpu/kernel/product/matrix_product_strip.h"
#include "device/cpu/kernel/product/vector_product.h"

// clang-format off
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "device/cpu/kernel/product/matrix_product_packed_impl.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace tengine::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace {

using Floats = hn::ScalableTag<float>;
using Vector = hn::Vec<Floats>;

// A quad is four rows of a, packed: the first element of each, then the second of each, and so on.
// Two of them make 24 registers of sums, for processors that have 32.
#if (HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3) || HWY_ARCH_ARM_A64 || HWY_ARCH_RVV
constexpr int kTileQuads = 2;
#else
constexpr int kTileQuads = 1;
#endif
constexpr int64_t kQuadRows = 4;
constexpr int64_t kTileRows = kTileQuads * kQuadRows;
constexpr int64_t kTileVectors = 3;
constexpr int64_t kDepth = 256;
constexpr int64_t kMaxTileColumns = kTileVectors * HWY_MAX_BYTES / int64_t{sizeof(float)};

static int64_t count_lanes()
{
    return static_cast<int64_t>(hn::Lanes(Floats()));
}

int64_t count_tile_columns()
{
    return kTileVectors * count_lanes();
}

int64_t round_up(int64_t value, int64_t unit)
{
    return (value + unit - 1) / unit * unit;
}

// ---- tiles ----

struct Tile
{
    const float* a;  // quads, one after the other
    const float* b;  // rows `b_step` apart
    int64_t b_step;
    int64_t k;
    float* c;
    int64_t c_stride;
    float alpha, beta;
};

// Element `kRow` of a quad times b, plus c. NEON multiplies by a lane of a register; on AArch32
// only the multiply-add that rounds twice does, which Highway does not use.
template <int kRow>
HWY_INLINE Vector add_product(const float* quad, Vector b, Vector c)
{
#if HWY_ARCH_ARM_A64 && HWY_TARGET == HWY_NEON
    return hn::MulAdd(hn::Broadcast<kRow>(hn::LoadDup128(Floats(), quad)), b, c);
#elif HWY_ARCH_ARM_V7 && HWY_TARGET == HWY_NEON
    return Vector(vmlaq_lane_f32(c.raw, b.raw, vld1_f32(quad + kRow / 2 * 2), kRow % 2));
#else
    return hn::MulAdd(hn::Set(Floats(), quad[kRow]), b, c);
#endif
}

template <int kRow, int kVectors>
HWY_INLINE void add_row(const float* quad, Vector b0, Vector b1, Vector b2, Vector& c0, Vector& c1,
                        Vector& c2)
{
    c0 = add_product<kRow>(quad, b0, c0);
    if constexpr (kVectors > 1) c1 = add_product<kRow>(quad, b1, c1);
    if constexpr (kVectors > 2) c2 = add_product<kRow>(quad, b2, c2);
}

template <int kVectors>
HWY_INLINE void store_row(const Tile& t, int row, Vector c0, Vector c1, Vector c2)
{
    const Floats d;
    const int64_t lanes = count_lanes();
    float* c = t.c + row * t.c_stride;
    const auto store = [&](Vector sum, float* out) {
        sum = hn::Mul(sum, hn::Set(d, t.alpha));
        if (t.beta != 0) sum = hn::MulAdd(hn::Set(d, t.beta), hn::LoadU(d, out), sum);
        hn::StoreU(sum, d, out);
    };
    store(c0, c);
    if constexpr (kVectors > 1) store(c1, c + lanes);
    if constexpr (kVectors > 2) store(c2, c + 2 * lanes);
}

// Vectors without a fixed size make no arrays: row r of c is xr, yr, zr.
template <int kQuads, int kVectors>
HWY_NOINLINE void multiply_tile(const Tile& t)
{
    const Floats d;
    const int64_t lanes = count_lanes();
    Vector x0 = hn::Zero(d), x1 = x0, x2 = x0, x3 = x0, x4 = x0, x5 = x0, x6 = x0, x7 = x0;
    Vector y0 = x0, y1 = x0, y2 = x0, y3 = x0, y4 = x0, y5 = x0, y6 = x0, y7 = x0;
    Vector z0 = x0, z1 = x0, z2 = x0, z3 = x0, z4 = x0, z5 = x0, z6 = x0, z7 = x0;
    const float *a = t.a, *b = t.b, *second = t.a + kQuadRows * t.k;
    for (int64_t k = 0; k < t.k; ++k, b += t.b_step, a += kQuadRows, second += kQuadRows) {
        const Vector b0 = hn::LoadU(d, b);
        const Vector b1 = kVectors > 1 ? hn::LoadU(d, b + lanes) : b0;
        const Vector b2 = kVectors > 2 ? hn::LoadU(d, b + 2 * lanes) : b0;
        add_row<0, kVectors>(a, b0, b1, b2, x0, y0, z0);
        add_row<1, kVectors>(a, b0, b1, b2, x1, y1, z1);
        add_row<2, kVectors>(a, b0, b1, b2, x2, y2, z2);
        add_row<3, kVectors>(a, b0, b1, b2, x3, y3, z3);
        if constexpr (kQuads > 1) {
            add_row<0, kVectors>(second, b0, b1, b2, x4, y4, z4);
            add_row<1, kVectors>(second, b0, b1, b2, x5, y5, z5);
            add_row<2, kVectors>(second, b0, b1, b2, x6, y6, z6);
            add_row<3, kVectors>(second, b0, b1, b2, x7, y7, z7);
        }
    }
    store_row<kVectors>(t, 0, x0, y0, z0);
    store_row<kVectors>(t, 1, x1, y1, z1);
    store_row<kVectors>(t, 2, x2, y2, z2);
    store_row<kVectors>(t, 3, x3, y3, z3);
    if constexpr (kQuads > 1) {
        store_row<kVectors>(t, 4, x4, y4, z4);
        store_row<kVectors>(t, 5, x5, y5, z5);
        store_row<kVectors>(t, 6, x6, y6, z6);
        store_row<kVectors>(t, 7, x7, y7, z7);
    }
}

using MultiplyTile = void (*)(const Tile&);

MultiplyTile find_tile(int64_t quads, int64_t vectors)
{
    static constexpr MultiplyTile kOneQuad[] = {multiply_tile<1, 1>, multiply_tile<1, 2>,
                                                multiply_tile<1, 3>};
    static constexpr MultiplyTile kAllQuads[] = {
        multiply_tile<kTileQuads, 1>, multiply_tile<kTileQuads, 2>, multiply_tile<kTileQuads, 3>};
    return (quads == 1 ? kOneQuad : kAllQuads)[vectors - 1];
}

// `rows` x `columns` of c, which may be less than a tile.
void multiply_part(const Tile& tile, int64_t rows, int64_t columns)
{
    const int64_t quads = (rows + kQuadRows - 1) / kQuadRows;
    const int64_t width = round_up(columns, count_lanes());
    const MultiplyTile multiply = find_tile(quads, width / count_lanes());
    if (rows == quads * kQuadRows && columns == width) return multiply(tile);
    HWY_ALIGN float sums[kTileRows * kMaxTileColumns];
    Tile whole = tile;
    whole.c = sums;
    whole.c_stride = width;
    whole.beta = 0;
    multiply(whole);
    for (int64_t i = 0; i < rows; ++i) {
        float* c = tile.c + i * tile.c_stride;
        const float* sum = sums + i * width;
        for (int64_t j = 0; j < columns; ++j)
            c[j] = tile.beta == 0 ? sum[j] : tile.beta * c[j] + sum[j];
    }
}

// ---- packing ----

// Lines are rows of a or columns of b; the packed k-th elements of a panel's lines are `step` from
// the next.

// `width` lines, 1 to 4, whose elements follow each other in memory; all but the first `present`
// are copies of the last of these.
void pack_along(const float* lines, int64_t stride, int64_t present, int64_t width, int64_t k_num,
                int64_t step, float* out)
{
    const auto line = [&](int64_t l) { return lines + std::min(l, present - 1) * stride; };
    const float *l0 = line(0), *l1 = line(1), *l2 = line(2), *l3 = line(3);
    const Floats d;
    const int64_t lanes = count_lanes();
    HWY_ALIGN float quads[kQuadRows * HWY_MAX_BYTES / sizeof(float)];
    int64_t k = 0;
    for (; k + lanes <= k_num; k += lanes) {
        const bool in_place = step == kQuadRows;
        hn::StoreInterleaved4(hn::LoadU(d, l0 + k), hn::LoadU(d, l1 + k), hn::LoadU(d, l2 + k),
                              hn::LoadU(d, l3 + k), d, in_place ? out + k * step : quads);
        for (int64_t i = 0; i < lanes && !in_place; ++i)
            std::copy_n(quads + i * kQuadRows, width, out + (k + i) * step);
    }
    for (; k < k_num; ++k) {
        const float quad[kQuadRows] = {l0[k], l1[k], l2[k], l3[k]};
        std::copy_n(quad, width, out + k * step);
    }
}

// `step` lines that lie side by side in memory, k-th elements `stride` apart; all but the first
// `present` are 0.
void pack_across(const float* lines, int64_t stride, int64_t present, int64_t k_num, int64_t step,
                 float* out)
{
    for (int64_t k = 0; k < k_num; ++k, lines += stride, out += step) {
        const Floats d;
        const int64_t lanes = count_lanes();
        int64_t i = 0;
        for (; i + lanes <= present; i += lanes)
            hn::StoreU(hn::LoadU(d, lines + i), d, out + i);
        for (; i < present; ++i)
            out[i] = lines[i];
        for (; i < step; ++i)
            out[i] = 0;
    }
}

// Rows i..i+rows-1 of a, at most a tile, from column k on.
void pack_rows(const MatrixView& a, int64_t i, int64_t rows, int64_t k, int64_t k_num, float* out)
{
    for (; rows > 0; rows -= kQuadRows, i += kQuadRows, out += kQuadRows * k_num) {
        const int64_t present = std::min(rows, kQuadRows);
        if (a.transposed)
            pack_across(a.data + k * a.stride + i, a.stride, present, k_num, kQuadRows, out);
        else
            pack_along(a.data + i * a.stride + k, a.stride, present, kQuadRows, k_num, kQuadRows,
                       out);
    }
}

// The width of a panel that begins `columns` columns before the end.
int64_t find_width(int64_t columns)
{
    return std::min(count_tile_columns(), round_up(columns, count_lanes()));
}

// Columns j..j+columns-1 of the transpose of the stored matrix, from row k on, in panels.
void pack_transposed(const MatrixView& b, int64_t j, int64_t columns, int64_t k, int64_t k_num,
                     float* out)
{
    for (int64_t first = 0; first < columns; first += count_tile_columns()) {
        const int64_t width = find_width(columns - first);
        for (int64_t i = 0; i < width; i += kQuadRows) {
            const int64_t column = std::min(first + i, columns - 1);
            pack_along(b.data + (j + column) * b.stride + k, b.stride,
                       std::min(columns - column, kQuadRows), std::min(width - i, kQuadRows), k_num,
                       width, out + first * k_num + i);
        }
    }
}

// The same columns of the stored matrix itself.
void pack_columns(const MatrixView& b, int64_t j, int64_t columns, int64_t k, int64_t k_num,
                  float* out)
{
    constexpr int64_t kRowsAtOnce = 4;
    const int64_t panel = count_tile_columns();
    for (int64_t row = 0; row < k_num; row += kRowsAtOnce)
        for (int64_t first = 0; first < columns; first += panel) {
            const int64_t width = find_width(columns - first);
            pack_across(b.data + (k + row) * b.stride + j + first, b.stride,
                        std::min(columns - first, panel), std::min(k_num - row, kRowsAtOnce), width,
                        out + first * k_num + row * width);
        }
}

// ---- blocks ----

// The sizes of the blocks that are packed at once.
struct Blocks
{
    explicit Blocks(const Product& p)
    {
        const int64_t cache = static_cast<int64_t>(get_cpu_cache_size().l2 / 4);
        const int64_t panel = count_tile_columns();
        const int64_t parts = (p.k + kDepth - 1) / kDepth;
        depth = (p.k + parts - 1) / parts;
        reads_b = p.m <= kTileRows && !p.b.transposed;
        const int64_t most = cache / (kDepth * int64_t{sizeof(float)}) / panel * panel;
        packed_columns =
            reads_b ? panel : std::min(std::max(most, 4 * panel), round_up(p.n, panel));
        columns = reads_b ? p.n : packed_columns;
    }

    int64_t a_size() const { return round_up(kTileRows * depth, 16); }
    int64_t b_size() const { return round_up(packed_columns * depth, 16); }

    int64_t depth, columns;
    bool reads_b;  // all but the last panel is read where it is
    int64_t packed_columns;
};

uint64_t find_workspace(const Product& product)
{
    const Blocks blocks(product);
    return static_cast<uint64_t>(blocks.a_size() + blocks.b_size());
}

StripUnit find_strip_unit()
{
    return {kTileRows, count_tile_columns()};
}

// c at columns j.. of the block and rows k.. of b. A panel that is read where it is, is whole.
void multiply_block(const Product& p, const Blocks& blocks, int64_t j, int64_t k, float* workspace)
{
    const int64_t panel = count_tile_columns();
    const int64_t columns = std::min(p.n - j, blocks.columns),
                  depth = std::min(p.k - k, blocks.depth);
    const int64_t unpacked = blocks.reads_b ? columns / panel * panel : 0;
    float *a = workspace, *b = workspace + blocks.a_size();
    const auto pack = p.b.transposed ? pack_transposed : pack_columns;
    pack(p.b, j + unpacked, columns - unpacked, k, depth, b);
    for (int64_t i = 0; i < p.m; i += kTileRows) {
        const int64_t rows = std::min(p.m - i, kTileRows);
        pack_rows(p.a, i, rows, k, depth, a);
        for (int64_t first = 0; first < columns; first += panel) {
            const int64_t width = std::min(columns - first, panel);
            const bool in_place = first < unpacked;
            multiply_part(
                {a,
                 in_place ? p.b.data + k * p.b.stride + j + first : b + (first - unpacked) * depth,
                 in_place ? p.b.stride : find_width(width), depth, p.c + i * p.c_stride + j + first,
                 p.c_stride, p.alpha, k == 0 ? p.beta : 1},
                rows, width);
        }
    }
}

void multiply_blocks(const Product& p, float* workspace)
{
    const Blocks blocks(p);
    for (int64_t j = 0; j < p.n; j += blocks.columns)
        for (int64_t k = 0; k < p.k; k += blocks.depth)
            multiply_block(p, blocks, j, k, workspace);
}

}  // namespace
}  // namespace tengine::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tengine::cpu {
namespace {

HWY_EXPORT(find_strip_unit);
HWY_EXPORT(find_workspace);
HWY_EXPORT(multiply_blocks);

bool is_empty(const Product& p)
{
    return p.m == 0 || p.n == 0 || p.k == 0;
}

}  // namespace

const char* get_product_library()
{
    return "";
}

void prepare_products() {}

bool fits_product(int64_t, int64_t, int64_t)
{
    return true;
}

StripUnit get_strip_unit()
{
    return HWY_DYNAMIC_DISPATCH(find_strip_unit)();
}

uint64_t find_product_workspace(const Product& product)
{
    if (is_empty(product) || is_vector_product(product)) return 0;
    return HWY_DYNAMIC_DISPATCH(find_workspace)(product);
}

void multiply_strip(const Product& product, float* workspace)
{
    if (is_vector_product(product)) return multiply_vector(product);
    HWY_DYNAMIC_DISPATCH(multiply_blocks)(product, workspace);
}

}  // namespace tengine::cpu
#endif  // HWY_ONCE
