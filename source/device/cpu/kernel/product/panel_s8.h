// SPDX-License-Identifier: Apache-2.0
// How the weights of pixels_s8.h are packed.
#pragma once

#include "device/cpu/kernel/product/pixels_s8.h"

namespace tengine::cpu {

// For processors without int8 instructions: pairs of int16.
TileFormat find_pair_format();

// Before the weights of a panel of `width` columns: the initial accumulators of each (with float
// results, once for each unit of the input's zero point), the multipliers of accumulators, and
// these as floats.
struct Int8Panel
{
    char* data;
    int64_t width;

    static int64_t header_bytes(int64_t width)
    {
        return width * int64_t{sizeof(int32_t) + sizeof(ir_multiplier_t) + sizeof(float)};
    }
    int32_t* start() const { return reinterpret_cast<int32_t*>(data); }
    ir_multiplier_t* multipliers() const
    {
        return reinterpret_cast<ir_multiplier_t*>(start() + width);
    }
    float* scales() const { return reinterpret_cast<float*>(multipliers() + width); }
    char* weights() const { return data + header_bytes(width); }
};

// A panel of a group of channels, whose packed weights begin at `packed`.
inline Int8Panel find_byte_panel(const Int8Pixels& conv, const char* packed, int64_t panel)
{
    return {const_cast<char*>(packed) + conv.panel_at(panel), conv.panel_width(panel)};
}

// The zero point of the input as it is multiplied: with a flipped sign bit, 128 more or
// less. Elements of int16 are centred, unless accumulators become words.
inline uint32_t find_multiplied_zero(const Int8Pixels& conv)
{
    if (conv.format.element_size > 1)
        return conv.has_words ? static_cast<uint32_t>(conv.input_zero_point) : 0;
    const int zero = conv.input_zero_point;
    return static_cast<uint32_t>(!conv.flips               ? zero
                                 : conv.format.is_unsigned ? zero + 128
                                                           : zero - 128);
}

// That of which `start` takes the products: where it is known at a run only, 1, if it is not 0.
inline uint32_t find_packed_zero(const Int8Pixels& conv)
{
    return conv.has_words ? 1 : find_multiplied_zero(conv);
}

}  // namespace tengine::cpu
