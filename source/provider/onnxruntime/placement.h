// SPDX-License-Identifier: Apache-2.0
// Which nodes of the host's graph the provider asks for, and why not the others.
#pragma once

#include <string>
#include <vector>

#include "graph_view.h"
#include "settings.h"

namespace tengine::provider {

constexpr int kNoPart = -1;

struct Placement
{
    int part_num = 0;
    // For each node of the view: the part that it is in, or kNoPart and why. Between two nodes of a
    // part there is no path through a node that is not of it.
    std::vector<int> parts;
    std::vector<std::string> reasons;
};

// Has the library place the graph on the devices of `settings`, as prerun_graph does.
Placement place_graph(const GraphView& view, const Settings& settings);

// Describes `placement` in one line: "TPU: 12 of 16 nodes in 2 parts; not Softmax (…)".
std::string describe_placement(const GraphView& view, const Placement& placement,
                               const Settings& settings);

}  // namespace tengine::provider
