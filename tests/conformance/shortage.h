// SPDX-License-Identifier: Apache-2.0
// Failing allocations while a model of the suite is prepared and run.
#pragma once

#include <functional>

#include "tengine/c_api.h"

namespace tengine::conformance {

// Lets allocations of a preparation and a run fail, one in each: some, evenly spread. Throws
// tools::Failure if one fails with another error than TENGINE_ENOMEM, or if the next one, with
// memory, fails or has results for which `compare` throws.
void check_shortages(graph_t graph, const std::function<void()>& compare);

}  // namespace tengine::conformance
