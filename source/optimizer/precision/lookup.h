// SPDX-License-Identifier: Apache-2.0
// Tables of 256 bytes that stand for a function between two quantised tensors (tengine.Lookup).
#pragma once

#include <array>

#include "optimizer/precision/quantization.h"

namespace tengine {

// By the bits of a byte.
using ByteTable = std::array<uint8_t, 256>;

// to(operation(from(byte))) for every byte, computed by the default device as it would compute the
// three nodes. `operation` is elementwise; its input `data_input` is the value, its others are
// constants of one value, or absent. Null: a mere change of quantisation.
// TENGINE_EOPERATOR when the default device cannot compute it.
int make_table(const graph& graph, const node* operation, int data_input, const Quantization& from,
               const Quantization& to, ByteTable* out_table);

// Whether every byte stands for itself.
bool is_identity(const ByteTable& table);

}  // namespace tengine
