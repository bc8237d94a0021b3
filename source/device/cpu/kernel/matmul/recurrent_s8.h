// SPDX-License-Identifier: Apache-2.0
// The products of a recurrent layer whose matrices are bytes (tengine.RowQuantizeLSTM), for
// recurrent_layer_impl.cc: rows of the input, and in each step of the state, become bytes with a
// scale and a zero point of their own (float_bytes.h), and are pixels (pixels_s8.h).
#pragma once

#include "device/cpu/kernel/product/pixels_s8.h"

namespace tengine::cpu {

// The products of one direction. The gates of a vector of units are next to each other, as in
// recurrent_layer.h.
struct Int8Gates
{
    Int8Pixels inputs;  // [rows, input] x [input, columns]
    Int8Pixels steps;   // [batch, units] x [units, columns]
    int64_t workers;

    int64_t columns() const { return inputs.output_channels; }
    // The packed data: a bias for each column, then both matrices.
    uint64_t packed_bytes() const;
    uint64_t scratch_bytes() const;
};

// A matrix of a direction: `columns` of `depth` elements, of which `given` are not 0.
struct Int8Matrix
{
    int64_t columns, depth, given;
    const int8_t* values;
    const float* scales;
    // The row of `values` and the scale of a column; -1: it has none, and is 0.
    const int64_t* rows;
};

// The operands of the product with the node's input `weights`; see find_byte_format().
Int8Operands find_gate_operands(const node& node, int weights, int scales);

// For matrices that find_byte_format() takes.
Int8Gates plan_int8_gates(const node& node, int64_t rows, int64_t input, int64_t batch,
                          int64_t units, int64_t workers);

// Packs both matrices. `room` has columns * (depth + 4) bytes.
void pack_int8_gates(const Int8Pixels& product, const Int8Matrix& matrix, void* room, char* packed);

// The memory of a direction: the pack, and scratch_bytes() of memory.
struct Int8GateMemory
{
    const char* packed;
    char* scratch;
};

// Computes the input's part of the gates for all rows of the input, with the bias.
void multiply_int8_inputs(const Int8Gates& gates, thread_pool_t* pool, const Int8GateMemory& memory,
                          const float* input, float* output);

// Quantises the state, which multiply_int8_steps() multiplies.
void quantize_state(const Int8Gates& gates, const Int8GateMemory& memory, const float* state);

// Computes the gates of a step in the columns from `first` to before `last`: the product plus
// `addend`.
void multiply_int8_steps(const Int8Gates& gates, const Int8GateMemory& memory, const float* addend,
                         int64_t first, int64_t last, int worker, float* output);

}  // namespace tengine::cpu
