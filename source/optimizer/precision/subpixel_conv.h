// SPDX-License-Identifier: Apache-2.0
// A ConvTranspose as a Conv with stride 1 that has a channel for each output position within a step
// (W. Shi et al., Is the deconvolution layer the same as a convolutional layer?, 2016). Along an
// axis with the stride s, the channel b of the Conv's position a is the position s a + b - crop of
// the result; positions beyond the result are cut off.
#pragma once

#include <cstdint>

#include "base/containers.hpp"
#include "operator/onnx/window.h"

namespace tengine {

struct SubpixelAxis
{
    int kernel, stride;  // of the ConvTranspose
    int crop;            // positions before the result
    int window;          // of the Conv, as are pad_begin, pad_end
    int pad_begin, pad_end;
    int positions;  // that the Conv has
    int output;     // of the ConvTranspose
    int shift;      // phase b has tap b + shift - s u at the place u of the window

    // -1: no tap is at this place.
    int find_tap(int phase, int place) const
    {
        const int tap = phase + shift - stride * place;
        return tap >= 0 && tap < kernel ? tap : -1;
    }
    bool is_cut() const { return crop > 0 || int64_t{positions} * stride != output; }
};

// Finds the smallest window, and among these the one whose first result is the first of a step;
// false for dilated windows and numbers beyond int.
bool find_subpixel_axis(const window_axis& axis, SubpixelAxis* out_axis);

// The places of the weights of a ConvTranspose with one or two axes.
struct SubpixelConv
{
    SubpixelAxis axes[2];  // with one axis the first is trivial
    int axis_num;
    int groups, input_channels, output_channels;  // channels in a group
    // The channels of a phase are adjacent, phase after phase; else the phases of a channel are.
    bool has_phases_first;

    int phases() const { return axes[0].stride * axes[1].stride; }
    int places() const { return axes[0].window * axes[1].window; }
    int channels() const { return groups * output_channels * phases(); }
    // The channel of the ConvTranspose that a channel of the Conv belongs to, and its phase.
    int find_channel(int channel) const
    {
        return has_phases_first ? channel % (groups * output_channels) : channel / phases();
    }
    int find_phase(int channel) const
    {
        return has_phases_first ? channel / (groups * output_channels) : channel % phases();
    }
};

// The weights of the Conv. `zeros` has a value for places without a tap: one, or one for each
// output channel, if there is one group.
Vector<uint8_t> move_weights(const SubpixelConv& conv, const uint8_t* weights, const uint8_t* zeros,
                             int64_t zero_num);

}  // namespace tengine
