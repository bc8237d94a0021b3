// SPDX-License-Identifier: Apache-2.0
// Gives up parts that are smaller than the user allows (options split.min_nodes, split.min_macs).
// Those with the fewest nodes are given up first, and among these those with the fewest
// multiply-accumulates, the smallest eighth at a time with all of the same size, so that the result
// does not depend on numbering; the rest is grouped and judged again, since neighbours may have
// been joined.
#include <algorithm>
#include <cinttypes>
#include <tuple>

#include "base/containers.hpp"
#include "base/sort.h"
#include "graph/hint.h"
#include "optimizer/split/split.h"

namespace tengine {
namespace {

struct Limits
{
    explicit Limits(const graph& graph)
        : nodes(static_cast<int64_t>(get_ir_graph_number(&graph, "split.min_nodes"))),
          macs(static_cast<int64_t>(get_ir_graph_number(&graph, "split.min_macs")))
    {
    }
    const int64_t nodes;
    const int64_t macs;
};

struct SmallPart
{
    struct subgraph* part;
    int64_t macs;
    bool operator<(const SmallPart& other) const
    {
        return std::tie(part->node_num, macs) < std::tie(other.part->node_num, other.macs);
    }
};

// Parts of the same size keep the graph's order.
int compare_parts(const void* left, const void* right)
{
    const auto& a = *static_cast<const SmallPart*>(left);
    const auto& b = *static_cast<const SmallPart*>(right);
    if (a < b) return -1;
    return b < a ? 1 : a.part->index - b.part->index;
}

int64_t count_macs(const struct subgraph& part)
{
    int64_t macs = 0;
    for (int i = 0; i < part.node_num; ++i)
        macs += get_ir_node_macs(part.graph->node_list[part.node_list[i]]);
    return macs;
}

// The smallest parts among those that are too small and may be given up.
Vector<SmallPart> find_smallest(const graph& graph, const Candidates& candidates,
                                const Limits& limits)
{
    constexpr size_t kShare = 8;
    Vector<SmallPart> parts;
    for (int i = 0; i < get_vector_num(graph.subgraph_list); ++i) {
        struct subgraph* part = get_ir_graph_subgraph(&graph, i);
        if (part->device == find_default_device()) continue;
        const int64_t macs = count_macs(*part);
        if (part->node_num >= limits.nodes && macs >= limits.macs) continue;
        if (may_give_up(*part, candidates)) parts.push_back({part, macs});
    }
    if (parts.empty()) return parts;
    sort_items(parts.data(), parts.size(), sizeof(SmallPart), compare_parts);
    const SmallPart last = parts[(parts.size() - 1) / kShare];
    parts.erase(std::upper_bound(parts.begin(), parts.end(), last), parts.end());
    return parts;
}

ir_verdict_t explain(const SmallPart& small, const Limits& limits)
{
    ir_verdict_t verdict = {};
    const int nodes = small.part->node_num;
    if (nodes < limits.nodes)
        refuse_ir_node(&verdict, IR_REASON_COST, "nodes", to_string(nodes).c_str(),
                       "its part has %d node%s, expected %" PRId64 " or more (split.min_nodes)",
                       nodes, nodes == 1 ? "" : "s", limits.nodes);
    else
        refuse_ir_node(&verdict, IR_REASON_COST, "MACs", to_string(small.macs).c_str(),
                       "its part (%d node%s) has %" PRId64 " MACs, expected %" PRId64
                       " or more (split.min_macs)",
                       nodes, nodes == 1 ? "" : "s", small.macs, limits.macs);
    verdict.verdict = IR_VERDICT_NOT_WORTH;
    return verdict;
}

}  // namespace

int drop_small_parts(graph& graph, const Candidates& candidates)
{
    const Limits limits(graph);
    if (limits.nodes <= 1 && limits.macs <= 0) return TENGINE_OK;
    for (;;) {
        const Vector<SmallPart> smallest = find_smallest(graph, candidates, limits);
        if (smallest.empty()) return TENGINE_OK;
        Vector<const node*> unplaced;
        for (const SmallPart& small : smallest)
            TENGINE_RETURN_IF_ERROR(
                give_up(*small.part, explain(small, limits), candidates, &unplaced));
        if (!unplaced.empty()) return fail_unplaced(unplaced);
        TENGINE_RETURN_IF_ERROR(group_parts(graph));
    }
}

}  // namespace tengine
