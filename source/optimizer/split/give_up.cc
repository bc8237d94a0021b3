// SPDX-License-Identifier: Apache-2.0
// Moves the parts that small.cc and prune.cc select to other devices.

#include "base/containers.hpp"
#include "optimizer/split/split.h"

namespace tengine {

bool may_give_up(const struct subgraph& part, const Candidates& candidates)
{
    for (int i = 0; i < part.node_num; ++i) {
        const node& node = *part.graph->node_list[part.node_list[i]];
        if (is_pinned(node) || is_compiled_ahead(node)) return false;
    }
    for (int i = 0; i < part.node_num; ++i)
        if (!candidates.has_other(*part.graph->node_list[part.node_list[i]])) return false;
    return true;
}

int give_up(const struct subgraph& part, const ir_verdict_t& why, const Candidates& candidates,
            Vector<const node*>* out_unplaced)
{
    for (int i = 0; i < part.node_num; ++i) {
        node& node = *part.graph->node_list[part.node_list[i]];
        TENGINE_RETURN_IF_ERROR(candidates.move_on(node, why));
        if (!node.device) out_unplaced->push_back(&node);
    }
    return TENGINE_OK;
}

}  // namespace tengine
