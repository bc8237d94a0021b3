// SPDX-License-Identifier: Apache-2.0
// A placement in a file, for programs.
#pragma once

#include <string>

#include "placement.h"

namespace tengine::provider {

// Describes `placement` node by node, as JSON (option report). Bytes of names that are no UTF-8
// become U+FFFD.
std::string report_placement(const GraphView& view, const Placement& placement,
                             const Settings& settings);

}  // namespace tengine::provider
