// SPDX-License-Identifier: Apache-2.0
// Conv of 3x3, stride 1, in fp32, fp16 and bf16 in NHWC: Winograd's minimal filtering F(4x4, 3x3)
// and, for large maps, F(6x6, 3x3).
//
// The algorithm is that of A. Lavin, S. Gray, Fast Algorithms for Convolutional Neural Networks,
// 2015: four by four results are computed from six by six inputs with 36 multiplications for each
// pair of channels in place of 144, six by six from eight by eight with 64 in place of 324. Y = A'
// [(G g G') * (B' d B)] A; the matrices follow from the points (Toom, Cook). The points of F(4x4)
// are 0, +-1/sqrt(2), +-sqrt(2) and infinity, with which the error is 2.1 to 2.4 times that of a
// direct sum; with 1 and 2 it would be 9 times (B. Barabasz et al., 2018). The points of F(6x6) are
// 0, +-1, +-2, +-1/2 and infinity, and the error is 8 to 11 times that of a direct sum. G g G' is
// computed in double and packed once; weights of fp16 and bf16, and those of images with few tiles,
// are packed as they are, and G g G' is computed for each block, in fp32. A block has tiles of
// several images of a batch, which share that work and the reading of weights. B' d B of its tiles
// is computed first: 36 or 64 matrices of tiles by channels. Each matrix is multiplied by its
// weights (pixels_f32.h), a panel of channels at a time; the results of a panel are transformed
// back, and the epilogue is applied. Limits: multiply-adds in the products; with few channels
// memory bandwidth for inputs and results. Accuracy: |error| <= k * 4 * 2^-24 * sqrt(9 * input
// channels) * rms(y) for normal inputs, k 3 for F(4x4) and 12 for F(6x6), and half a unit of 16
// bits; see the option CPU.winograd.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <initializer_list>

#include "base/cpu.h"
#include "device/cpu/kernel/conv/winograd_conv.h"
#include "device/cpu/kernel/conv/winograd_filter.h"
#include "device/cpu/kernel/product/packed_problem.h"
#include "device/cpu/kernel/product/pixels_f16.h"
#include "device/cpu/kernel/vector/float_rows.h"
#include "device/cpu/kernel_table.h"
#include "device/cpu/parallel.h"
#include "device/cpu/shared/rounding.h"
#include "tengine/device.h"

namespace tengine::cpu {
namespace {

// Weights of this size stay in a cache from block to block.
constexpr int64_t kSmallWeights = int64_t{1} << 20;  // floats
constexpr int64_t kMostInputs = int64_t{2} << 20;    // floats of a block, for larger weights

// Chooses blocks whose transformed inputs fit into half of the L2 cache; if the weights are larger
// than that, as much as possible of the batch, so that the weights are read once.
void choose_block(Winograd& conv, int64_t rows, int64_t workers)
{
    const auto cache = static_cast<int64_t>(get_cpu_cache_size().l2 / 2 / sizeof(float));
    const int64_t weights = conv.positions() * conv.input_channels * conv.output_channels;
    const int64_t room = weights > kSmallWeights ? kMostInputs : cache;
    const int64_t fitting = room / (conv.positions() * conv.input_channels) / rows * rows;
    const int64_t tiles = conv.batch * conv.tiles;
    conv.block = std::clamp<int64_t>(fitting, rows, round_up(tiles, rows));
    conv.blocks = divide_up(tiles, conv.block);
    conv.spreads_panels = workers > 1 && conv.blocks < 2 * workers;
    conv.block = round_up(divide_up(tiles, conv.blocks), rows);
}

// Returns the number of tiles of an image.
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
    conv.data_type = context.input(0)->data_type;
    conv.tile = tile;
    conv.image_step = context.input_step(0);
    conv.output_step = context.output_step();
    conv.tiles_x = divide_up(conv.axes[2].output, conv.tile);
    conv.tiles = count_tiles(conv, conv.tile);
    conv.panel_lanes = 2 * lanes;
    conv.panels = divide_up(conv.output_channels, conv.panel_lanes);
    const int64_t cache = static_cast<int64_t>(get_cpu_cache_size().l2 / 4 / sizeof(float));
    conv.depth = std::clamp<int64_t>(cache / conv.filter_floats(0), 1, conv.input_channels);
    choose_block(conv, rows, workers);
    return TENGINE_OK;
}

// Packs panel after panel, as filter_floats() says.
void pack_filters(const Winograd& conv, const float* weight, float* packed)
{
    constexpr int64_t kMostPositions = 64, kMostWidth = 32;
    const int64_t channels = conv.input_channels, positions = conv.positions();
    const auto* filter = conv.tile == 4 ? kFilterOfFour : kFilterOfSix;
    std::fill_n(packed, conv.panels * conv.filter_floats(conv.input_channels), 0.0f);
    for (int64_t panel = 0; panel < conv.panels; ++panel) {
        const int64_t width = conv.panel_width(panel), first = panel * conv.panel_lanes;
        const int64_t present = std::min(width, conv.output_channels - first);
        float* to = packed + panel * conv.filter_floats(conv.input_channels) + width;
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

int64_t count_taps(const Winograd& conv)
{
    return 9 * conv.panel_lanes * conv.input_channels;
}

// Packs panel after panel, in the layout that transform_filters() reads.
template <class T>
void pack_taps(const Winograd& conv, const T* weight, T* packed)
{
    const int64_t channels = conv.input_channels;
    std::fill_n(packed, conv.panels * count_taps(conv), T{0});
    for (int64_t panel = 0; panel < conv.panels; ++panel) {
        const int64_t width = conv.panel_width(panel), first = panel * conv.panel_lanes;
        const int64_t present = std::min(width, conv.output_channels - first);
        T* to = packed + panel * count_taps(conv);
        for (int64_t input = 0; input < channels; ++input)
            for (int64_t tap = 0; tap < 9; ++tap, to += width)
                for (int64_t i = 0; i < present; ++i)
                    to[i] = weight[((first + i) * channels + input) * 9 + tap];
    }
}

// Packs the biases of all panels, in fp32, followed by their filters.
void pack(const Winograd& conv, const void* weight, const tensor* bias, float* packed)
{
    const int64_t bias_num = conv.panels * conv.panel_lanes;
    for (int64_t i = 0; i < bias_num; ++i)
        packed[i] = bias && i < conv.output_channels ? read_float(*bias, i) : 0;
    packed += bias_num;
    if (conv.is_narrow())
        pack_taps(conv, static_cast<const uint16_t*>(weight), reinterpret_cast<uint16_t*>(packed));
    else if (conv.transforms_filters())
        pack_taps(conv, static_cast<const float*>(weight), packed);
    else
        pack_filters(conv, static_cast<const float*>(weight), packed);
}

// Returns the bytes of a panel's packed filters.
int64_t count_filter_bytes(const Winograd& conv)
{
    return conv.element_size() *
           (conv.transforms_filters() ? count_taps(conv) : conv.filter_floats(conv.input_channels));
}

uint64_t count_packed_bytes(const Winograd& conv)
{
    const int64_t biases = conv.panel_lanes * int64_t{sizeof(float)};
    return static_cast<uint64_t>(conv.panels * (biases + count_filter_bytes(conv)));
}

// Returns the floats of a worker's scratch: a panel's products and the filters that it transforms.
int64_t count_panel_scratch(const Winograd& conv)
{
    return conv.product_floats() + (conv.transforms_filters() ? conv.filter_floats(conv.depth) : 0);
}

uint64_t count_scratch(const Winograd& conv, int64_t workers)
{
    const int64_t inputs = conv.spreads_panels ? 1 : workers;
    return static_cast<uint64_t>(inputs * conv.input_floats() +
                                 workers * count_panel_scratch(conv));
}

template <int64_t kTile>
int prepare(KernelContext& context)
{
    const int64_t workers = get_thread_pool_size(context.pool);
    Winograd conv = {};
    TENGINE_RETURN_IF_ERROR(describe(context, kTile, workers, &conv));
    context.scratch_size = count_scratch(conv, workers) * sizeof(float);
    const int64_t filter_size = conv.transforms_filters() ? 9 : conv.positions();
    static const char kind = 0;
    const tensor* weight = context.input(1);
    const tensor* bias = context.input(2);
    return keep_packed_problem(context, conv, &kind, weight, {bias},
                               {conv.panel_lanes, conv.input_channels, filter_size, conv.data_type},
                               count_packed_bytes(conv), [&](void* memory, const void* values) {
                                   pack(conv, values, bias, static_cast<float*>(memory));
                               });
}

struct Block
{
    WinogradOperands operands;
    int64_t begin, tiles;
};

Block find_block(const KernelContext& context, const Winograd& conv, int64_t index)
{
    const tensor* addend = find_addend(context);
    Block block = {};
    block.operands.images = context.input(0)->data;
    block.operands.addend = addend ? addend->data : nullptr;
    block.operands.output = context.output(0)->data;
    block.operands.fusion = &context.fusion;
    block.begin = index * conv.block;
    block.tiles = std::min(conv.block, conv.batch * conv.tiles - block.begin);
    return block;
}

// Transforms the filters of a few input channels at a time, so that they stay in the L2 cache.
void multiply_taps(const Winograd& conv, const char* taps, WinogradPanel panel, const float* inputs,
                   int64_t tiles, float* products)
{
    float* filters = products + conv.product_floats();
    const int64_t width = conv.panel_width(panel.index);
    panel.filters = filters;
    const int64_t channel_bytes = 9 * width * conv.element_size();
    for (; panel.first < conv.input_channels; panel.first += panel.channels) {
        panel.channels = std::min(conv.depth, conv.input_channels - panel.first);
        transform_filters(conv, taps, panel.channels, width, filters);
        taps += panel.channels * channel_bytes;
        panel.next = taps;
        const bool is_last =
            panel.index + 1 == conv.panels && panel.first + panel.channels == conv.input_channels;
        panel.next_bytes = is_last ? 0 : panel.channels * channel_bytes;
        multiply_tiles(conv, inputs, panel, tiles, products);
    }
}

// `scratch` has count_panel_scratch() floats.
void run_panel(const KernelContext& context, const Winograd& conv, const Block& block,
               int64_t index, const float* inputs, float* scratch)
{
    const auto* bias = reinterpret_cast<const float*>(shared_weights<Winograd>(context));
    const auto* packed = reinterpret_cast<const char*>(bias + conv.panels * conv.panel_lanes) +
                         index * count_filter_bytes(conv);
    const WinogradPanel panel = {
        index, bias, reinterpret_cast<const float*>(packed), 0, conv.input_channels, nullptr, 0};
    if (conv.transforms_filters())
        multiply_taps(conv, packed, panel, inputs, block.tiles, scratch);
    else
        multiply_tiles(conv, inputs, panel, block.tiles, scratch);
    finish_panel(conv, block.operands, panel, block.begin, block.tiles, scratch);
}

// Workers take blocks.
void spread_blocks(const KernelContext& context, const Winograd& conv)
{
    const int64_t worker_floats = conv.input_floats() + count_panel_scratch(conv);
    const auto work = [&](int64_t first, int64_t last, int worker) {
        float* inputs = static_cast<float*>(context.scratch) + worker * worker_floats;
        for (int64_t index = first; index < last; ++index) {
            const Block block = find_block(context, conv, index);
            transform_tiles(conv, block.operands.images, block.begin, 0, block.tiles, inputs);
            for (int64_t panel = 0; panel < conv.panels; ++panel)
                run_panel(context, conv, block, panel, inputs, inputs + conv.input_floats());
        }
    };
    parallel_for(context.pool, conv.blocks, 1, work);
}

// Workers share the tiles of a block, then its panels.
void spread_panels(const KernelContext& context, const Winograd& conv)
{
    auto* inputs = static_cast<float*>(context.scratch);
    for (int64_t index = 0; index < conv.blocks; ++index) {
        const Block block = find_block(context, conv, index);
        parallel_for(context.pool, block.tiles, 2, [&](int64_t first, int64_t last, int) {
            transform_tiles(conv, block.operands.images, block.begin, first, last, inputs);
        });
        parallel_for(context.pool, conv.panels, 1, [&](int64_t first, int64_t last, int worker) {
            float* scratch = inputs + conv.input_floats() + worker * count_panel_scratch(conv);
            for (int64_t panel = first; panel < last; ++panel)
                run_panel(context, conv, block, panel, inputs, scratch);
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

// Whether the option CPU.winograd has one of these values; the first of them is its default.
bool has_option(const node& node, std::initializer_list<const char*> values)
{
    const char* value = get_ir_device_option(node.graph, find_default_device(), "winograd");
    return std::any_of(values.begin(), values.end(), [value](const char* one) {
        return std::strcmp(value ? value : "on", one) == 0;
    });
}

// The transforms take full vectors of channels.
bool can_filter(const node& node)
{
    constexpr int64_t kMostLanes = 16;
    ConvProblem p;
    if (describe_conv(node, false, &p) != TENGINE_OK || p.groups != 1 ||
        p.input_channels < kMostLanes || p.output_plane == 0 || p.output_channels == 0 ||
        p.batch == 0)
        return false;
    return std::all_of(p.axes + 1, p.axes + kConvAxes, [](const window_axis& axis) {
        return axis.kernel == 3 && axis.stride == 1 && axis.dilation == 1;
    });
}

bool accepts(const node& node)
{
    return is_pixel_conv(node) && can_filter(node) && has_option(node, {"on", "4x4"});
}

bool accepts_6x6(const node& node)
{
    return is_pixel_conv(node) && can_filter(node) && has_option(node, {"on"});
}

bool accepts_float16(const node& node)
{
    return is_float16_conv(node) && can_filter(node) && has_option(node, {"on", "4x4"});
}

bool accepts_float16_6x6(const node& node)
{
    return is_float16_conv(node) && can_filter(node) && has_option(node, {"on"});
}

// With few channels, the transforms cost more than the products save. With few tiles, those of the
// filters do: for a vector, nine loads, nine transforms of ten operations each, and 36 stores and
// loads of their results, beside the multiply-adds, of which those of the tiles have to leave a
// quarter. Operations are counted and not timed, since the choice decides the bits of results. On a
// Zen 4 images of 7x7 pixels take 0.93 of the time of a direct sum, and in a batch of eight 0.5.
bool pays(const node& node)
{
    constexpr int64_t kFewestChannels = 16, kFilterOperations = 9 + 9 * 10 + 36 + 36;
    ConvProblem p;
    if (describe_conv(node, false, &p) != TENGINE_OK || p.output_channels < kFewestChannels)
        return false;
    const int64_t tiles = count_tiles(p, 4);
    return !Winograd::has_few_tiles(tiles) ||
           9 * p.output_plane * 3 / 4 >= 36 * tiles + kFilterOperations;
}

// Tiles of six by six results save an eighth of the products, and there are enough tiles for
// weights that are 1.8 times as large. On a Zen 4 such layers of vgg16 and unet take 11 to 17 %
// less time.
bool pays_6x6(const node& node)
{
    constexpr int64_t kFewestTiles = 100;
    ConvProblem p;
    if (!pays(node) || describe_conv(node, false, &p) != TENGINE_OK) return false;
    const int64_t tiles = count_tiles(p, 6);
    return tiles >= kFewestTiles && 64 * 8 * tiles <= 36 * 7 * count_tiles(p, 4);
}

// 16-bit filters are transformed for each block. On a processor with instructions for the type, a
// direct sum is cheaper until there are more tiles: on a Zen 4 with AVX512-BF16, 49 tiles take 0.77
// of its time and 16 tiles 1.1.
bool has_tiles_for_float16(const node& node)
{
    constexpr int64_t kFewestTiles = 36;
    ConvProblem p;
    const int data_type = get_ir_node_input(&node, 0)->data_type;
    return find_half_format(data_type).element_size == sizeof(float) ||
           (describe_conv(node, false, &p) == TENGINE_OK && count_tiles(p, 4) >= kFewestTiles);
}

bool pays_float16(const node& node)
{
    return pays(node) && has_tiles_for_float16(node);
}

bool pays_float16_6x6(const node& node)
{
    return pays_6x6(node) && has_tiles_for_float16(node);
}

template <int kTile>
int64_t count_weights(const node& node)
{
    constexpr int64_t kTaps = 9, kPositions = (kTile + 2) * (kTile + 2);
    ConvProblem p;
    const tensor* weight = get_ir_node_input(&node, 1);
    const auto bytes = static_cast<int64_t>(get_ir_tensor_bytes(weight));
    const bool keeps_taps = weight->data_type != TENGINE_DT_FP32 ||
                            describe_conv(node, false, &p) != TENGINE_OK ||
                            Winograd::has_few_tiles(count_tiles(p, kTile));
    return keeps_taps ? bytes : bytes / kTaps * kPositions;
}

// Returns a row of the table, for tiles of kTile by kTile.
template <int kTile>
constexpr Kernel winograd(const char* name, bool (*accepts)(const node&), bool (*pays)(const node&))
{
    return {.op = "Conv",
            .name = name,
            .accepts = accepts,
            .run = run,
            .prepare = prepare<kTile>,
            .find_in_place = take_addend,
            .layout = Layout::kChannelsLast,
            .fuses = true,
            .leads = true,
            .unaligned_input = 1,
            .takes_steps = kTakesSteps,
            .pays = pays,
            .count_weights = count_weights<kTile>};
}

constexpr Kernel conv_winograd_rows[] = {
    winograd<4>("conv.f32.winograd4x4", accepts, pays),
    winograd<6>("conv.f32.winograd6x6", accepts_6x6, pays_6x6),
    winograd<4>("conv.f16.winograd4x4", accepts_float16, pays_float16),
    winograd<6>("conv.f16.winograd6x6", accepts_float16_6x6, pays_float16_6x6),
};

}  // namespace

extern const KernelTable conv_winograd_kernels;
const KernelTable conv_winograd_kernels = make_table<conv_winograd_rows>();

}  // namespace tengine::cpu
