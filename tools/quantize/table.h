// SPDX-License-Identifier: Apache-2.0
// The calibration table with which the library computes the float model in int8, as text.
// docs/quantize.md describes it; the library's reader is in source/optimizer/precision.
#pragma once

#include <string>

#include "quantize/calibration.h"

namespace tengine::tools {

// Throws Failure: a name has a line break in it.
std::string calibration_table(const Calibration& calibration);

}  // namespace tengine::tools
