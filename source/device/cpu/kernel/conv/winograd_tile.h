// SPDX-License-Identifier: Apache-2.0
// Where the tiles of Winograd's filtering are, for winograd_conv.h and qlinear_winograd.cc.
#pragma once

#include <cstdint>

namespace tengine::cpu {

struct TilePosition
{
    int64_t image, row, column;
};

// Returns the first pixel of tile `index` of a batch. Tiles have `size` results in each direction;
// `line_tiles` are next to each other in a line, and `tiles` in an image.
inline TilePosition find_tile_position(int64_t index, int64_t size, int64_t line_tiles,
                                       int64_t tiles)
{
    const int64_t at = index % tiles;
    return {index / tiles, at / line_tiles * size, at % line_tiles * size};
}

}  // namespace tengine::cpu
