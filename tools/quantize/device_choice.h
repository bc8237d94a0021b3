// SPDX-License-Identifier: Apache-2.0
// The kinds of scales that the devices of a model take.
#pragma once

#include <string>
#include <vector>

#include "quantize/calibration.h"

namespace tengine::tools {

// Sets the first of `candidates` with which the devices of `placed` take most MACs. Nothing is
// compiled. Returns the reason why they are not the first candidate; "": they are. `inputs`:
// complete shapes. Throws Failure.
std::string choose_scales(const FloatModel& placed, const std::vector<Tensor>& inputs,
                          const std::vector<WeightScales>& candidates, Calibration* calibration);

// "per channel, uint8"
std::string scales_text(const WeightScales& scales);

}  // namespace tengine::tools
