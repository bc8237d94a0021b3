// SPDX-License-Identifier: Apache-2.0
// The first step of the split: gives each node to the first device of the list that takes it.

#include "base/containers.hpp"
#include "base/print_text.hpp"
#include "graph/core.h"
#include "optimizer/split/split.h"

namespace tengine {

// One message for all nodes that no device takes.
int fail_unplaced(const Vector<const node*>& nodes)
{
    constexpr size_t kMostNamed = 8;
    String sentence;
    for (size_t i = 0; i < nodes.size() && i < kMostNamed; ++i) {
        const node& node = *nodes[i];
        sentence += print_text("%s%s '%s'", i ? "; " : "", get_ir_node_op(&node), node.name);
        if (node.core->refusal_num > 0)
            sentence += print_text(
                ": %s", node.core->refusal_list[node.core->refusal_num - 1].verdict.message);
    }
    if (nodes.size() > kMostNamed)
        sentence += print_text("; and %zu more", nodes.size() - kMostNamed);
    return tengine_error_set(TENGINE_EOPERATOR, "no device supports %zu node(s): %s", nodes.size(),
                             sentence.c_str());
}

int assign_devices(graph& graph, const Candidates& candidates)
{
    Vector<const node*> unplaced;
    for (int i = 0; i < graph.node_num; ++i) {
        node& node = *graph.node_list[i];
        TENGINE_RETURN_IF_ERROR(candidates.place(node, 0));
        if (!node.device) unplaced.push_back(&node);
    }
    return unplaced.empty() ? TENGINE_OK : fail_unplaced(unplaced);
}

}  // namespace tengine
