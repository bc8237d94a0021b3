// SPDX-License-Identifier: Apache-2.0
// Products of pixels with packed output channels (pixels_f32.h) whose window may reach beyond the
// input: a ConvTranspose's phases, and convolutions of which the border is a large part.
//
// A phase is cut into rectangles whose pixels have the same taps on the input - its inside, and
// borders as wide as the window -, so that inputs are read where they lie, without padding, and
// weights beyond the border are passed over. Tiles of a rectangle (tile_f32-inl.h) run along
// its lines or its columns, whichever needs fewer.
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

// As conv.input_channels * taps floats deep panels, to be packed.
PixelConv describe_panels(const PhasedConv& conv, int64_t taps);

// Cuts the work into panels, blocks and items, for the vectors that kernels use and so many
// workers. The members before `panel_lanes` are given.
void plan_phases(PhasedConv& conv, int64_t workers);

// A kernel's run(): input 0 to output 0, with the context's fusion and the problem that prepare()
// has kept, a PhasedConv and its packed weights.
TENGINE_MUST_USE int run_phases(KernelContext& context);

}  // namespace tengine::cpu
