// SPDX-License-Identifier: Apache-2.0
// The parts of a rotation of pairs (RotaryEmbedding) in a graph: the selections of one element of
// each pair, and the tables of cosines and sines.
#pragma once

#include "base/containers.hpp"
#include "optimizer/recognise/pattern.h"
#include "tengine/ir.h"

namespace tengine {

// The nodes that select a piece of x.
struct Selection
{
    static constexpr int kMostNodes = 4;

    tensor* x = nullptr;
    node* nodes[kMostNodes] = {};
    int node_num = 0;
};

// Whether `value` is the piece of some x: a Slice, an output of a Split, or every other element by
// a Slice or a Gather between Reshapes.
bool find_selection(const graph& graph, const PatternPiece& piece, const tensor& value,
                    Selection* out_selection);

// The axes of x. Its tokens are before its heads, or behind them.
struct RotaryShape
{
    int batch, heads, sequence, size;
    bool has_heads_first;
};

// False unless both tables have a row for each token, for all heads, of the size of a head or of
// its half, and x is of rank 3, with one head, or 4.
bool find_rotary_shape(const tensor& x, const tensor& cosines, const tensor& sines,
                       RotaryShape* out_shape);

// The elements of a constant, in `storage` where it has no data until it is read
// (graph/late_constant.h); null: it has none.
const unsigned char* read_constant(const graph& graph, const tensor& constant,
                                   Vector<unsigned char>* storage);

// Whether both elements of each pair in the table's rows are the same: a constant's by its data,
// others by the nodes that compute them.
bool repeats_pairs(const graph& graph, const tensor& table, bool is_interleaved);

}  // namespace tengine
