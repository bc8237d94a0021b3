// SPDX-License-Identifier: Apache-2.0
// Matrix products with the tile of convolutions (pixels_f32.h); see matrix_product_strip.h.
//
// A block of up to kDepth rows of b is packed in panels, and stays in a quarter of the L2 cache; a
// block of rows of a stays in another, and is read where it is, unless a is transposed. A few tiles
// of rows do not repay packing b, which they read where it is, unless it comes from beyond the
// cache, which gives whole rows faster than those of a panel, or unless the rows of a panel collide
// in L1 and there is more than one tile.
// Limits: multiply-adds, where a has some tens of rows; with fewer the bandwidth of L2 for b.
#include <algorithm>
#include <cstdint>
#include <utility>

#include "base/cpu.h"
#include "device/cpu/kernel/product/matrix_product_strip.h"
#include "device/cpu/kernel/product/pixels_f32.h"
#include "device/cpu/kernel/vector/fixed_vectors.h"
#include "device/cpu/shared/rounding.h"

// clang-format off
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "device/cpu/kernel/product/matrix_product_packed_impl.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include "device/cpu/kernel/product/panel_copy-inl.h"
#include "device/cpu/kernel/product/tile/tile_f32-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tengine::cpu::HWY_NAMESPACE {

// `depth` rows of b from row k on, columns j..j+columns-1, in panels. The stored rows are read four
// at a time, along all panels.
void pack_block(const MatrixView& b, int64_t k, int64_t depth, int64_t j, int64_t columns,
                int64_t panel_columns, float* block)
{
    const int64_t unit = b.transposed || columns <= panel_columns ? depth : 4;
    for (int64_t row = 0; row < depth; row += unit)
        for (int64_t first = 0; first < columns; first += panel_columns) {
            const int64_t left = columns - first, rows = std::min(depth - row, unit);
            const int64_t width = find_panel_width(left, panel_columns);
            float* panel = block + first * depth + row * width;
            if (b.transposed)
                pack_lines_across(b.data + (j + first) * b.stride + k, b.stride, 1, left, rows,
                                  width, panel);
            else
                pack_lines(b.data + (k + row) * b.stride + j + first, b.stride, left, rows, width,
                           panel);
        }
}

// Rows of a transposed matrix.
void pack_rows(const float* a, int64_t stride, int64_t depth, int64_t rows, int64_t length,
               float* packed)
{
    pack_lines_across(a, stride, 1, depth, rows, length, packed);
}

// Rows of a, by a panel's columns of the rows of b, which are `step` apart.
// Minimal builds do not read b where it is.
void multiply_in_place(const FloatTile& first, int64_t rows, int64_t most, int64_t step)
{
    FloatTile tile = first;
    for (; !IS_MINIMAL && rows > 0; rows -= most, advance(tile, most))
        multiply_matrix_tile<IS_MINIMAL ? 1 : kPixelRows>(tile, std::min(rows, most), step);
}

// A row of c = alpha * accumulators + beta * c.
void add_scaled(const Product& p, const float* sums, int64_t columns, float beta, float* c)
{
    const Floats d;
    const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
    for (int64_t i = 0; i < columns; i += lanes) {
        Vector sum = hn::Mul(hn::LoadU(d, sums + i), hn::Set(d, p.alpha));
        if (beta != 0) sum = hn::MulAdd(hn::Set(d, beta), load_lanes(c + i, columns - i), sum);
        store_lanes(sum, c + i, columns - i);
    }
}

}  // namespace tengine::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tengine::cpu {
namespace {

HWY_EXPORT(pack_block);
HWY_EXPORT(pack_rows);
HWY_EXPORT(multiply_in_place);
HWY_EXPORT(add_scaled);

constexpr int64_t kDepth = 256, kFewestTiles = 4;
constexpr int64_t kFewTiles = 4;  // which do not repay packing b

// How a product is cut.
struct Blocks
{
    explicit Blocks(const Product& p)
    {
        int64_t lanes;
        describe_pixel_tile(&tile_rows, &lanes);
        panel_columns = 2 * lanes;
        depth = divide_up(p.k, divide_up(p.k, kDepth));
        const int64_t cache = static_cast<int64_t>(get_cpu_cache_size().l2 / sizeof(float));
        const int64_t lines = cache / 4 / kDepth;
        rows = std::max(lines / tile_rows, kFewestTiles) * tile_rows;
        columns = std::max(lines / panel_columns, kFewestTiles) * panel_columns;
        const int64_t tiles = do_rows_collide(p.b.stride) ? 1 : kFewTiles;
        reads_b = !IS_MINIMAL && !p.b.transposed && p.m <= tiles * tile_rows && p.k * p.n <= cache;
        row_length = p.a.transposed ? round_up(depth, 4) : p.a.stride;
        b_size = depth * std::min(columns, round_up(p.n, panel_columns));
        a_size = p.a.transposed ? std::min(rows, p.m) * row_length : 0;
    }

    // The columns of a block of b that are read where they are.
    int64_t count_unpacked(int64_t block_columns) const
    {
        return reads_b ? block_columns / panel_columns * panel_columns : 0;
    }

    int64_t depth;
    int64_t rows, row_length;        // of a block of a
    int64_t columns, panel_columns;  // of a block of b
    int64_t tile_rows;               // the most of a tile
    int64_t b_size, a_size;
    bool reads_b;  // whole panels are read where they are
};

struct Workspace
{
    Workspace(const Blocks& blocks, float* begin)
        : b(begin),
          a(b + blocks.b_size),
          zeros(a + blocks.a_size),
          sums(zeros + blocks.panel_columns)
    {
    }

    static int64_t find_size(const Blocks& blocks)
    {
        return blocks.b_size + blocks.a_size + (1 + blocks.tile_rows) * blocks.panel_columns;
    }

    float* b;      // a block
    float* a;      // a block, if a is transposed
    float* zeros;  // the bias of a panel
    float* sums;   // the results of a tile that need a factor
};

// The first tile of a panel of b.
struct Panel
{
    FloatTile tile;
    int64_t most_rows;
    bool is_wide;
    int64_t b_step;  // between the rows of b, where they are read in place; 0: the panel is packed

    void multiply(const FloatTile& first, int64_t rows) const
    {
        if (b_step == 0) return multiply_pixel_rows(first, rows, most_rows, is_wide);
        HWY_DYNAMIC_DISPATCH(multiply_in_place)(first, rows, most_rows, b_step);
    }
};

// Multiplies rows by a panel, with another factor than 1 or another beta than 0 and 1. `sums` has
// room for a tile whose rows are `step` apart.
void multiply_scaled(const Product& p, const Panel& panel, int64_t rows, float beta, int64_t step,
                     float* sums)
{
    FloatTile tile = panel.tile;
    float* c = tile.output;
    tile.output = sums;
    tile.output_step = step;
    for (; rows > 0; rows -= panel.most_rows, tile.input += panel.most_rows * tile.input_step) {
        const int64_t count = std::min(rows, panel.most_rows);
        panel.multiply(tile, count);
        for (int64_t i = 0; i < count; ++i, c += p.c_stride)
            HWY_DYNAMIC_DISPATCH(add_scaled)(p, sums + i * step, tile.columns, beta, c);
    }
}

// c at rows i.. of a and columns j.. of b, whose elements k.. are multiplied.
struct Part
{
    int64_t i, j, k, rows, columns, depth;
};

void multiply_part(const Product& p, const Blocks& blocks, const Part& part, const float* rows,
                   const Workspace& workspace)
{
    static const Fusion kNothing;
    static const int64_t kWhole = 0;  // the only K segment
    const int64_t unpacked = blocks.count_unpacked(part.columns);
    const float beta = part.k == 0 ? p.beta : 1;
    Panel panel = {};
    panel.most_rows = find_most_pixel_rows(blocks.row_length);
    for (int64_t j = 0; j < part.columns; j += blocks.panel_columns) {
        const bool in_place = j < unpacked;
        FloatTile& tile = panel.tile;
        tile.input = rows;
        tile.input_step = blocks.row_length;
        tile.segments = &kWhole;
        tile.segment_num = 1;
        tile.segment_length = part.depth;
        tile.bias = workspace.zeros;
        tile.weights = in_place ? p.b.data + part.k * p.b.stride + part.j + j
                                : workspace.b + (j - unpacked) * part.depth;
        tile.output = p.c + part.i * p.c_stride + part.j + j;
        tile.output_step = p.c_stride;
        tile.columns = std::min(part.columns - j, blocks.panel_columns);
        tile.fusion = &kNothing;
        panel.is_wide =
            find_panel_width(tile.columns, blocks.panel_columns) == blocks.panel_columns;
        panel.b_step = in_place ? p.b.stride : 0;
        if (p.alpha != 1 || (beta != 0 && beta != 1)) {
            multiply_scaled(p, panel, part.rows, beta, blocks.panel_columns, workspace.sums);
            continue;
        }
        if (beta == 1) tile.addend = tile.output;
        panel.multiply(tile, part.rows);
    }
}

}  // namespace

uint64_t find_packed_workspace(const Product& product)
{
    const Blocks blocks(product);
    return static_cast<uint64_t>(round_up(Workspace::find_size(blocks), 16));
}

void multiply_packed(const Product& p, float* workspace)
{
    const auto pack_a = HWY_DYNAMIC_DISPATCH(pack_rows);
    const auto pack_b = HWY_DYNAMIC_DISPATCH(pack_block);
    const Blocks blocks(p);
    const Workspace memory(blocks, workspace);
    std::fill_n(memory.zeros, blocks.panel_columns, 0.0f);
    Part part = {};
    for (part.j = 0; part.j < p.n; part.j += blocks.columns)
        for (part.k = 0; part.k < p.k; part.k += blocks.depth) {
            part.columns = std::min(blocks.columns, p.n - part.j);
            part.depth = std::min(blocks.depth, p.k - part.k);
            const int64_t unpacked = blocks.count_unpacked(part.columns);
            pack_b(p.b, part.k, part.depth, part.j + unpacked, part.columns - unpacked,
                   blocks.panel_columns, memory.b);
            for (part.i = 0; part.i < p.m; part.i += blocks.rows) {
                part.rows = std::min(blocks.rows, p.m - part.i);
                const float* rows =
                    p.a.data + part.i * get_column_step(p.a) + part.k * get_row_step(p.a);
                if (p.a.transposed)
                    pack_a(rows, p.a.stride, part.depth, part.rows, blocks.row_length, memory.a);
                multiply_part(p, blocks, part, p.a.transposed ? memory.a : rows, memory);
            }
        }
}

}  // namespace tengine::cpu
#endif  // HWY_ONCE
