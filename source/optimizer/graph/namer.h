// SPDX-License-Identifier: Apache-2.0
// Names for the nodes or tensors that are added to a graph.
#pragma once

#include <utility>

#include "base/maps.hpp"

namespace tengine {

// Names that nothing else in the graph has.
class Namer
{
  public:
    // `name` stands in the graph already.
    void take(String name) { taken_.insert(std::move(name)); }

    // `name`, with a _ after it as often as it is taken.
    String choose(String name)
    {
        while (!taken_.insert(name).second)
            name += "_";
        return name;
    }

  private:
    Set<String> taken_;
};

}  // namespace tengine
