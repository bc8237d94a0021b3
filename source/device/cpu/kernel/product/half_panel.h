// SPDX-License-Identifier: Apache-2.0
// How the weights of half_pixels.h are packed.
#pragma once

#include "device/cpu/kernel/product/half_pixels.h"

namespace tengine::cpu {

// The panel's biases, before its weights.
struct HalfPanel
{
    const char* data;
    int64_t width;

    static int64_t header_bytes(int64_t width) { return width * int64_t{sizeof(float)}; }
    const char* weights() const { return data + header_bytes(width); }
};

inline int64_t find_half_panel_width(const HalfPixels& conv, int64_t panel)
{
    const int64_t columns = conv.format.columns;
    const int64_t left = conv.output_channels - panel * columns;
    return left <= columns / 2 ? columns / 2 : columns;
}

inline int64_t find_half_panel_bytes(const HalfPixels& conv, int64_t width)
{
    return HalfPanel::header_bytes(width) + conv.stretch_num * conv.stretch_groups() * width *
                                                conv.format.group * int64_t{sizeof(uint16_t)};
}

inline HalfPanel find_half_panel(const HalfPixels& conv, const char* packed, int64_t panel)
{
    return {packed + panel * find_half_panel_bytes(conv, conv.format.columns),
            find_half_panel_width(conv, panel)};
}

}  // namespace tengine::cpu
