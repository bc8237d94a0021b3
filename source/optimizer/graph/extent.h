// SPDX-License-Identifier: Apache-2.0
// The part of a source graph that a preparation needs, which may be small compared with the rest.
#pragma once

#include <cstdint>

#include "base/containers.hpp"
#include "tengine/ir.h"

namespace tengine {

// Indices of the needed nodes and tensors, in ascending order.
struct Extent
{
    Vector<int32_t> tensors;
    Vector<int32_t> nodes;  // that compute
};

// The nodes that the outputs need, with all their tensors, and the inputs of the graph. Minimal
// builds take all; the pass dead_code removes the rest.
Extent find_extent(const graph& source);
Extent list_all(const graph& source);

}  // namespace tengine
