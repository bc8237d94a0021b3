// SPDX-License-Identifier: Apache-2.0
// ConvTranspose in fp32 with channels last and constant weights, as phases: output positions that
// are a stride apart meet the same taps, so that each of stride height * stride width phases is a
// convolution with stride 1 and its own part of the weights, whose results are stored a stride
// apart (W. Shi et al., Is the deconvolution layer the same as a convolutional layer?, 2016). Of a
// window of 2 x 2 with strides of 2 these are four products of pixels.
//
// A phase is cut into rectangles whose pixels have the same taps on the input - its inside, and
// borders as wide as the window -, so that inputs are read where they lie, without padding, and
// weights beyond the border are passed over. Tiles of a rectangle (pixel_product-inl.h) run along
// its lines or its columns, whichever needs fewer. A block of lines fits into half of the L2 cache,
// and all phases and panels of output channels pass over it before the next.
// Limits: multiply-adds (91-96 % of the peak on AVX-512 and 80-94 % on AVX2 with 32 or more output
// channels, 1.3 to 1.9 times as fast as conv_transpose.gemm_col2im), memory where the results are
// beyond the caches; panels of few channels leave lanes idle.
// Accuracy: |error| <= (input channels * taps of the phase + 2) * eps * (sum |weight| |input| +
// |bias|), before the activation. The order of summation depends on nothing but the position.
#include <algorithm>
#include <cstdint>

#include "base/cpu.h"
#include "device/cpu/kernel/conv_transpose_phase.h"
#include "device/cpu/kernel/packed_problem.h"
#include "device/cpu/kernel/pixel_conv.h"
#include "device/cpu/kernel_table.h"
#include "device/cpu/parallel.h"

#ifdef TENGINE_HAVE_HIGHWAY
namespace tengine::cpu {
namespace {

constexpr int64_t kMostStretches = 128;

// Sizes in floats, pixels and positions of a phase. Channels are those of a group.
struct PhasedConv : ConvProblem
{
    PhasedAxis y, x;
    int64_t image_step, output_step;  // between pixels
    int64_t panel_lanes;              // output channels of a whole panel
    int64_t panels, lanes;            // of a group, and the lanes of all of them
    int64_t block_lines, blocks;      // of a phase of an image
    int64_t panel_parts;              // in how many items a block is computed
    bool has_far_weights;  // those of a line's phases are larger than half of the L2 cache

    int64_t items() const { return batch * groups * blocks * y.stride * panel_parts; }

    // Floats of the packed weights of a phase with so many taps, of one group.
    int64_t weight_floats(int64_t tap_num) const { return lanes * (1 + tap_num * input_channels); }
    // Where those of a phase begin, of all groups.
    int64_t weights_at(int64_t phase_y, int64_t phase_x) const
    {
        const int64_t before = y.phases[phase_y].taps_before * axes[2].kernel +
                               y.phases[phase_y].taps * x.phases[phase_x].taps_before;
        return groups * lanes * (phase_y * x.stride + phase_x + before * input_channels);
    }
    uint64_t packed_floats() const
    {
        return static_cast<uint64_t>(groups * lanes *
                                     (y.stride * x.stride + taps * input_channels));
    }
};

// Blocks that fit into half of the L2 cache - with their results where the weights stay in the
// other half from block to block -, and enough items for all workers: panels are dealt out where
// the weights of a phase are larger than the input.
void choose_blocks(PhasedConv& conv, int64_t workers)
{
    constexpr int64_t kItemsPerWorker = 4;
    const auto room = static_cast<int64_t>(get_cpu_cache_size().l2 / 2 / sizeof(float));
    const int64_t lines = divide_up(conv.axes[1].output, conv.y.stride);
    const int64_t line = conv.axes[2].input * conv.input_channels;
    const int64_t most_taps = divide_up(conv.axes[1].kernel, conv.y.tap_step);
    const int64_t halo = (most_taps - 1) * conv.y.source_step * line;
    conv.has_far_weights = conv.lanes * conv.input_channels * conv.taps / conv.y.stride > room;
    const int64_t results = conv.has_far_weights ? 0 : conv.axes[2].output * conv.output_channels;
    const int64_t fitting = std::clamp<int64_t>((room - halo) / (line + results), 1, lines);
    const int64_t wanted = workers > 1 ? workers * kItemsPerWorker : 1;
    const int64_t others = conv.batch * conv.groups * conv.y.stride;
    int64_t blocks = divide_up(lines, fitting);
    const int64_t floats = conv.lanes * conv.taps / (conv.y.stride * conv.x.stride);
    conv.panel_parts = 1;
    if (floats > conv.input_plane)  // times the input channels, both
        conv.panel_parts = divide_up(wanted, others * blocks);
    else if (others * blocks < wanted)
        blocks = std::min(divide_up(wanted, others), lines);
    conv.panel_parts =
        std::min(std::max(conv.panel_parts, wanted / (others * blocks)), conv.panels);
    conv.block_lines = divide_up(lines, blocks);
    conv.blocks = divide_up(lines, conv.block_lines);
}

int describe(const KernelContext& context, int64_t workers, PhasedConv* out_conv)
{
    PhasedConv& conv = *out_conv;
    TENGINE_RETURN_IF_ERROR(describe_conv(*context.node, true, &conv));
    conv.image_step = context.input_step(0);
    conv.output_step = context.output_step();
    describe_phases(conv.axes[1], &conv.y);
    describe_phases(conv.axes[2], &conv.x);
    int64_t rows, lanes;
    describe_pixel_tile(&rows, &lanes);
    conv.panel_lanes = 2 * lanes;
    conv.panels = divide_up(conv.output_channels, conv.panel_lanes);
    const int64_t whole = (conv.panels - 1) * conv.panel_lanes;
    conv.lanes = whole + find_panel_width(conv.output_channels - whole, conv.panel_lanes);
    choose_blocks(conv, workers);
    return TENGINE_OK;
}

// The taps in the order of the inputs they meet.
void pack_phase(const PhasedConv& conv, const Phase& y, const Phase& x, const float* weight,
                const float* bias, float* packed)
{
    PixelConv panels = {};
    static_cast<ConvProblem&>(panels) = conv;
    panels.stretch_num = y.taps * x.taps;
    panels.stretch_length = conv.input_channels;
    panels.panel_lanes = conv.panel_lanes;
    panels.weight_floats = conv.weight_floats(panels.stretch_num);
    const auto fill = [&](int64_t channel, int64_t present, int64_t width, float* panel) {
        const int64_t group = channel / conv.output_channels;
        for (int64_t i = 0; i < panels.stretch_num; ++i) {
            const int64_t row = y.last_tap - i / x.taps * conv.y.tap_step;
            const int64_t column = x.last_tap - i % x.taps * conv.x.tap_step;
            const float* from = weight + channel % conv.output_channels * conv.taps +
                                row * conv.axes[2].kernel + column;
            for (int64_t input = 0; input < conv.input_channels; ++input, panel += width) {
                const int64_t line = group * conv.input_channels + input;
                const float* source = from + line * conv.output_channels * conv.taps;
                for (int64_t k = 0; k < present; ++k)
                    panel[k] = source[k * conv.taps];
                std::fill(panel + present, panel + width, 0.0f);
            }
        }
    };
    pack_panels(panels, bias, fill, packed);
}

void pack(const PhasedConv& conv, const float* weight, const float* bias, float* packed)
{
    for (int64_t y = 0; y < conv.y.stride; ++y)
        for (int64_t x = 0; x < conv.x.stride; ++x)
            pack_phase(conv, conv.y.phases[y], conv.x.phases[x], weight, bias,
                       packed + conv.weights_at(y, x));
}

int prepare(KernelContext& context)
{
    PhasedConv conv = {};
    TENGINE_RETURN_IF_ERROR(describe(context, get_thread_pool_size(context.pool), &conv));
    static const char kind = 0;
    const tensor* bias = context.input(2);
    const window_axis &y = conv.axes[1], &x = conv.axes[2];
    return keep_packed_problem(context, conv, &kind, context.input(1), {bias},
                               {conv.panel_lanes << 32 | conv.groups, conv.input_channels,
                                find_phase_code(y), find_phase_code(x)},
                               conv.packed_floats() * sizeof(float),
                               [&](void* memory, const void* values) {
                                   pack(conv, static_cast<const float*>(values),
                                        bias ? bias->f32 : nullptr, static_cast<float*>(memory));
                               });
}

// Pixels of a phase whose taps on the input are the same.
struct Rectangle
{
    PhaseRange y, x;
};

// What a panel's results in a phase of an image and group are made of.
struct PhasePanel
{
    const Phase *y, *x;
    const float* input;   // of the group in the image
    const float* addend;  // or null; of the first pixel of the phase, as is the output
    float* output;
    const float* bias;  // then the weights
    int64_t columns, width;
    int64_t next_floats;  // of the panel after it, to ask memory for; 0: none
    const Fusion* fusion;
};

// Where the elements under a rectangle's window begin, and the weights between them that are
// beyond its border. With all channels in one group and no dilation a row of the window is one
// stretch.
struct Stretches
{
    int64_t at[kMostStretches], gaps[kMostStretches];
    int64_t num, length;
};

void find_stretches(const PhasedConv& conv, const PhasePanel& panel, const Rectangle& rectangle,
                    Stretches* stretches)
{
    const PhaseRange &y = rectangle.y, &x = rectangle.x;
    const int64_t channels = conv.input_channels, across = x.taps();
    const bool is_row = conv.groups == 1 && conv.x.source_step == 1;
    const int64_t pieces = is_row ? 1 : across;
    stretches->length = is_row ? across * channels : channels;
    stretches->num = 0;
    if (across == 0) return;
    // Of the taps of a row, and of those before the first.
    int64_t gap = (y.first_tap * panel.x->taps + x.first_tap) * channels * panel.width;
    for (int64_t row = 0; row < y.taps(); ++row) {
        for (int64_t i = 0; i < pieces; ++i) {
            stretches->at[stretches->num] =
                (row * conv.y.source_step * conv.axes[2].input + i * conv.x.source_step) *
                conv.image_step;
            stretches->gaps[stretches->num++] = gap;
            gap = 0;
        }
        gap = (panel.x->taps - across) * channels * panel.width;
    }
}

// The tile at the first pixel.
PixelTile find_first_tile(const PhasedConv& conv, const PhasePanel& panel,
                          const Rectangle& rectangle, const Stretches& stretches)
{
    const PhaseRange &y = rectangle.y, &x = rectangle.x;
    PixelTile tile = {};
    tile.input = panel.input;
    if (stretches.num > 0) {
        const int64_t line = panel.y->source + y.begin + y.first_tap * conv.y.source_step;
        const int64_t pixel = panel.x->source + x.begin + x.first_tap * conv.x.source_step;
        tile.input += (line * conv.axes[2].input + pixel) * conv.image_step;
    }
    tile.stretches = stretches.at;
    tile.weight_gaps = stretches.gaps;
    tile.stretch_num = stretches.num;
    tile.stretch_length = stretches.length;
    tile.bias = panel.bias;
    tile.weights = panel.bias + panel.width;
    const int64_t at = (y.begin * conv.y.stride * conv.axes[2].output + x.begin * conv.x.stride) *
                       conv.output_step;
    tile.output = panel.output + at;
    tile.addend = panel.addend ? panel.addend + at : nullptr;
    tile.columns = std::min(panel.columns, panel.width);
    tile.fusion = panel.fusion;
    return tile;
}

// A line or a column of tiles: so many pixels, and how far it is from one to the next.
struct Direction
{
    int64_t pixels, input_step, output_step, most_rows;

    int64_t tiles() const { return divide_up(pixels, most_rows); }
};

void multiply_rectangle(const PhasedConv& conv, const PhasePanel& panel, const Rectangle& rectangle)
{
    Stretches stretches;
    find_stretches(conv, panel, rectangle, &stretches);
    PixelTile tile = find_first_tile(conv, panel, rectangle, stretches);
    const int64_t inputs = conv.image_step, outputs = conv.output_step;
    const int64_t line = conv.axes[2].input * inputs;
    Direction along = {rectangle.x.size(), inputs, conv.x.stride * outputs,
                       find_most_pixel_rows(inputs)};
    Direction across = {rectangle.y.size(), line, conv.y.stride * conv.axes[2].output * outputs,
                        find_most_pixel_rows(line)};
    if (along.pixels * across.tiles() < across.pixels * along.tiles()) std::swap(along, across);
    tile.input_step = along.input_step;
    tile.output_step = along.output_step;
    if (panel.next_floats > 0 && stretches.num > 0) {
        tile.next_lines =
            panel.next_floats / kCacheLineFloats / (across.pixels * along.tiles()) + 1;
        tile.next = tile.weights + panel.next_floats;
    }
    for (int64_t i = 0; i < across.pixels; ++i) {
        multiply_pixel_rows(tile, along.pixels, along.most_rows, panel.width == conv.panel_lanes);
        if (stretches.num > 0) tile.input += across.input_step;
        tile.next += along.tiles() * tile.next_lines * kCacheLineFloats;
        tile.output += across.output_step;
        if (tile.addend) tile.addend += across.output_step;
    }
}

// Lines begin..end-1 of a phase.
void multiply_phase(const PhasedConv& conv, const PhasePanel& panel, int64_t begin, int64_t end)
{
    const auto& [depth, y, x] = conv.axes;
    Rectangle part;
    for (int64_t line = begin; line < end; line = part.y.end) {
        part.y = find_phase_range(*panel.y, conv.y.source_step, y.input, line, end);
        for (int64_t pixel = 0; pixel < panel.x->positions; pixel = part.x.end) {
            part.x =
                find_phase_range(*panel.x, conv.x.source_step, x.input, pixel, panel.x->positions);
            multiply_rectangle(conv, panel, part);
        }
    }
}

// A block of lines with one phase of the height: of all phases of the width.
void run_item(const PhasedConv& conv, const PixelOperands& operands, int64_t item)
{
    const int64_t part = item % conv.panel_parts;
    item /= conv.panel_parts;
    const int64_t phase_y = item % conv.y.stride;
    item /= conv.y.stride;
    const int64_t begin = item % conv.blocks * conv.block_lines;
    item /= conv.blocks;
    const int64_t image = item / conv.groups, group = item % conv.groups;
    PhasePanel panel = {};
    panel.y = &conv.y.phases[phase_y];
    panel.fusion = operands.fusion;
    panel.input =
        operands.input + image * conv.input_plane * conv.image_step + group * conv.input_channels;
    const int64_t end = std::min(begin + conv.block_lines, panel.y->positions);
    for (int64_t phase_x = 0; phase_x < conv.x.stride; ++phase_x) {
        panel.x = &conv.x.phases[phase_x];
        const int64_t depth = panel.y->taps * panel.x->taps * conv.input_channels;
        const float* weights =
            operands.weights + conv.weights_at(phase_y, phase_x) + group * conv.lanes * (1 + depth);
        const int64_t pixel = image * conv.output_plane + phase_y * conv.axes[2].output + phase_x;
        const int64_t last = conv.panels * (part + 1) / conv.panel_parts;
        for (int64_t i = conv.panels * part / conv.panel_parts; i < last; ++i) {
            const int64_t first = i * conv.panel_lanes;
            panel.columns = conv.output_channels - first;
            panel.width = find_panel_width(panel.columns, conv.panel_lanes);
            panel.bias = weights + first * (1 + depth);
            panel.next_floats = i + 1 < last && conv.has_far_weights ? depth * panel.width : 0;
            const int64_t at = pixel * conv.output_step + group * conv.output_channels + first;
            panel.output = operands.output + at;
            panel.addend = operands.addend ? operands.addend + at : nullptr;
            multiply_phase(conv, panel, begin, end);
        }
    }
}

int run(KernelContext& context)
{
    const auto& conv = packed_problem<PhasedConv>(context);
    const tensor* addend = find_addend(context);
    const PixelOperands operands = {
        context.input(0)->f32, addend ? addend->f32 : nullptr, context.output(0)->f32,
        reinterpret_cast<const float*>(shared_weights<PhasedConv>(context)), &context.fusion};
    parallel_for(context.pool, conv.items(), 1, [&](int64_t first, int64_t last, int) {
        for (int64_t item = first; item < last; ++item)
            run_item(conv, operands, item);
    });
    return TENGINE_OK;
}

bool accepts(const node& node)
{
    ConvProblem p;
    return is_pixel_conv(node) && describe_conv(node, true, &p) == TENGINE_OK &&
           (p.groups == 1 || p.input_channels > 1) && has_few_phases(p.axes[1]) &&
           has_few_phases(p.axes[2]) &&
           count_most_taps(p.axes[1]) * count_most_taps(p.axes[2]) <= kMostStretches &&
           p.input_plane > 0 && p.output_plane > 0 && p.batch > 0 && p.input_channels > 0;
}

// With fewer results than fill three quarters of a vector the product of all taps at once takes
// less time (conv_transpose.gemm_col2im).
bool pays(const node& node)
{
    ConvProblem p;
    int64_t rows, lanes;
    describe_pixel_tile(&rows, &lanes);
    return describe_conv(node, true, &p) == TENGINE_OK && p.output_channels * 4 >= lanes * 3;
}

constexpr Kernel rows[] = {{"ConvTranspose", "conv_transpose.pixels", accepts, run, prepare, -1,
                            take_addend, Layout::kChannelsLast, true, false, true, 1, kTakesSteps,
                            pays}};

}  // namespace

extern const KernelTable conv_transpose_pixels_kernels;
const KernelTable conv_transpose_pixels_kernels = make_table<rows>();

}  // namespace tengine::cpu
#else
namespace tengine::cpu {
extern const KernelTable conv_transpose_pixels_kernels;
const KernelTable conv_transpose_pixels_kernels = {nullptr, 0};
}  // namespace tengine::cpu
#endif  // TENGINE_HAVE_HIGHWAY
