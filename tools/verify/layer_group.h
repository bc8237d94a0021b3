// SPDX-License-Identifier: Apache-2.0
// Layers of a quantised model, for layers.cc: float nodes between DequantizeLinear and
// QuantizeLinear, which a run in the precision int8 or uint8 computes in integers as a whole.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "verify/layer_graph.h"

namespace tengine::tools {

struct LayerGroup
{
    // Reads the inputs of the DequantizeLinear nodes, and writes the outputs of the QuantizeLinear
    // nodes. Has the name of the first of its float nodes.
    Layer layer;
    // Indices of its nodes, without the DequantizeLinear nodes, which others may read as well. In
    // the order of the file: the first is a float node.
    std::vector<size_t> nodes;
};

bool is_dequantisation(const Layer& layer);

// The groups of a model in the order of its file: float nodes that are joined by tensors, where all
// that they read from outside is dequantised or constant, and all that is read from outside is
// quantised. `floats`: names of tensors that hold floats; `results`: of the model's outputs.
std::vector<LayerGroup> list_groups(const std::vector<Layer>& layers,
                                    const std::set<std::string>& floats,
                                    const std::set<std::string>& results);

}  // namespace tengine::tools
