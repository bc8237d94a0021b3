// SPDX-License-Identifier: Apache-2.0
#include "quantize/masked_scores.h"

#include <algorithm>
#include <cstring>
#include <optional>

namespace tengine::tools {
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
    for (int i = 0; i < get_graph_node_num(graph); ++i) {
        const node_t node = get_graph_node_by_idx(graph, i);
        const std::optional<int> axis = find_axis(node);
        for (int k = 0; k < get_node_input_number(node); ++k) {
            const tensor_t input = get_node_input_tensor(node, k);
            if (!input) continue;
            const auto [place, is_new] = axes_.emplace(get_tensor_name(input), axis);
            if (!is_new && place->second != axis) place->second.reset();
        }
    }
    for (const std::string& output : output_names(graph))
        axes_[output].reset();
}

FloatView MaskedScores::limit(const std::string& tensor, const FloatView& view, float distance)
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

}  // namespace tengine::tools
