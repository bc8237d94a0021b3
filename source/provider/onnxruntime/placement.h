// SPDX-License-Identifier: Apache-2.0
// The choice of the nodes of the host's graph for the provider, with reasons for the others.
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
    // The part of each node of the view, or kNoPart and the reason. Between two nodes of a part
    // there is no path through a node outside it.
    std::vector<int> parts;
    std::vector<std::string> reasons;
};

// Lets the library place the graph on the devices of `settings`, as prerun_graph does.
Placement place_graph(const GraphView& view, const Settings& settings);

// Describes `placement` in one line: "TPU: 12 of 16 nodes in 2 parts; not Softmax (…)".
std::string describe_placement(const GraphView& view, const Placement& placement,
                               const Settings& settings);

}  // namespace tengine::provider
