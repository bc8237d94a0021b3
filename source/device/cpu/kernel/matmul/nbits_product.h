// SPDX-License-Identifier: Apache-2.0
// Products with weights of 4 or 8 bits in blocks (MatMulNBits): how they are packed, and their
// parts that are compiled for several instruction sets: nbits_product_impl.cc in fp32 with Highway,
// nbits_s8_<set>_impl.cc in integers. Some are compiled for processors that this one may not be,
// so neither they nor this header may have inline functions that others have too.
#pragma once

#include <cstdint>

namespace tengine::cpu {

// The columns of the result in a panel of packed weights. A panel has its blocks one after the
// other: the scales of the columns in fp32, then their elements in lines of 64 bytes. A line has a
// word of four bytes for each column. With 8 bits it is four elements; with 4 bits it is eight: the
// lower halves of the bytes are the first four, the upper ones those after them. Elements beyond
// the last column are 0.
inline constexpr int kNbitsColumns = 16;
inline constexpr int kNbitsLine = 4 * kNbitsColumns;  // bytes, of scales too

struct NbitsPanel
{
    const char* blocks;
    const uint8_t* zero_points;  // of the columns of each block; null: all are in the middle
    int64_t block_num;
    int64_t lines;  // of a block
};

// Rows of the input as int8. In each block of a row the largest magnitude is 127 and
// value = byte * scale; bytes beyond the row's end are 0. `most` rows at a time are a tile: four
// bytes of each row, then the next four. The scales and sums of a block are those of the tile's
// rows, one after the other.
struct NbitsBytes
{
    const int8_t* values;
    const float* scales;
    // The sums of a block's bytes, negated; multiplied by the zero point when all columns have the
    // same.
    const int32_t* sums;
};

inline constexpr int kMostNbitsRows = 12;  // of a tile

// Computes the products of a tile of `rows` rows, 1 to NbitsInt8Product::most_rows, with the
// columns of a panel: rows of kNbitsColumns accumulators. Within a block the products are exact.
using MultiplyNbits = void (*)(const NbitsPanel& panel, const NbitsBytes& tile, int64_t rows,
                               float* sums);

struct NbitsInt8Product
{
    uint64_t features;          // of base/cpu.h, which the processor must have
    int64_t most_rows;          // not above kMostNbitsRows
    MultiplyNbits multiply[2];  // for 4 bits, for 8 bits; null: not supported
};

extern const NbitsInt8Product avx2_nbits_product;
extern const NbitsInt8Product vnni_nbits_product;

// Quantises `rows` rows of `depth` floats, `step` apart, to a tile; block_num * block_size is the
// length of a row in the tile. Sums are multiplied by `zero_point`.
struct NbitsQuantized
{
    const float* input;
    int64_t depth, block_size, block_num;
    int32_t zero_point;
    int8_t* values;
    float* scales;
    int32_t* sums;
};
void quantize_nbits_rows(const NbitsQuantized& to, int64_t rows);

// Rows of the input as floats for multiply_nbits_floats(): those of a line in the order in which it
// takes elements from words, times a power of two, which makes up for the place of an element in
// its word.
inline constexpr int kNbitsFewRows = 4;
struct NbitsFloats
{
    const float* values;
    // The sums of a row's blocks, negated; multiplied by the zero point when all columns have the
    // same.
    const float* sums;
};
void arrange_nbits_row(const float* input, int64_t depth, int64_t block_size, int64_t block_num,
                       int bits, float zero_point, float* values, float* sums);

// Computes the products of `rows` rows, 1 to kNbitsFewRows, with the columns of a panel: rows of
// kNbitsColumns accumulators.
void multiply_nbits_floats(const NbitsPanel& panel, const NbitsFloats& input, int bits,
                           int64_t rows, float* sums);

// `count` blocks from block `first` on as floats: for each element the vectors of `width` columns,
// a multiple of the lanes of a vector, which begin with `column` of the first panel. Panels are
// `panel_step` bytes apart, their zero points `zero_point_step`.
struct NbitsSegment
{
    NbitsPanel panel;
    int64_t panel_step, zero_point_step;
    int64_t column, width;
    int64_t first, count;
};
void dequantize_nbits(const NbitsSegment& segment, int bits, float* values);

}  // namespace tengine::cpu
