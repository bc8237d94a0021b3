// SPDX-License-Identifier: Apache-2.0
// How kernels with channels last pack the weights of a Conv.
#pragma once

#include <algorithm>
#include <cstdint>

#include "device/cpu/kernel/product/pixel_conv.h"

namespace tengine::cpu {

// As panels, in which all input channels of a tap come before the next tap's; `weight` has the taps
// of an input channel before those of the next.
inline void pack_conv(const PixelConv& conv, const float* weight, const float* bias, float* packed)
{
    const int64_t depth = conv.depth(), taps = conv.taps;
    const auto fill = [&](int64_t channel, int64_t present, int64_t width, float* panel) {
        const float* from = weight + channel * depth;
        for (int64_t input = 0; input < conv.input_channels; ++input) {
            for (int64_t tap = 0; tap < taps; ++tap) {
                float* to = panel + (tap * conv.input_channels + input) * width;
                const float* source = from + input * taps + tap;
                for (int64_t i = 0; i < present; ++i)
                    to[i] = source[i * depth];
                std::fill(to + present, to + width, 0.0f);
            }
        }
    };
    pack_panels(conv, bias, fill, packed);
}

}  // namespace tengine::cpu
