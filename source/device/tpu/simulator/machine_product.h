// SPDX-License-Identifier: Apache-2.0
// Products of a tile and a block of vectors, the inner loops of the machine. machine_matrix.cc
// makes the operands wide and dense. Two implementations with identical results: Highway and plain
// C++.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tengine::tpu {

// Kernels read full vector registers: this many bytes after tiles and sums must be readable.
constexpr size_t kProductSlack = 512;

// sums[v * stride + c] (+)= sum over p of a[v][2p] * tile[p][c][0] + a[v][2p + 1] * tile[p][c][1],
// modulo 2^32, for v < vectors, c < columns.
struct IntegerProduct
{
    int64_t vectors, pairs, columns;
    const int16_t* a;     // vectors x (2 * pairs)
    const int16_t* tile;  // pairs x tile_columns x 2
    int64_t tile_columns;
    int32_t* sums;
    int64_t stride;
    bool accumulate;
};

// sums[v * stride + c] = [sums +] (0 + a[v][0] * tile[0][c] + a[v][1] * tile[1][c] ...), each
// product and each sum rounded to fp32; sums hold fp32 bits.
struct FloatProduct
{
    int64_t vectors, depth, columns;
    const float* a;     // vectors x depth
    const float* tile;  // depth x tile_columns
    int64_t tile_columns;
    int32_t* sums;
    int64_t stride;
    bool accumulate;
};

// Call the best implementation for this processor.
void multiply_integers(const IntegerProduct& product);
void multiply_floats(const FloatProduct& product);

// Plain C++, for processors and builds without Highway, and for tests.
void multiply_integers_plain(const IntegerProduct& product);
void multiply_floats_plain(const FloatProduct& product);

}  // namespace tengine::tpu
