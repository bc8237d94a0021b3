// SPDX-License-Identifier: Apache-2.0
// The placement of the nodes of a prepared graph, and its reasons.
#pragma once

#include <string>

struct graph;

namespace tengine::test {

// Returns the number of nodes of an execution graph that the device `name` runs.
int count_nodes_on(const struct graph& execution, const std::string& name);

// Returns "node: reason" of every refusal, a line for each.
std::string list_refusals(const struct graph& execution);

}  // namespace tengine::test
