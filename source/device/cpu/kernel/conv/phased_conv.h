// SPDX-License-Identifier: Apache-2.0
// Products of pixels with packed output channels (pixels_f32.h) for windows that may reach beyond
// the input: a ConvTranspose's phases, and convolutions with much padding.
//
// A phase is cut into rectangles whose pixels have the same taps on the input: its interior, and
// edges as wide as the window. So inputs are read in place, without padding, and weights of taps in
// the padding are skipped. Tiles of a rectangle (tile_f32-inl.h) run along its lines or its
// columns, whichever needs fewer.
#pragma once

#include "device/cpu/kernel/conv/conv_phase.h"
#include "device/cpu/kernel/product/pixels_f32.h"
#include "device/cpu/kernel_context.h"

namespace tengine::cpu {

constexpr int64_t kMostPhaseSegments = 128;

// Sizes in floats, pixels and positions of a phase. Channels are those of a group.
struct PhasedConv : ConvProblem
{
    PhasedAxis y, x;
    int64_t image_step, output_step;  // between pixels of the input, of the output
    int64_t panel_lanes;              // output channels of a full panel
    int64_t panels, lanes;            // panels of a group, and the lanes of them all
    int64_t block_lines, blocks;      // lines of a block; blocks of a phase of an image
    int64_t panel_parts;              // items that a block is computed in
    bool has_far_weights;             // a line's phases have more weights than half of the L2 cache

    int64_t items() const { return batch * groups * blocks * y.stride * panel_parts; }

    // Returns the packed weights of one group for a phase with `tap_num` taps, in floats.
    int64_t weight_floats(int64_t tap_num) const { return lanes * (1 + tap_num * input_channels); }
    // Returns the offset of a phase's packed weights of all groups.
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

// Describes panels of conv.input_channels * taps floats, for packing.
FloatPixels describe_panels(const PhasedConv& conv, int64_t taps);

// Cuts the work into panels, blocks and items, for the kernels' vectors and this many workers. The
// members before `panel_lanes` are set by the caller.
void plan_phases(PhasedConv& conv, int64_t workers);

// A kernel's run(): from input 0 to output 0, with the context's fusion. prepare() has kept a
// PhasedConv, followed by its packed weights.
TENGINE_MUST_USE int run_phases(KernelContext& context);

}  // namespace tengine::cpu
