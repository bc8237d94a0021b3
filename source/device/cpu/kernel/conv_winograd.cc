// SPDX-License-Identifier: Apache-2.0
// Conv of 3x3, stride 1, in fp32 with channels last: Winograd's minimal filtering F(4x4, 3x3) and,
// of large maps, F(6x6, 3x3).
//
// A. Lavin, S. Gray, Fast Algorithms for Convolutional Neural Networks, 2015: four by four results
// are made of six by six inputs with 36 multiplications for each pair of channels in place of 144,
// six by six of eight by eight with 64 in place of 324. Y = A' [(G g G') * (B' d B)] A; the
// matrices follow from the points (Toom, Cook). Those of F(4x4) are 0, +-1/sqrt(2), +-sqrt(2) and
// infinity, with which the error is 2.1 to 2.4 times that of a direct sum, and not 9 times as with
// 1 and 2 (B. Barabasz et al., 2018); those of F(6x6) are 0, +-1, +-2, +-1/2 and infinity, and the
// error is 8 to 11 times that of a direct sum. G g G' is computed in double and packed once. Of a
// block of tiles B' d B is made first, 36 or 64 matrices of tiles by channels: of a line of tiles,
// whose patches overlap, each column is transformed once. Each matrix is multiplied with its
// weights (pixel_conv.h), a panel of channels at a time, and the results of a panel are transformed
// back where they lie in the cache. What follows the convolution is done then.
// Limits: multiply-adds in the products; with few channels inputs and results from memory.
// Accuracy: |error| <= k * 4 * 2^-24 * sqrt(9 * input channels) * rms(y) for normal inputs, k 3 of
// F(4x4) and 12 of F(6x6); see the option CPU.winograd.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <initializer_list>

#include "base/cpu.h"
#include "device/cpu/kernel/activation.h"
#include "device/cpu/kernel/conv_problem.h"
#include "device/cpu/kernel/fixed_vectors.h"
#include "device/cpu/kernel/packed_problem.h"
#include "device/cpu/kernel/pixel_conv.h"
#include "device/cpu/kernel/winograd_filter.h"
#include "device/cpu/parallel.h"
#include "tengine/device.h"

#ifdef TENGINE_HAVE_HIGHWAY
#ifndef TENGINE_CPU_CONV_WINOGRAD
#define TENGINE_CPU_CONV_WINOGRAD
namespace tengine::cpu {

// Sizes in floats.
struct Winograd : ConvProblem
{
    int64_t tile;                     // results of a tile, in each direction
    int64_t tiles_x, tiles;           // of a line, of an image
    int64_t block;                    // tiles transformed at once
    int64_t blocks;                   // of an image
    int64_t image_step, output_step;  // between pixels
    int64_t panel_lanes, panels;
    int64_t panel_floats;  // of one position of a whole panel
    bool spreads_panels;   // workers share the panels of a block, not the blocks

    int64_t patch() const { return tile + 2; }  // inputs, in each direction
    int64_t positions() const { return patch() * patch(); }
    // Floats between the positions of transformed tiles, and of a panel's products. All positions
    // are accessed side by side, so these are odd numbers of cache lines: else they would fall into
    // a few sets of the cache.
    int64_t input_step() const { return spread(block * input_channels); }
    int64_t product_step() const { return spread(block * panel_lanes); }
    int64_t input_floats() const { return positions() * input_step(); }
    int64_t panel_width(int64_t panel) const
    {
        return find_panel_width(output_channels - panel * panel_lanes, panel_lanes);
    }
    int64_t product_floats() const { return positions() * product_step(); }

  private:
    static int64_t spread(int64_t floats)
    {
        return ((floats + kCacheLineFloats - 1) / kCacheLineFloats | 1) * kCacheLineFloats;
    }
};

struct WinogradOperands
{
    const float* image;
    const float* addend;  // or null, of the image
    float* output;        // of the image
    const float* weights;
    const float* bias;  // of all channels of all panels
    const Fusion* fusion;
};

}  // namespace tengine::cpu
#endif

// clang-format off
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "device/cpu/kernel/conv_winograd.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include "device/cpu/kernel/lanes-inl.h"
#include "device/cpu/kernel/winograd_points-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tengine::cpu::HWY_NAMESPACE {

// Channels that go through a line of tiles together: two lines of the cache.
constexpr int64_t kChunkFloats = 2 * kCacheLineFloats;

// A line of tiles of an image.
struct TileLine
{
    const float* image;
    int64_t top;  // line of the image
    int64_t height, width, channels;
    int64_t pixel_step;

    bool is_inside(int64_t rows) const { return top >= 0 && top + rows <= height; }
};

// A vector of channels of one column of a line's patches, transformed.
template <int kTile>
HWY_INLINE void transform_column(const TileLine& line, int64_t column, int64_t channel, float* to)
{
    constexpr int kPatch = kTile + 2;
    const Floats d;
    const auto store = [&](int i, Vector value) {
        hn::Store(value, d, to + static_cast<size_t>(i) * hn::Lanes(d));
    };
    if (column < 0 || column >= line.width) {
        for (int i = 0; i < kPatch; ++i)
            store(i, hn::Zero(d));
        return;
    }
    const int64_t step = line.width * line.pixel_step;
    const int64_t at = line.top * step + column * line.pixel_step + channel;
    if (line.is_inside(kPatch)) {
        const float* from = line.image + at;
        WinogradPoints<kTile>::transform_inputs(
            [&](int i) { return hn::LoadU(d, from + i * step); }, store);
        return;
    }
    const auto load = [&](int i) {
        const bool is_inside = line.top + i >= 0 && line.top + i < line.height;
        return is_inside ? hn::LoadU(d, line.image + at + i * step) : hn::Zero(d);
    };
    WinogradPoints<kTile>::transform_inputs(load, store);
}

// A vector of channels of a tile from its transformed columns, of which the last two begin the next
// tile, to its positions, `step` floats apart.
template <int kTile>
HWY_INLINE void transform_rows(const float* columns, const float* next, float* to, int64_t step)
{
    constexpr int kPatch = kTile + 2;
    const Floats d;
    const auto lanes = static_cast<int64_t>(hn::Lanes(d));
    for (int i = 0; i < kPatch; ++i, columns += lanes, next += lanes, to += kPatch * step)
        WinogradPoints<kTile>::transform_inputs(
            [&](int j) {
                return hn::Load(d, j < kTile ? columns + j * kPatch * lanes
                                             : next + (j - kTile) * kPatch * lanes);
            },
            [&](int j, Vector value) { hn::StoreU(value, d, to + j * step); });
}

// `count` tiles of a line from column `left` of the image on; `to` is where the first one's go.
template <int kTile>
void transform_line(const TileLine& line, int64_t left, int64_t count, float* to, int64_t step)
{
    constexpr int64_t kPatch = kTile + 2;
    const auto lanes = static_cast<int64_t>(hn::Lanes(Floats()));
    // Columns of this tile and of the next, in turn: each is transformed once.
    HWY_ALIGN float columns[2][kTile * kPatch * kChunkFloats];
    const int64_t column_floats = kPatch * lanes, vector_floats = kTile * column_floats;
    for (int64_t chunk = 0; chunk < line.channels; chunk += kChunkFloats) {
        const int64_t end = std::min(chunk + kChunkFloats, line.channels);
        for (int64_t tile = -1; tile < count; ++tile) {
            float* now = columns[tile & 1];
            float* next = columns[~tile & 1];
            for (int64_t i = chunk; i < end; i += lanes) {
                // The last vector has channels of the one before it where there are too few.
                const int64_t channel = std::min(i, line.channels - lanes);
                if (tile >= 0)
                    for (int64_t j = 2; j < kTile; ++j)
                        transform_column<kTile>(line, left + tile * kTile + j, channel,
                                                now + j * column_floats);
                for (int64_t j = 0; j < 2; ++j)
                    transform_column<kTile>(line, left + (tile + 1) * kTile + j, channel,
                                            next + j * column_floats);
                if (tile >= 0)
                    transform_rows<kTile>(now, next, to + tile * line.channels + channel, step);
                now += vector_floats;
                next += vector_floats;
            }
        }
    }
}

// Tiles first..last-1 of a block that begins with tile `begin`, into its matrices.
void transform_tiles(const Winograd& conv, const float* image, int64_t begin, int64_t first,
                     int64_t last, float* inputs)
{
    const window_axis &y = conv.axes[1], &x = conv.axes[2];
    const auto transform = conv.tile == 4 ? transform_line<4> : transform_line<6>;
    for (int64_t tile = first; tile < last;) {
        const int64_t row = (begin + tile) / conv.tiles_x, column = (begin + tile) % conv.tiles_x;
        const int64_t count = std::min(last - tile, conv.tiles_x - column);
        const TileLine line = {image,   row * conv.tile - y.pad_begin, y.input,
                               x.input, conv.input_channels,           conv.image_step};
        transform(line, column * conv.tile - x.pad_begin, count,
                  inputs + tile * conv.input_channels, conv.input_step());
        tile += count;
    }
}

// A panel's products of `tiles` tiles, position after position.
void multiply_positions(const Winograd& conv, const float* inputs, const float* weights,
                        int64_t panel, int64_t tiles, float* products)
{
    static const Fusion none;
    static const int64_t zero = 0;
    const int64_t width = conv.panel_width(panel), channels = conv.input_channels;
    const bool is_wide = width == conv.panel_lanes;
    PixelTile tile = {};
    tile.input_step = channels;
    tile.stretches = &zero;
    tile.stretch_num = 1;
    tile.stretch_length = channels;
    tile.output_step = tile.columns = width;
    tile.fusion = &none;
    const int64_t positions = conv.positions();
    for (int64_t position = 0; position < positions; ++position) {
        tile.bias =
            weights + panel * positions * conv.panel_floats + position * width * (channels + 1);
        tile.weights = tile.bias + width;
        tile.input = inputs + position * conv.input_step();
        tile.output = products + position * conv.product_step();
        multiply_pixel_rows(tile, tiles, tiles, is_wide);
    }
}

// Where a tile's results go.
struct TilePlace
{
    int64_t rows, columns;  // that are of the output
    int64_t at;             // the first, of the panel's first channel
    int64_t line_step;
};

// One vector of channels of a tile: from its positions, `step` floats apart, to pixels. A whole one
// has all pixels and all lanes.
template <int kTile, bool kIsWhole>
HWY_INLINE void finish_vector(const Winograd& conv, const WinogradOperands& operands,
                              const float* products, const TilePlace& place, int64_t channel,
                              int64_t count)
{
    constexpr int kPatch = kTile + 2;
    const Floats d;
    const auto lanes = static_cast<int64_t>(hn::Lanes(d));
    const int64_t step = conv.product_step(), pixel_step = conv.output_step;
    const Bounds clip(*operands.fusion);
    HWY_ALIGN float columns[kTile * kPatch * HWY_MAX_BYTES / sizeof(float)];
    for (int j = 0; j < kPatch; ++j)
        WinogradPoints<kTile>::transform_results(
            [&](int i) { return hn::LoadU(d, products + (i * kPatch + j) * step); },
            [&](int i, Vector value) { hn::Store(value, d, columns + (i * kPatch + j) * lanes); });
    const Vector bias = hn::LoadU(d, operands.bias + channel);
    const int64_t rows = kIsWhole ? kTile : place.rows;
    for (int64_t i = 0; i < rows; ++i) {
        const int64_t line = place.at + i * place.line_step;
        WinogradPoints<kTile>::transform_results(
            [&](int j) { return hn::Load(d, columns + (i * kPatch + j) * lanes); },
            [&](int j, Vector value) {
                if (!kIsWhole && j >= place.columns) return;
                const int64_t at = line + j * pixel_step;
                Vector sum = hn::Add(value, bias);
                if (kIsWhole) {
                    if (operands.addend) sum = hn::Add(sum, hn::LoadU(d, operands.addend + at));
                    return hn::StoreU(clip(sum), d, operands.output + at);
                }
                if (operands.addend) sum = hn::Add(sum, load_lanes(operands.addend + at, count));
                store_lanes(clip(sum), operands.output + at, count);
            });
    }
}

// `products` are those of the first tile of the block, which is tile `begin` of the image.
template <int kTile>
void finish_tiles(const Winograd& conv, const WinogradOperands& operands, int64_t panel,
                  int64_t begin, int64_t tiles, const float* products)
{
    const auto lanes = static_cast<int64_t>(hn::Lanes(Floats()));
    const window_axis &height = conv.axes[1], &width = conv.axes[2];
    const int64_t first = panel * conv.panel_lanes, panel_width = conv.panel_width(panel);
    const int64_t last = std::min(first + panel_width, conv.output_channels);
    for (int64_t tile = 0; tile < tiles; ++tile, products += panel_width) {
        const int64_t row = (begin + tile) / conv.tiles_x * kTile;
        const int64_t column = (begin + tile) % conv.tiles_x * kTile;
        TilePlace place = {std::min<int64_t>(kTile, height.output - row),
                           std::min<int64_t>(kTile, width.output - column),
                           (row * width.output + column) * conv.output_step + first,
                           width.output * conv.output_step};
        const bool is_whole = place.rows == kTile && place.columns == kTile;
        for (int64_t channel = first; channel < last; channel += lanes, place.at += lanes) {
            const float* from = products + channel - first;
            if (is_whole && last - channel >= lanes)
                finish_vector<kTile, true>(conv, operands, from, place, channel, lanes);
            else
                finish_vector<kTile, false>(conv, operands, from, place, channel, last - channel);
        }
        if (!needs_activation_pass(*operands.fusion)) continue;
        float* pixels = operands.output + (row * width.output + column) * conv.output_step;
        for (int64_t i = 0; i < place.rows; ++i)
            activate(*operands.fusion, pixels + i * place.line_step + first, place.columns,
                     conv.output_step, last - first);
    }
}

// A panel of a block of `tiles` tiles from tile `begin` on.
void compute_panel(const Winograd& conv, const WinogradOperands& operands, const float* inputs,
                   int64_t panel, int64_t begin, int64_t tiles, float* products)
{
    multiply_positions(conv, inputs, operands.weights, panel, tiles, products);
    const auto finish = conv.tile == 4 ? finish_tiles<4> : finish_tiles<6>;
    finish(conv, operands, panel, begin, tiles, products);
}

}  // namespace tengine::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif  // TENGINE_HAVE_HIGHWAY

#if !defined(TENGINE_HAVE_HIGHWAY)
namespace tengine::cpu {
extern const KernelTable conv_winograd_kernels;
const KernelTable conv_winograd_kernels = {nullptr, 0};
}  // namespace tengine::cpu
#elif HWY_ONCE
namespace tengine::cpu {
namespace {

HWY_EXPORT(transform_tiles);
HWY_EXPORT(compute_panel);

// Weights of this size stay in a cache from block to block.
constexpr int64_t kSmallWeights = int64_t{1} << 20;  // floats
constexpr int64_t kMostInputs = int64_t{2} << 20;    // floats of a block, where weights are large

// Blocks whose transformed inputs fit into half of the L2 cache; where the weights are larger than
// that, whole images, so that they are read once.
void choose_block(Winograd& conv, int64_t rows, int64_t workers)
{
    const auto cache = static_cast<int64_t>(get_cpu_cache_size().l2 / 2 / sizeof(float));
    const int64_t weights = conv.positions() * conv.input_channels * conv.output_channels;
    const int64_t room = weights > kSmallWeights ? kMostInputs : cache;
    const int64_t fitting = room / (conv.positions() * conv.input_channels) / rows * rows;
    conv.block = std::clamp<int64_t>(fitting, rows, divide_up(conv.tiles, rows) * rows);
    conv.spreads_panels =
        workers > 1 && conv.batch * divide_up(conv.tiles, conv.block) < 2 * workers;
    conv.blocks = divide_up(conv.tiles, conv.block);
    conv.block = divide_up(divide_up(conv.tiles, conv.blocks), rows) * rows;
}

// Tiles of an image.
int64_t count_tiles(const ConvProblem& problem, int64_t tile)
{
    return divide_up(problem.axes[1].output, tile) * divide_up(problem.axes[2].output, tile);
}

int describe(const KernelContext& context, int64_t tile, int64_t workers, Winograd* out_conv)
{
    Winograd& conv = *out_conv;
    TENGINE_RETURN_IF_ERROR(describe_conv(*context.node, false, &conv));
    int64_t rows, lanes;
    describe_pixel_tile(&rows, &lanes);
    conv.tile = tile;
    conv.image_step = context.input_step(0);
    conv.output_step = context.output_step();
    conv.tiles_x = divide_up(conv.axes[2].output, conv.tile);
    conv.tiles = count_tiles(conv, conv.tile);
    conv.panel_lanes = 2 * lanes;
    conv.panels = divide_up(conv.output_channels, conv.panel_lanes);
    conv.panel_floats = conv.panel_lanes * (conv.input_channels + 1);
    choose_block(conv, rows, workers);
    return TENGINE_OK;
}

// The biases of all panels; then panel after panel, position after position: zeros, in place of
// biases, and a vector of weights for each input channel.
void pack(const Winograd& conv, const float* weight, const float* bias, float* packed)
{
    constexpr int64_t kMostPositions = 64, kMostWidth = 32;
    const int64_t channels = conv.input_channels, positions = conv.positions();
    const auto* filter = conv.tile == 4 ? kFilterOfFour : kFilterOfSix;
    for (int64_t i = 0; i < conv.panels * conv.panel_lanes; ++i)
        packed[i] = bias && i < conv.output_channels ? bias[i] : 0;
    packed += conv.panels * conv.panel_lanes;
    std::fill_n(packed, conv.panels * positions * conv.panel_floats, 0.0f);
    for (int64_t panel = 0; panel < conv.panels; ++panel) {
        const int64_t width = conv.panel_width(panel), first = panel * conv.panel_lanes;
        const int64_t present = std::min(width, conv.output_channels - first);
        float* to = packed + panel * positions * conv.panel_floats + width;
        for (int64_t input = 0; input < channels; ++input, to += width) {
            float block[kMostPositions * kMostWidth];
            for (int64_t i = 0; i < present; ++i)
                transform_filter(filter, conv.patch(),
                                 weight + ((first + i) * channels + input) * 9, block + i,
                                 kMostWidth);
            for (int64_t position = 0; position < positions; ++position)
                std::copy_n(block + position * kMostWidth, present,
                            to + position * width * (channels + 1));
        }
    }
}

uint64_t count_packed(const Winograd& conv)
{
    return static_cast<uint64_t>(conv.panels) *
           static_cast<uint64_t>(conv.panel_lanes + conv.positions() * conv.panel_floats);
}

uint64_t count_scratch(const Winograd& conv, int64_t workers)
{
    const int64_t inputs = conv.spreads_panels ? 1 : workers;
    return static_cast<uint64_t>(inputs * conv.input_floats() + workers * conv.product_floats());
}

template <int64_t kTile>
int prepare(KernelContext& context)
{
    const int64_t workers = get_thread_pool_size(context.pool);
    Winograd conv = {};
    TENGINE_RETURN_IF_ERROR(describe(context, kTile, workers, &conv));
    context.scratch_size = count_scratch(conv, workers) * sizeof(float);
    static const char kind = 0;
    const tensor* weight = context.input(1);
    const tensor* bias = context.input(2);
    return keep_packed_problem(
        context, conv, &kind, weight, {bias}, {conv.panel_lanes, conv.input_channels, conv.tile},
        count_packed(conv) * sizeof(float), [&](void* memory, const void* values) {
            pack(conv, static_cast<const float*>(values), bias ? bias->f32 : nullptr,
                 static_cast<float*>(memory));
        });
}

// A block of an image.
struct Block
{
    WinogradOperands operands;
    int64_t begin, tiles;
};

Block find_block(const KernelContext& context, const Winograd& conv, int64_t index)
{
    const tensor* addend = find_addend(context);
    const auto* packed = reinterpret_cast<const float*>(shared_weights<Winograd>(context));
    const int64_t image = index / conv.blocks;
    const int64_t outputs = image * conv.output_plane * conv.output_step;
    Block block = {};
    block.operands.image = context.input(0)->f32 + image * conv.input_plane * conv.image_step;
    block.operands.addend = addend ? addend->f32 + outputs : nullptr;
    block.operands.output = context.output(0)->f32 + outputs;
    block.operands.bias = packed;
    block.operands.weights = packed + conv.panels * conv.panel_lanes;
    block.operands.fusion = &context.fusion;
    block.begin = index % conv.blocks * conv.block;
    block.tiles = std::min(conv.block, conv.tiles - block.begin);
    return block;
}

// Workers take blocks.
void spread_blocks(const KernelContext& context, const Winograd& conv)
{
    const auto transform = HWY_DYNAMIC_DISPATCH(transform_tiles);
    const auto compute = HWY_DYNAMIC_DISPATCH(compute_panel);
    const auto work = [&](int64_t first, int64_t last, int worker) {
        float* inputs = static_cast<float*>(context.scratch) +
                        worker * (conv.input_floats() + conv.product_floats());
        for (int64_t index = first; index < last; ++index) {
            const Block block = find_block(context, conv, index);
            transform(conv, block.operands.image, block.begin, 0, block.tiles, inputs);
            for (int64_t panel = 0; panel < conv.panels; ++panel)
                compute(conv, block.operands, inputs, panel, block.begin, block.tiles,
                        inputs + conv.input_floats());
        }
    };
    parallel_for(context.pool, conv.batch * conv.blocks, 1, work);
}

// Workers share the tiles of a block, then its panels.
void spread_panels(const KernelContext& context, const Winograd& conv)
{
    const auto transform = HWY_DYNAMIC_DISPATCH(transform_tiles);
    const auto compute = HWY_DYNAMIC_DISPATCH(compute_panel);
    auto* inputs = static_cast<float*>(context.scratch);
    for (int64_t index = 0; index < conv.batch * conv.blocks; ++index) {
        const Block block = find_block(context, conv, index);
        parallel_for(context.pool, block.tiles, 2, [&](int64_t first, int64_t last, int) {
            transform(conv, block.operands.image, block.begin, first, last, inputs);
        });
        parallel_for(context.pool, conv.panels, 1, [&](int64_t first, int64_t last, int worker) {
            float* products = inputs + conv.input_floats() + worker * conv.product_floats();
            for (int64_t panel = first; panel < last; ++panel)
                compute(conv, block.operands, inputs, panel, block.begin, block.tiles, products);
        });
    }
}

int run(KernelContext& context)
{
    const auto& conv = packed_problem<Winograd>(context);
    if (conv.spreads_panels)
        spread_panels(context, conv);
    else
        spread_blocks(context, conv);
    return TENGINE_OK;
}

// Whether the option CPU.winograd has one of these values, of which the first is its default.
bool has_option(const node& node, std::initializer_list<const char*> values)
{
    const char* value = get_ir_device_option(node.graph, find_default_device(), "winograd");
    return std::any_of(values.begin(), values.end(), [value](const char* one) {
        return std::strcmp(value ? value : "on", one) == 0;
    });
}

// The transforms take whole vectors of channels.
bool can_filter(const node& node)
{
    constexpr int64_t kMostLanes = 16;
    ConvProblem p;
    if (!is_pixel_conv(node) || describe_conv(node, false, &p) != TENGINE_OK || p.groups != 1 ||
        p.input_channels < kMostLanes || p.output_plane == 0 || p.output_channels == 0 ||
        p.batch == 0)
        return false;
    return std::all_of(p.axes + 1, p.axes + kConvAxes, [](const window_axis& axis) {
        return axis.kernel == 3 && axis.stride == 1 && axis.dilation == 1;
    });
}

bool accepts(const node& node)
{
    return can_filter(node) && has_option(node, {"on", "4x4"});
}

bool accepts_6x6(const node& node)
{
    return can_filter(node) && has_option(node, {"on"});
}

// Of few tiles the weights, which are four times as large, cost more than they save; of few
// channels the transforms do.
bool pays(const node& node)
{
    constexpr int64_t kFewestChannels = 16, kFewestTiles = 12;
    ConvProblem p;
    return describe_conv(node, false, &p) == TENGINE_OK && p.output_channels >= kFewestChannels &&
           count_tiles(p, 4) >= kFewestTiles;
}

// Where six by six results save an eighth of the products, and the weights, which are 1.8 times as
// large, are of use often enough. On a Zen 4 such layers of vgg16 and unet take 11 to 17 % less
// time so.
bool pays_6x6(const node& node)
{
    constexpr int64_t kFewestTiles = 100;
    ConvProblem p;
    if (!pays(node) || describe_conv(node, false, &p) != TENGINE_OK) return false;
    const int64_t tiles = count_tiles(p, 6);
    return tiles >= kFewestTiles && 64 * 8 * tiles <= 36 * 7 * count_tiles(p, 4);
}

constexpr Kernel rows[] = {
    {"Conv", "conv.winograd", accepts, run, prepare<4>, -1, take_addend, Layout::kChannelsLast,
     true, false, true, 1, kTakesSteps, pays},
    {"Conv", "conv.winograd_6x6", accepts_6x6, run, prepare<6>, -1, take_addend,
     Layout::kChannelsLast, true, false, true, 1, kTakesSteps, pays_6x6},
};

}  // namespace

extern const KernelTable conv_winograd_kernels;
const KernelTable conv_winograd_kernels = make_table<rows>();

}  // namespace tengine::cpu
#endif  // HWY_ONCE
