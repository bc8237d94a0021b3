// SPDX-License-Identifier: Apache-2.0
// The nodes that stay ONNX's in a graph for a file of Tengine's dialect. One warning covers all
// nodes of an operator, since networks repeat theirs.
#pragma once

#include "base/containers.hpp"
#include "base/maps.hpp"
#include "tengine/ir.h"

namespace tengine {

class KeptNodes
{
  public:
    // Returns the string for the reason, which names the node; null if the operator has a node with
    // a reason already.
    String* add(const node& node);
    void warn() const;

  private:
    struct Kept
    {
        int number = 0;
        String why;
    };
    Map<String, Kept> by_op_;
};

}  // namespace tengine
