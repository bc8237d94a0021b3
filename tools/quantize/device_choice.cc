// SPDX-License-Identifier: Apache-2.0
#include "quantize/device_choice.h"

#include "text.h"

namespace tengine::tools {

std::string scales_text(const WeightScales& scales)
{
    return std::string(scales.per_tensor ? "per tensor" : "per channel") +
           (scales.unsigned_activations ? ", uint8" : ", int8");
}

std::string choose_scales(const FloatModel& placed, const std::vector<Tensor>& inputs,
                          const std::vector<WeightScales>& candidates, Calibration* calibration)
{
    set_input_shapes(placed.graph(), inputs);
    const ScaleChoice choice = calibration->choose(placed, candidates);
    if (choice.index == 0) return "";
    const auto macs = [](int64_t number) { return count_text(static_cast<double>(number)); };
    return macs(choice.mac_number) + " MACs are taken so, " + macs(choice.first_mac_number) +
           " MACs " + scales_text(candidates[0]) +
           (choice.refusal.empty() ? "" : ": " + choice.refusal);
}

}  // namespace tengine::tools
