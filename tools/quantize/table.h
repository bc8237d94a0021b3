// SPDX-License-Identifier: Apache-2.0
// The calibration table with which the library computes the float model in int8, as text.
// docs/quantize.md describes it; the library's reader is in source/optimizer/precision.
#pragma once

#include <set>
#include <string>

#include "quantize/float_model.h"

namespace tengine::tools {

// `float_nodes`: names of the nodes that stay in float. Throws Failure: a name has a line break in
// it.
std::string calibration_table(const QuantizedModel& quantized,
                              const std::set<std::string>& float_nodes);

}  // namespace tengine::tools
