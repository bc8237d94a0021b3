// SPDX-License-Identifier: Apache-2.0
// Places the quantised model once for each kind. The contract is in device_choice.h.
#include "quantize/device_choice.h"

#include "text.h"

namespace tengine::tools {

std::string scales_text(const WeightScales& scales)
{
    return std::string(scales.per_tensor ? "per tensor" : "per channel") +
           (scales.unsigned_activations ? ", uint8" : ", int8");
}

DeviceChoice choose_scales(const Quantizer& quantizer, const std::string& path,
                           const std::vector<Tensor>& inputs,
                           const std::vector<std::string>& devices,
                           const std::vector<WeightScales>& candidates)
{
    const FloatModel model(path, inputs, devices);
    std::vector<QuantizationRequest> requests;
    for (const WeightScales& scales : candidates)
        requests.push_back(quantizer.request_with(scales));
    const tengine_quantization_choice choice = model.choose(requests, inputs);
    if (choice.index == 0) return {candidates[0], ""};
    const auto macs = [](int64_t number) { return count_text(static_cast<double>(number)); };
    const std::string refusal = choice.refusal;
    return {candidates[static_cast<size_t>(choice.index)],
            macs(choice.mac_number) + " MACs are taken so, " + macs(choice.first_mac_number) +
                " MACs " + scales_text(candidates[0]) + (refusal.empty() ? "" : ": " + refusal)};
}

}  // namespace tengine::tools
