// SPDX-License-Identifier: Apache-2.0
// The nodes and tensors of a graph by their handles, which take memory when they are first asked
// for.
#pragma once

#include "base/containers.hpp"
#include "tengine/c_api.h"

namespace tengine::calibration {

// Thrown when the C API fails, which has logged it; calibration_api.cc makes a status of it.
struct CallFailed
{
    int code;
};

// All nodes, and those that compute.
Vector<node_t> list_all_nodes(graph_t graph);
Vector<node_t> list_nodes(graph_t graph);

Vector<tensor_t> list_tensors(graph_t graph);
Vector<tensor_t> list_inputs(graph_t graph);
Vector<tensor_t> list_outputs(graph_t graph);

// Null stands for an omitted one.
Vector<tensor_t> list_node_inputs(node_t node);
Vector<tensor_t> list_node_outputs(node_t node);

}  // namespace tengine::calibration
