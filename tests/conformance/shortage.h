// SPDX-License-Identifier: Apache-2.0
// Memory that runs out while a model of the suite is prepared and run.
#pragma once

#include <functional>

#include "tengine/c_api.h"

namespace tengine::conformance {

// Lets allocations of a preparation and a run fail, one in each: some, evenly spread. Throws
// tools::Failure when one fails for another reason than TENGINE_ENOMEM, or the next, with memory,
// fails or has results that `compare` throws at.
void check_shortages(graph_t graph, const std::function<void()>& compare);

}  // namespace tengine::conformance
