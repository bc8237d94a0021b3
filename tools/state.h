// SPDX-License-Identifier: Apache-2.0
// The states of a graph (tengine/state.h): --keep-state, and their values in a folder.
#pragma once

#include <string>
#include <vector>

#include "tengine/c_api.h"

namespace tengine::tools {

// Makes states of INPUT=OUTPUT. Throws Failure.
void keep_states(graph_t graph, const std::vector<std::string>& pairs);

// The names of the states, each that of its input.
std::vector<std::string> state_names(graph_t graph);

// Sets the states of a prepared graph for which the folder has a file NAME.npy; it may be absent.
// Throws Failure for a file of another type or shape.
void read_states(graph_t graph, const std::string& folder);
// Writes the states to the folder. Throws Failure.
void write_states(graph_t graph, const std::string& folder);

}  // namespace tengine::tools
