// SPDX-License-Identifier: Apache-2.0
// The common part of the kernels of LSTM, GRU and RNN in recurrent_pixels.cc. The input's part of
// the gates is one product for all steps. A step then is a product of the hidden state with the
// recurrent matrix, to which that part is added, and an update of the units: for a group of units
// at a time, which one worker computes alone, so that workers pass nothing on but the state. The
// matrices are packed once (pixels_f32.h), with the gates of a vector of units next to each other.
#pragma once

#include "base/minimal.h"
#include "device/cpu/kernel/product/pixels_f32.h"
#include "operator/onnx/recurrent_param.h"

namespace tengine::cpu {

// Gates that are computed in one product.
struct GateBlock
{
    int64_t first_gate, gates;
    bool is_of_cell;  // the product's left side is the cell in place of the state
    bool is_apart;    // the input's part is not added by the product: the update adds it
    // Planned by prepare_recurrent_layer():
    FloatPixels inputs;  // [sequence * batch, input] x [input, columns]
    FloatPixels steps;   // [batch, hidden] x [hidden, columns]

    int64_t columns() const { return steps.output_channels; }
};

constexpr int kMostGateBlocks = 2;

// Whether layers may name functions, or clip. Minimal builds leave them to the reference.
constexpr bool kNamesFunctions = !IS_MINIMAL;

struct GateBlocks
{
    GateBlock list[kMostGateBlocks];
    int num;
};

// The units of a group in one sequence. In a block with n gates each vector of units has n vectors
// of accumulators.
struct CellUnits
{
    int64_t num;  // whole vectors
    float* gates[kMostGateBlocks];
    const float* inputs[kMostGateBlocks];  // the input's part of the gates
    const float* state;
    float* next_state;
    float* cell;               // the cell of an LSTM; for a GRU the operand in place of the state
    bool has_usual_functions;  // has the usual functions and does not clip
    const recurrent_function* functions;
    float clip;       // 0: no clipping
    float cell_clip;  // the same for the cell
};

using UpdateUnits = void (*)(const CellUnits& units);

// A step has a few phases: all workers end one before any begins the next.
struct RecurrentPhase
{
    int first_block, last_block;  // the products, from the first to before the last
    UpdateUnits update;           // the update that follows them
};

struct RecurrentPhases
{
    RecurrentPhase list[2];
    int num;
};

// For accepts(): fp32, constant weights of fp32 or int8 (recurrent_s8.h), and functions that the
// updates have.
bool accepts_recurrent_layer(const node& node);

// For prepare(), with the blocks of the operator.
TENGINE_MUST_USE int prepare_recurrent_layer(KernelContext& context, const GateBlocks& blocks);

// For run().
TENGINE_MUST_USE int run_recurrent_layer(KernelContext& context, const RecurrentPhases& phases);

}  // namespace tengine::cpu
