// SPDX-License-Identifier: Apache-2.0
// Tables of 256 entries for a function between two quantised tensors (tengine.Lookup).
#pragma once

#include <array>

#include "base/containers.hpp"
#include "optimizer/precision/quantization.h"

namespace tengine {

// The table is indexed by the bits of an int8 or uint8.
using Int8Table = std::array<uint8_t, 256>;

// A function of one value, element by element: nodes in topological order, the last of which
// computes the result. They read the value, for which all `sources` stand, results of previous
// nodes, or constants of one element. Without nodes: the value itself.
struct Formula
{
    Vector<const tensor*> sources;
    Vector<const node*> nodes;
};

// to(formula(from(byte))) for every byte; the default device computes the nodes. TENGINE_EOPERATOR
// when it cannot.
int make_table(const graph& graph, const Formula& formula, const Quantization& from,
               const Quantization& to, Int8Table* out_table);

// Whether the table is the identity.
bool is_identity(const Int8Table& table);

}  // namespace tengine
