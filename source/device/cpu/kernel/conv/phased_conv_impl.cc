// SPDX-License-Identifier: Apache-2.0
// See phased_conv.h.
#include <algorithm>
#include <cstdint>

#include "base/cpu.h"
#include "device/cpu/kernel/conv/phased_conv.h"
#include "device/cpu/kernel/product/packed_problem.h"
#include "device/cpu/parallel.h"
#include "device/cpu/shared/rounding.h"

namespace tengine::cpu {
namespace {

// Returns the largest number of a phase's output lines, at most `lines`, whose block fits.
int64_t find_fitting_lines(const PhasedConv& conv, int64_t room, int64_t lines)
{
    if (conv.has_far_weights && conv.y.source_step > 1) return lines;
    const int64_t line = conv.axes[2].input * conv.input_channels;
    const int64_t results = conv.has_far_weights ? 0 : conv.axes[2].output * conv.output_channels;
    const int64_t most_taps = divide_up(conv.axes[1].kernel, conv.y.tap_step);
    const int64_t halo = (most_taps - 1) * conv.y.source_step * line;
    return std::clamp<int64_t>((room - halo) / (line + results), 1, lines);
}

// Chooses blocks that fit into half of the L2 cache, together with their results if the weights
// stay in the other half from block to block, and enough items for all workers. Workers share
// panels if the weights of a phase are larger than the input. With dilation a block would need
// distant lines; the few taps of a rectangle are a small part of weights beyond the cache, and stay
// in it for the rectangle.
void choose_blocks(PhasedConv& conv, int64_t workers)
{
    constexpr int64_t kItemsPerWorker = 4;
    const auto room = static_cast<int64_t>(get_cpu_cache_size().l2 / 2 / sizeof(float));
    const int64_t lines = divide_up(conv.axes[1].output, conv.y.stride);
    conv.has_far_weights = conv.lanes * conv.input_channels * conv.taps / conv.y.stride > room;
    const int64_t fitting = find_fitting_lines(conv, room, lines);
    const int64_t wanted = workers > 1 ? workers * kItemsPerWorker : 1;
    const int64_t others = conv.batch * conv.groups * conv.y.stride;
    int64_t blocks = divide_up(lines, fitting);
    const int64_t floats = conv.lanes * conv.taps / (conv.y.stride * conv.x.stride);
    conv.panel_parts = 1;
    if (floats > conv.input_plane)  // both times the input channels
        conv.panel_parts = divide_up(wanted, others * blocks);
    else if (others * blocks < wanted)
        blocks = std::min(divide_up(wanted, others), lines);
    conv.panel_parts =
        std::min(std::max(conv.panel_parts, wanted / (others * blocks)), conv.panels);
    conv.block_lines = divide_up(lines, blocks);
    conv.blocks = divide_up(lines, conv.block_lines);
}

// Pixels of a phase that have the same taps on the input.
struct Rectangle
{
    PhaseRange y, x;
};

// The operands of a panel's results, for a phase of an image and group.
struct PhasePanel
{
    const Phase *y, *x;
    const float* input;   // the group's, in the image
    const float* addend;  // at the first pixel of the phase, as the output; may be null
    float* output;
    const float* bias;  // followed by the weights
    int64_t columns, width;
    int64_t next_floats;  // floats of the next panel, which is prefetched; 0: none
    const Fusion* fusion;
};

// Where the elements under a rectangle's window begin, and the weights between them that lie in the
// padding. With one group and no dilation a row of the window is one K segment.
struct Segments
{
    int64_t at[kMostPhaseSegments], gaps[kMostPhaseSegments];
    int64_t num, length;
};

void find_segments(const PhasedConv& conv, const PhasePanel& panel, const Rectangle& rectangle,
                   Segments* segments)
{
    const PhaseRange &y = rectangle.y, &x = rectangle.x;
    const int64_t channels = conv.input_channels, across = x.taps();
    const bool is_row = conv.groups == 1 && conv.x.source_step == 1;
    const int64_t pieces = is_row ? 1 : across;
    segments->length = is_row ? across * channels : channels;
    segments->num = 0;
    if (across == 0) return;
    // The weights to skip: those of the taps before the first, then of the rest of a row.
    int64_t gap = (y.first_tap * panel.x->taps + x.first_tap) * channels * panel.width;
    for (int64_t row = 0; row < y.taps(); ++row) {
        for (int64_t i = 0; i < pieces; ++i) {
            segments->at[segments->num] =
                (row * conv.y.source_step * conv.axes[2].input + i * conv.x.source_step) *
                conv.image_step * int64_t{sizeof(float)};
            segments->gaps[segments->num++] = gap;
            gap = 0;
        }
        gap = (panel.x->taps - across) * channels * panel.width;
    }
}

// Returns the tile at the first pixel.
FloatTile find_first_tile(const PhasedConv& conv, const PhasePanel& panel,
                          const Rectangle& rectangle, const Segments& segments)
{
    const PhaseRange &y = rectangle.y, &x = rectangle.x;
    FloatTile tile = {};
    tile.input = panel.input;
    if (segments.num > 0) {
        const int64_t line = panel.y->source + y.begin + y.first_tap * conv.y.source_step;
        const int64_t pixel = panel.x->source + x.begin + x.first_tap * conv.x.source_step;
        tile.input += (line * conv.axes[2].input + pixel) * conv.image_step;
    }
    tile.segments = segments.at;
    tile.weight_gaps = segments.gaps;
    tile.segment_num = segments.num;
    tile.segment_length = segments.length;
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

// A line or a column of tiles: the number of pixels, and the distance between neighbours.
struct Direction
{
    int64_t pixels, input_step, output_step, most_rows;

    int64_t tiles() const { return divide_up(pixels, most_rows); }
};

void multiply_rectangle(const PhasedConv& conv, const PhasePanel& panel, const Rectangle& rectangle)
{
    Segments segments;
    find_segments(conv, panel, rectangle, &segments);
    FloatTile tile = find_first_tile(conv, panel, rectangle, segments);
    const int64_t inputs = conv.image_step, outputs = conv.output_step;
    const int64_t line = conv.axes[2].input * inputs;
    Direction along = {rectangle.x.size(), inputs, conv.x.stride * outputs,
                       find_most_pixel_rows(inputs)};
    Direction across = {rectangle.y.size(), line, conv.y.stride * conv.axes[2].output * outputs,
                        find_most_pixel_rows(line)};
    if (along.pixels * across.tiles() < across.pixels * along.tiles()) std::swap(along, across);
    tile.input_step = along.input_step;
    tile.output_step = along.output_step;
    if (panel.next_floats > 0 && segments.num > 0) {
        tile.next_lines =
            panel.next_floats / kCacheLineFloats / (across.pixels * along.tiles()) + 1;
        tile.next = tile.weights + panel.next_floats;
    }
    for (int64_t i = 0; i < across.pixels; ++i) {
        multiply_pixel_rows(tile, along.pixels, along.most_rows, panel.width == conv.panel_lanes);
        if (segments.num > 0) tile.input += across.input_step;
        tile.next += along.tiles() * tile.next_lines * kCacheLineFloats;
        tile.output += across.output_step;
        if (tile.addend) tile.addend += across.output_step;
    }
}

// Computes lines begin..end-1 of a phase.
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

// Computes a block of lines with one phase of the height, for all phases of the width.
void run_item(const PhasedConv& conv, const FloatRun& operands, int64_t item)
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
    panel.input = static_cast<const float*>(operands.input) +
                  image * conv.input_plane * conv.image_step + group * conv.input_channels;
    const int64_t end = std::min(begin + conv.block_lines, panel.y->positions);
    for (int64_t phase_x = 0; phase_x < conv.x.stride; ++phase_x) {
        panel.x = &conv.x.phases[phase_x];
        const int64_t depth = panel.y->taps * panel.x->taps * conv.input_channels;
        const float* weights = static_cast<const float*>(operands.packed) +
                               conv.weights_at(phase_y, phase_x) + group * conv.lanes * (1 + depth);
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

}  // namespace

FloatPixels describe_panels(const PhasedConv& conv, int64_t taps)
{
    FloatPixels panels = {};
    static_cast<ConvProblem&>(panels) = conv;
    panels.segment_num = taps;
    panels.segment_length = conv.input_channels;
    describe_float_panels(panels);
    panels.group_bytes = conv.weight_floats(taps) * int64_t{sizeof(float)};
    return panels;
}

void plan_phases(PhasedConv& conv, int64_t workers)
{
    int64_t rows, lanes;
    describe_pixel_tile(&rows, &lanes);
    conv.panel_lanes = 2 * lanes;
    conv.panels = divide_up(conv.output_channels, conv.panel_lanes);
    const int64_t whole = (conv.panels - 1) * conv.panel_lanes;
    conv.lanes = whole + find_panel_width(conv.output_channels - whole, conv.panel_lanes);
    choose_blocks(conv, workers);
}

int run_phases(KernelContext& context)
{
    const auto& conv = packed_problem<PhasedConv>(context);
    const tensor* addend = find_addend(context);
    const FloatRun operands = {{context.input(0)->f32, shared_weights<PhasedConv>(context)},
                               addend ? addend->f32 : nullptr,
                               context.output(0)->f32,
                               &context.fusion};
    parallel_for(context.pool, conv.items(), 1, [&](int64_t first, int64_t last, int) {
        for (int64_t item = first; item < last; ++item)
            run_item(conv, operands, item);
    });
    return TENGINE_OK;
}

}  // namespace tengine::cpu
