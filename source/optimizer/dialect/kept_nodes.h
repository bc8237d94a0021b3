// SPDX-License-Identifier: Apache-2.0
// The nodes that stay ONNX's in a graph for a file of Tengine's dialect: a warning for each
// operator, since networks repeat theirs.
#pragma once

#include "base/containers.hpp"
#include "base/maps.hpp"
#include "tengine/ir.h"

namespace tengine {

class KeptNodes
{
  public:
    // The place of the message that says why, and names the node; null for a node that is not the
    // first of its operator, of which nothing is said.
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
