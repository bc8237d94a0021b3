// SPDX-License-Identifier: Apache-2.0
#include "calibration/masked_scores.h"

#include <algorithm>
#include <cstring>

#include "calibration/graph_reader.h"

namespace tengine::calibration {
namespace {

// The axis of a Softmax; nothing for other nodes.
std::optional<int> find_axis(node_t node)
{
    int axis;
    const char* op = get_node_op(node);
    const bool is_softmax = op && std::strcmp(op, "Softmax") == 0;
    if (!is_softmax || get_node_attr_int(node, "axis", &axis) != 0) return std::nullopt;
    return axis;
}

}  // namespace

MaskedScores::MaskedScores(graph_t graph)
{
    for (node_t node : list_all_nodes(graph)) {
        const std::optional<int> axis = find_axis(node);
        for (tensor_t input : list_node_inputs(node)) {
            if (!input) continue;
            const auto [place, is_new] = axes_.emplace(get_tensor_name(input), axis);
            if (!is_new && place->second != axis) place->second.reset();
        }
    }
    for (const String& output : output_names(graph))
        axes_[output].reset();
}

FloatView MaskedScores::limit(const String& tensor, const FloatView& view, float distance)
{
    const auto found = axes_.find(tensor);
    const auto rank = static_cast<int>(view.shape.size());
    if (found == axes_.end() || !found->second || !view.values || view.number == 0) return view;
    if (*found->second != -1 && *found->second + 1 != rank) return view;
    const auto width = static_cast<size_t>(view.shape.back());
    limited_.assign(view.values, view.values + view.number);
    for (auto row = limited_.begin(); row != limited_.end(); row += static_cast<ptrdiff_t>(width)) {
        const auto end = row + static_cast<ptrdiff_t>(width);
        const float largest = *std::max_element(row, end);
        std::replace_if(
            row, end, [&](float value) { return value <= largest - distance; },
            largest - kNegligible);
    }
    return {limited_.data(), limited_.size(), view.shape};
}

}  // namespace tengine::calibration
