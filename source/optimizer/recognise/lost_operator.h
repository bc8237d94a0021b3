// SPDX-License-Identifier: Apache-2.0
// Operators in the place of nodes (recognise.cc) that their device has handed back.
#pragma once

#include "base/containers.hpp"
#include "optimizer/placement/candidates.h"

namespace tengine {

// Adds to the list the operators of patterns that a device has handed back, if there is a device
// between it and the present one, which may take the nodes. Returns whether there are new ones.
bool list_lost_operators(const graph& graph, Vector<Candidates::HandedBack>* list);

}  // namespace tengine
