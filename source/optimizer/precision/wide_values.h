// SPDX-License-Identifier: Apache-2.0
// Detects values beyond the range of fp16, as far as the graph shows: 0 times a factor that becomes
// infinite is NaN.
#pragma once

#include "base/maps.hpp"
#include "graph/graph.h"

namespace tengine {

class WideValues
{
  public:
    // Whether the node must stay in fp32: it adds, multiplies or selects a finite constant beyond
    // fp16, or reads the result of such a node, up to the Log, Sqrt, Softmax or other node that
    // makes it small again. Call it for nodes in the order of the graph.
    bool has(const node& node);

  private:
    bool reads_wide(const node& node) const;

    UnorderedSet<int32_t> tensors_;
};

}  // namespace tengine
