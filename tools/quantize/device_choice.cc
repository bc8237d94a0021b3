// SPDX-License-Identifier: Apache-2.0
// Places the quantised model once for each kind. The contract is in device_choice.h.
#include "quantize/device_choice.h"

#include <algorithm>
#include <cstring>

#include "model.h"
#include "tengine/inspect.h"
#include "text.h"

namespace tengine::tools {
namespace {

struct Placed
{
    int64_t macs = 0;     // of nodes on the devices, the CPU aside
    std::string refusal;  // the first sentence of one of them about a node with MACs
};

std::string refusal_text(graph_t graph, int index, const tengine_execution_node& node)
{
    tengine_refusal refusal = {};
    if (tengine_graph_get_refusal(graph, index, 0, &refusal) < 0) return "";
    return std::string(refusal.device) + " refuses " + node.op + " '" + node.name +
           "': " + refusal.message;
}

Placed place(graph_t graph, const std::string& path, const std::vector<Tensor>& inputs)
{
    set_input_shapes(graph, inputs);
    const options_t options = {1, TENGINE_CLUSTER_ALL, TENGINE_MODE_INT8, 0};
    if (tengine_graph_place(graph, options) < 0) fail_api(path);
    Placed placed;
    for (int i = 0; i < tengine_graph_get_execution_node_number(graph); ++i) {
        tengine_execution_node node = {};
        if (tengine_graph_get_execution_node(graph, i, &node) < 0) fail_api(path);
        if (std::strcmp(node.device, get_default_device()) != 0)
            placed.macs += node.mac_number;
        else if (node.mac_number > 0 && node.refusal_number > 0 && placed.refusal.empty())
            placed.refusal = refusal_text(graph, i, node);
    }
    return placed;
}

}  // namespace

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
    std::vector<Placed> placed;
    for (const WeightScales& scales : candidates)
        placed.push_back(place(quantizer.quantize_all(model, scales).graph.get(), path, inputs));
    const auto most =
        std::max_element(placed.begin(), placed.end(),
                         [](const Placed& a, const Placed& b) { return a.macs < b.macs; });
    const size_t chosen = static_cast<size_t>(most - placed.begin());
    if (chosen == 0) return {candidates[0], ""};
    const auto macs = [](const Placed& of) { return count_text(static_cast<double>(of.macs)); };
    return {candidates[chosen], macs(*most) + " MACs are taken so, " + macs(placed[0]) + " MACs " +
                                    scales_text(candidates[0]) +
                                    (placed[0].refusal.empty() ? "" : ": " + placed[0].refusal)};
}

}  // namespace tengine::tools
