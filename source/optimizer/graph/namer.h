// SPDX-License-Identifier: Apache-2.0
// Names for the nodes or tensors that are added to a graph.
#pragma once

#include <utility>

#include "base/maps.hpp"

namespace tengine {

// Names that are unique in a graph.
class Namer
{
  public:
    // Reserves `name`, which the graph has.
    void take(String name) { taken_.insert(std::move(name)); }

    // A free name: `name`, else `name` with "_" and, if necessary, a number from 2 on.
    String choose(const String& name)
    {
        String chosen = name;
        while (!taken_.insert(chosen).second) {
            const int number = ++numbers_[name];
            chosen = name + "_" + (number > 1 ? to_string(number) : "");
        }
        return chosen;
    }

  private:
    Set<String> taken_;
    Map<String, int> numbers_;  // last number of each name
};

}  // namespace tengine
