// SPDX-License-Identifier: Apache-2.0
// Conv of 3x3, stride 1, in fp32 with channels last: Winograd's minimal filtering F(4x4, 3x3).
//
// A. Lavin, S. Gray, Fast Algorithms for Convolutional Neural Networks, 2015: four by four results
// are made of six by six inputs with 36 multiplications for each pair of channels in place of 144.
// Y = A' [(G g G') * (B' d B)] A; the matrices follow from the points 0, +-1/sqrt(2), +-sqrt(2) and
// infinity (Toom, Cook), with which the error is 2.1 to 2.4 times that of a direct sum, and not 9
// times as with 1 and 2 (B. Barabasz et al., 2018). G g G' is computed in double and packed once.
// Of a block of tiles B' d B is made first, 36 matrices of tiles by channels; each is multiplied
// with its weights (pixel_conv.h), a panel of channels at a time, and the results of a panel
// are transformed back where they lie in the cache. What follows the convolution is done then.
// Limits: multiply-adds in the products; the transforms with few channels.
// Accuracy: |error| <= 6 * eps * sqrt(9 * input channels) * rms(y), eps 2^-23, for normal inputs;
// see the option CPU.winograd.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "base/cpu.h"
#include "device/cpu/kernel/activation.h"
#include "device/cpu/kernel/conv_problem.h"
#include "device/cpu/kernel/fixed_vectors.h"
#include "device/cpu/kernel/packed_problem.h"
#include "device/cpu/kernel/pixel_conv.h"
#include "device/cpu/parallel.h"
#include "tengine/device.h"

#ifdef TENGINE_HAVE_HIGHWAY
#ifndef TENGINE_CPU_CONV_WINOGRAD
#define TENGINE_CPU_CONV_WINOGRAD
namespace tengine::cpu {

constexpr int kTile = 4;                     // results of a tile, in each direction
constexpr int kPatch = kTile + 2;            // inputs
constexpr int kPositions = kPatch * kPatch;  // of the transformed

// Sizes in floats.
struct Winograd : ConvProblem
{
    int64_t tiles_x, tiles;           // of a line, of an image
    int64_t block;                    // tiles transformed at once
    int64_t blocks;                   // of an image
    int64_t image_step, output_step;  // between pixels
    int64_t panel_lanes, panels;
    int64_t panel_floats;  // of one position of a whole panel
    bool spreads_panels;   // workers share the panels of a block, not the blocks

    // Floats between the positions of transformed tiles, and of a panel's products. All positions
    // are accessed side by side, so these are odd numbers of cache lines: else they would fall into
    // a few sets of the cache.
    int64_t input_step() const { return spread(block * input_channels); }
    int64_t product_step() const { return spread(block * panel_lanes); }
    int64_t input_floats() const { return kPositions * input_step(); }
    int64_t panel_width(int64_t panel) const
    {
        return find_panel_width(output_channels - panel * panel_lanes, panel_lanes);
    }
    int64_t product_floats() const { return kPositions * product_step(); }

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

HWY_BEFORE_NAMESPACE();
namespace tengine::cpu::HWY_NAMESPACE {

constexpr float kRoot = 1.41421356237f, kHalfRoot = 0.70710678118f;

// B' d of six values, `step` vectors apart.
HWY_INLINE void transform_inputs(Vector& v0, Vector& v1, Vector& v2, Vector& v3, Vector& v4,
                                 Vector& v5)
{
    const Floats d;
    const Vector five_halves = hn::Set(d, -2.5f);
    const Vector first = hn::Add(hn::MulAdd(five_halves, v2, v0), v4);
    const Vector last = hn::Add(hn::MulAdd(five_halves, v3, v1), v5);
    // Of +-p the parts of even and odd powers differ only in sign.
    const Vector even_a = hn::MulAdd(hn::Set(d, -2.0f), v2, v4);
    const Vector odd_a = hn::MulAdd(hn::Set(d, -kRoot), v1, hn::Mul(hn::Set(d, kHalfRoot), v3));
    const Vector even_b = hn::MulAdd(hn::Set(d, -0.5f), v2, v4);
    const Vector odd_b = hn::MulAdd(hn::Set(d, -kHalfRoot), v1, hn::Mul(hn::Set(d, kRoot), v3));
    v0 = first;
    v1 = hn::Add(even_a, odd_a);
    v2 = hn::Sub(even_a, odd_a);
    v3 = hn::Add(even_b, odd_b);
    v4 = hn::Sub(even_b, odd_b);
    v5 = last;
}

// A' m: four results of six.
HWY_INLINE void transform_results(Vector m0, Vector m1, Vector m2, Vector m3, Vector m4, Vector m5,
                                  Vector& y0, Vector& y1, Vector& y2, Vector& y3)
{
    const Floats d;
    const Vector sum_a = hn::Add(m1, m2), difference_a = hn::Sub(m1, m2);
    const Vector sum_b = hn::Add(m3, m4), difference_b = hn::Sub(m3, m4);
    y0 = hn::Add(m0, hn::Add(sum_a, sum_b));
    y1 = hn::MulAdd(hn::Set(d, kHalfRoot), difference_a, hn::Mul(hn::Set(d, kRoot), difference_b));
    y2 = hn::MulAdd(hn::Set(d, 0.5f), sum_a, hn::Mul(hn::Set(d, 2.0f), sum_b));
    y3 = hn::Add(hn::MulAdd(hn::Set(d, kHalfRoot * 0.5f), difference_a,
                            hn::Mul(hn::Set(d, 2 * kRoot), difference_b)),
                 m5);
}

// One vector of channels of a tile's patch, of which pixels outside are null, to its positions,
// `step` floats apart.
HWY_INLINE void transform_patch(const float* const pixels[kPositions], int64_t channel,
                                int64_t count, float* to, int64_t step)
{
    const Floats d;
    Vector v[kPatch][kPatch];
    for (int i = 0; i < kPatch; ++i)
        for (int j = 0; j < kPatch; ++j) {
            const float* pixel = pixels[i * kPatch + j];
            v[i][j] = pixel ? load_lanes(pixel + channel, count) : hn::Zero(d);
        }
    for (int j = 0; j < kPatch; ++j)
        transform_inputs(v[0][j], v[1][j], v[2][j], v[3][j], v[4][j], v[5][j]);
    for (int i = 0; i < kPatch; ++i) {
        transform_inputs(v[i][0], v[i][1], v[i][2], v[i][3], v[i][4], v[i][5]);
        for (int j = 0; j < kPatch; ++j)
            store_lanes(v[i][j], to + (i * kPatch + j) * step + channel, count);
    }
}

// Tiles first..last-1 of a block that begins with tile `begin`, into its matrices.
void transform_tiles(const Winograd& conv, const float* image, int64_t begin, int64_t first,
                     int64_t last, float* inputs)
{
    const window_axis &y = conv.axes[1], &x = conv.axes[2];
    const int64_t channels = conv.input_channels;
    const int64_t lanes = static_cast<int64_t>(hn::Lanes(Floats()));
    for (int64_t tile = first; tile < last; ++tile) {
        const int64_t top = (begin + tile) / conv.tiles_x * kTile - y.pad_begin;
        const int64_t left = (begin + tile) % conv.tiles_x * kTile - x.pad_begin;
        const float* pixels[kPositions];
        for (int i = 0; i < kPatch; ++i)
            for (int j = 0; j < kPatch; ++j) {
                const int64_t row = top + i, column = left + j;
                const bool is_inside = row >= 0 && row < y.input && column >= 0 && column < x.input;
                pixels[i * kPatch + j] =
                    is_inside ? image + (row * x.input + column) * conv.image_step : nullptr;
            }
        for (int64_t channel = 0; channel < channels; channel += lanes)
            transform_patch(pixels, channel, channels - channel, inputs + tile * channels,
                            conv.input_step());
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
    for (int64_t position = 0; position < kPositions; ++position) {
        tile.bias =
            weights + panel * kPositions * conv.panel_floats + position * width * (channels + 1);
        tile.weights = tile.bias + width;
        tile.input = inputs + position * conv.input_step();
        tile.output = products + position * conv.product_step();
        multiply_pixel_rows(tile, tiles, tiles, is_wide);
    }
}

// One vector of channels of a tile: from its positions, `step` floats apart, to pixels.
HWY_INLINE void finish_tile(const Winograd& conv, const WinogradOperands& operands,
                            const float* products, int64_t step, int64_t row, int64_t column,
                            int64_t channel, int64_t count)
{
    const Floats d;
    const window_axis &height = conv.axes[1], &width = conv.axes[2];
    const Bounds clip(*operands.fusion);
    const Vector bias = load_lanes(operands.bias + channel, count);
    Vector t[kTile][kPatch];
    for (int j = 0; j < kPatch; ++j) {
        const auto load = [&](int i) { return hn::LoadU(d, products + (i * kPatch + j) * step); };
        transform_results(load(0), load(1), load(2), load(3), load(4), load(5), t[0][j], t[1][j],
                          t[2][j], t[3][j]);
    }
    for (int i = 0; i < kTile && row + i < height.output; ++i) {
        Vector y[kTile];
        transform_results(t[i][0], t[i][1], t[i][2], t[i][3], t[i][4], t[i][5], y[0], y[1], y[2],
                          y[3]);
        for (int j = 0; j < kTile && column + j < width.output; ++j) {
            const int64_t at = ((row + i) * width.output + column + j) * conv.output_step + channel;
            Vector sum = hn::Add(y[j], bias);
            if (operands.addend) sum = hn::Add(sum, load_lanes(operands.addend + at, count));
            store_lanes(clip(sum), operands.output + at, count);
        }
        if (needs_activation_pass(*operands.fusion))
            activate(
                *operands.fusion,
                operands.output + ((row + i) * width.output + column) * conv.output_step + channel,
                std::min<int64_t>(kTile, width.output - column), conv.output_step,
                std::min<int64_t>(count, static_cast<int64_t>(hn::Lanes(d))));
    }
}

// A panel of a block of `tiles` tiles from tile `begin` on.
void compute_panel(const Winograd& conv, const WinogradOperands& operands, const float* inputs,
                   int64_t panel, int64_t begin, int64_t tiles, float* products)
{
    const int64_t lanes = static_cast<int64_t>(hn::Lanes(Floats()));
    const int64_t width = conv.panel_width(panel);
    multiply_positions(conv, inputs, operands.weights, panel, tiles, products);
    for (int64_t tile = 0; tile < tiles; ++tile) {
        const int64_t row = (begin + tile) / conv.tiles_x * kTile;
        const int64_t column = (begin + tile) % conv.tiles_x * kTile;
        for (int64_t i = 0; i < width; i += lanes) {
            const int64_t channel = panel * conv.panel_lanes + i;
            const int64_t count = conv.output_channels - channel;
            if (count > 0)
                finish_tile(conv, operands, products + tile * width + i, conv.product_step(), row,
                            column, channel, count);
        }
    }
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

int64_t divide_up(int64_t a, int64_t b)
{
    return (a + b - 1) / b;
}

// Blocks whose transformed inputs fit into half of the L2 cache; where the weights are larger than
// that, whole images, so that they are read once.
void choose_block(Winograd& conv, int64_t rows, int64_t workers)
{
    const auto cache = static_cast<int64_t>(get_cpu_cache_size().l2 / 2 / sizeof(float));
    const int64_t weights = kPositions * conv.input_channels * conv.output_channels;
    const int64_t room = weights > kSmallWeights ? kMostInputs : cache;
    const int64_t fitting = room / (kPositions * conv.input_channels) / rows * rows;
    conv.block = std::clamp<int64_t>(fitting, rows, divide_up(conv.tiles, rows) * rows);
    conv.spreads_panels =
        workers > 1 && conv.batch * divide_up(conv.tiles, conv.block) < 2 * workers;
    conv.blocks = divide_up(conv.tiles, conv.block);
    conv.block = divide_up(divide_up(conv.tiles, conv.blocks), rows) * rows;
}

int describe(const KernelContext& context, int64_t workers, Winograd* out_conv)
{
    Winograd& conv = *out_conv;
    TENGINE_RETURN_IF_ERROR(describe_conv(*context.node, false, &conv));
    conv.image_step = context.input_step(0);
    conv.output_step = context.output_step();
    int64_t rows, lanes;
    describe_pixel_tile(&rows, &lanes);
    conv.tiles_x = divide_up(conv.axes[2].output, kTile);
    conv.tiles = conv.tiles_x * divide_up(conv.axes[1].output, kTile);
    conv.panel_lanes = 2 * lanes;
    conv.panels = divide_up(conv.output_channels, conv.panel_lanes);
    conv.panel_floats = conv.panel_lanes * (conv.input_channels + 1);
    choose_block(conv, rows, workers);
    return TENGINE_OK;
}

// G g G' of one filter.
void transform_filter(const float* filter, float* to, int64_t step)
{
    const double a = std::sqrt(0.5), b = std::sqrt(2.0);
    const double g[kPatch][3] = {{1, 0, 0},
                                 {-2.0 / 3, -2.0 / 3 * a, -1.0 / 3},
                                 {-2.0 / 3, 2.0 / 3 * a, -1.0 / 3},
                                 {1.0 / 6, b / 6, 1.0 / 3},
                                 {1.0 / 6, -b / 6, 1.0 / 3},
                                 {0, 0, 1}};
    double half[kPatch][3];
    for (int i = 0; i < kPatch; ++i)
        for (int j = 0; j < 3; ++j)
            half[i][j] = g[i][0] * filter[j] + g[i][1] * filter[3 + j] + g[i][2] * filter[6 + j];
    for (int i = 0; i < kPatch; ++i)
        for (int j = 0; j < kPatch; ++j)
            to[(i * kPatch + j) * step] = static_cast<float>(
                half[i][0] * g[j][0] + half[i][1] * g[j][1] + half[i][2] * g[j][2]);
}

// The biases of all panels; then panel after panel, position after position: zeros, in place of
// biases, and a vector of weights for each input channel.
void pack(const Winograd& conv, const float* weight, const float* bias, float* packed)
{
    const int64_t channels = conv.input_channels;
    for (int64_t i = 0; i < conv.panels * conv.panel_lanes; ++i)
        packed[i] = bias && i < conv.output_channels ? bias[i] : 0;
    float* weights = packed + conv.panels * conv.panel_lanes;
    std::fill_n(weights, conv.panels * kPositions * conv.panel_floats, 0.0f);
    for (int64_t output = 0; output < conv.output_channels; ++output) {
        const int64_t panel = output / conv.panel_lanes, width = conv.panel_width(panel);
        float* to = weights + panel * kPositions * conv.panel_floats + output % conv.panel_lanes;
        for (int64_t input = 0; input < channels; ++input)
            transform_filter(weight + (output * channels + input) * 9, to + (input + 1) * width,
                             width * (channels + 1));
    }
}

uint64_t count_packed(const Winograd& conv)
{
    return static_cast<uint64_t>(conv.panels) *
           static_cast<uint64_t>(conv.panel_lanes + kPositions * conv.panel_floats);
}

uint64_t count_scratch(const Winograd& conv, int64_t workers)
{
    const int64_t inputs = conv.spreads_panels ? 1 : workers;
    return static_cast<uint64_t>(inputs * conv.input_floats() + workers * conv.product_floats());
}

int prepare(KernelContext& context)
{
    const int64_t workers = get_thread_pool_size(context.pool);
    Winograd conv = {};
    TENGINE_RETURN_IF_ERROR(describe(context, workers, &conv));
    context.scratch_size = count_scratch(conv, workers) * sizeof(float);
    static const char kind = 0;
    const tensor* weight = context.input(1);
    const tensor* bias = context.input(2);
    return keep_packed_problem(
        context, conv, &kind, weight, bias, {conv.panel_lanes, conv.input_channels},
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
    const tensor* addend =
        context.fusion.addend >= 0 ? context.input(context.fusion.addend) : nullptr;
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

// The addend is read where the result is then written.
int find_in_place(const KernelContext& context, int)
{
    return context.fusion.addend;
}

bool is_constant(const tensor* tensor)
{
    return !tensor || tensor->tensor_type == TENSOR_TYPE_CONST;
}

bool is_wanted(const node& node)
{
    const char* value = get_ir_device_option(node.graph, find_default_device(), "winograd");
    return !value || std::strcmp(value, "off") != 0;
}

bool accepts(const node& node)
{
    ConvProblem p;
    if (!is_plain_conv(node) || get_ir_node_input(&node, 0)->dim_num != 4 ||
        !is_constant(get_ir_node_input(&node, 1)) || !is_constant(get_ir_node_input(&node, 2)) ||
        describe_conv(node, false, &p) != TENGINE_OK || p.groups != 1 || p.input_channels == 0 ||
        p.output_channels == 0 || p.output_plane == 0 || p.batch == 0)
        return false;
    for (int i = 1; i < kConvAxes; ++i)
        if (p.axes[i].kernel != 3 || p.axes[i].stride != 1 || p.axes[i].dilation != 1) return false;
    return is_wanted(node);
}

// Of few tiles the weights, which are four times as large, cost more than they save; of few
// channels the transforms do.
bool pays(const node& node)
{
    constexpr int64_t kFewestChannels = 16, kFewestTiles = 12;
    ConvProblem p;
    return describe_conv(node, false, &p) == TENGINE_OK && p.input_channels >= kFewestChannels &&
           p.output_channels >= kFewestChannels &&
           divide_up(p.axes[1].output, kTile) * divide_up(p.axes[2].output, kTile) >= kFewestTiles;
}

constexpr Kernel rows[] = {{"Conv", "conv.winograd", accepts, run, prepare, -1, find_in_place,
                            Layout::kChannelsLast, true, false, true, 1, kTakesSteps, pays}};

}  // namespace

extern const KernelTable conv_winograd_kernels;
const KernelTable conv_winograd_kernels = make_table<rows>();

}  // namespace tengine::cpu
#endif  // HWY_ONCE
