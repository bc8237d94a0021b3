// SPDX-License-Identifier: Apache-2.0
// The calibration table: what the library needs to compute the float model in int8, as text.
// docs/quantize.md describes it; the library's reader is in source/optimizer/precision.
#pragma once

#include <string>

#include "quantize/quantizer.h"

namespace tengine::tools {

// After Quantizer::quantize(). Throws Failure: a name has a line break in it.
std::string calibration_table(const Quantizer& quantizer);

}  // namespace tengine::tools
