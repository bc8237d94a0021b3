// SPDX-License-Identifier: Apache-2.0
// The kinds of scales that the devices of a model take.
#pragma once

#include <string>
#include <vector>

#include "quantize/quantizer.h"

namespace tengine::tools {

struct DeviceChoice
{
    WeightScales scales;
    std::string reason;  // the reason why they are not the first candidate; "": they are
};

// The first of `candidates` with which `devices` take most MACs of the model at `path`. Nothing is
// compiled. `inputs`: complete shapes. Throws Failure.
DeviceChoice choose_scales(const Quantizer& quantizer, const std::string& path,
                           const std::vector<Tensor>& inputs,
                           const std::vector<std::string>& devices,
                           const std::vector<WeightScales>& candidates);

// "per channel, uint8"
std::string scales_text(const WeightScales& scales);

}  // namespace tengine::tools
