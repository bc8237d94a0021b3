// SPDX-License-Identifier: Apache-2.0
// Products of integers at the heart of int8 convolutions with channels last and int8 matrices: a
// few pixels by a panel of output channels; and those of fp16 and bf16 (pixels_f16.h), whose
// accumulators are floats instead of integers. The tile is in group_tile-inl.h and
// group_tile_pairs-inl.h, with vectors in pixels_s8_impl.cc and tile_f16_widened_impl.cc, with
// instructions that sum products in tile_<type>_<set>_impl.cc. The latter are compiled for
// processors that this one may not be, so neither they nor this header may have inline functions
// that others have too.
#pragma once

#include <cstdint>

namespace tengine::cpu {

// Accumulators of a tile of fp16 or bf16, which become results: plus the addend, clipped and
// rounded. A NaN stays one.
struct Float16Results
{
    const float* sums;       // `width` for each row
    const uint16_t* addend;  // or null
    uint16_t* output;
    int64_t width, rows, columns;
    int64_t step;  // from a row of the output, and of the addend, to the next
    float low, high;
};

// Rows by the columns of a panel. A row is the sum over K segments of the input, which are read in
// groups of TileFormat::group elements.
struct GroupTile
{
    const char* input;        // of the first row
    int64_t input_step;       // bytes from a row to the next
    const int64_t* segments;  // where they begin, in bytes
    int64_t segment_num;
    int64_t groups;  // whole ones of a K segment
    // Where these do not reach the end, one more ends there: bytes from the end of the last to its
    // begin, below zero; 0: they do. Weights of elements that are read a second time are 0. In fp16
    // and bf16 nothing is read a second time, and missing elements of the last group are 0.
    int64_t last_shift;
    uint32_t flip;         // of each four bytes that are read, these bits
    bool is_wide;          // two vectors of columns, or one
    const int32_t* start;  // for each column the initial accumulator, modulo 2^32
    int64_t start_step;    // from a row's to the next row's; 0 of formats with groups of many rows
    const char* weights;
    // The memory in which weights that are widened as they are loaded are stored for other rows; or
    // null.
    float* kept;
    int32_t* sums;  // rows of the panel's columns
    // The data read after these weights, or null: prefetched with each group, in steps of
    // `ahead_step` bytes.
    const char* ahead;
    int64_t ahead_step;
    const int32_t* compensation;  // of each row, with crossed products (tile_s8_crossed-inl.h)
    // The results of all columns in formats that round, in place of `sums`, which are not stored;
    // or null.
    const Float16Results* results;
};

// The layout of a tile's operands, and the function that computes it. The groups of neighbouring
// columns' weights are adjacent; the next groups follow.
struct TileFormat
{
    uint64_t features;       // of base/cpu.h, which the processor must have
    int element_size;        // of the input; 1: int8; 2: int16, fp16 or bf16; 4: these as floats
    int group;               // elements of a row that a lane accumulates
    int most_rows, columns;  // of a tile, of a wide panel
    bool is_unsigned;        // of int8: that of the input; weights are signed
    void (*multiply)(const GroupTile& tile,
                     int64_t rows);  // null: the compiler has no such instructions
    // Where the instructions also round to bf16; null: vectors do.
    void (*finish)(const Float16Results& results) = nullptr;
    // With crossed products, for at most `most_crossed_rows` rows; null: they are no faster.
    void (*multiply_crossed)(const GroupTile& tile, int64_t rows) = nullptr;
    int most_crossed_rows = 0;
    bool rounds = false;  // multiply applies GroupTile::results
};

extern const TileFormat avx512_vnni_format;
extern const TileFormat avx_vnni_format;
extern const TileFormat i8mm_format, i8mm_unsigned_format;  // each for inputs that need no flip
extern const TileFormat dotprod_format;
extern const TileFormat avx512_bf16_format, bfmmla_format, fhm_format;

}  // namespace tengine::cpu
