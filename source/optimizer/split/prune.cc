// SPDX-License-Identifier: Apache-2.0
// Gives up parts that do not pay: what the device saves against the default device must be more
// than moving the part's inputs and outputs costs. The part that pays least goes first, and all
// that pay just as little with it, so that the result does not depend on numbering; what is left is
// grouped and judged anew, since neighbours may have become one.
#include <algorithm>
#include <cstdio>
#include <limits>

#include "graph/context.h"
#include "graph/option.h"
#include "optimizer/split/split.h"

namespace tengine {
namespace {

// Times of one run of a part, in ns.
struct Balance
{
    int64_t on_device = 0;
    int64_t on_default = 0;
    int64_t moving = 0;
    int64_t saving() const { return on_default - on_device - moving; }
};

struct Loser
{
    ir_subgraph_t* part;
    Balance balance;
};

// Whether the part may be given up: its device states its times, the user did not ask for it, and
// somebody else takes each node.
bool weigh(const Candidates& candidates, const ir_subgraph_t& part, Balance* out_balance)
{
    const graph& graph = *part.graph;
    *out_balance = {};
    for (int i = 0; i < part.node_num; i++) {
        const node& node = *graph.node_list[part.node_list[i]];
        bool known = false, default_known = false;
        out_balance->on_device += predict_node(*part.device, node, &known);
        out_balance->on_default += predict_node(*find_default_device(), node, &default_known);
        if (!known || !default_known || is_pinned(node)) return false;
    }
    out_balance->moving = predict_move(graph, part.bytes_in + part.bytes_out);
    if (out_balance->saving() > 0) return false;
    for (int i = 0; i < part.node_num; i++)
        if (!candidates.has_other(*graph.node_list[part.node_list[i]])) return false;
    return true;
}

// The parts with the smallest saving of all that save nothing.
std::vector<Loser> find_losers(const graph& graph, const Candidates& candidates)
{
    std::vector<Loser> losers;
    int64_t least = std::numeric_limits<int64_t>::max();
    for (int i = 0; i < get_vector_num(graph.subgraph_list); i++) {
        ir_subgraph_t* part = get_ir_graph_subgraph(&graph, i);
        Balance balance;
        if (part->device == find_default_device() || !weigh(candidates, *part, &balance)) continue;
        if (balance.saving() < least) losers.clear();
        least = std::min(least, balance.saving());
        if (balance.saving() == least) losers.push_back({part, balance});
    }
    return losers;
}

ir_verdict_t explain(const Loser& loser)
{
    const auto ms = [](int64_t ns) { return static_cast<double>(ns) / 1e6; };
    char value[32];
    std::snprintf(value, sizeof(value), "%.4g ms", ms(loser.balance.saving()));
    ir_verdict_t verdict = {};
    refuse_ir_node(&verdict, IR_REASON_COST, "saving", value,
                   "its part (%d nodes) would take %.4g ms there and %.4g ms to move %lld bytes, "
                   "against %.4g ms on %s",
                   loser.part->node_num, ms(loser.balance.on_device), ms(loser.balance.moving),
                   static_cast<long long>(loser.part->bytes_in + loser.part->bytes_out),
                   ms(loser.balance.on_default), find_default_device()->name);
    verdict.verdict = IR_VERDICT_NOT_WORTH;
    return verdict;
}

}  // namespace

int prune_parts(graph& graph, const Candidates& candidates)
{
    if (get_ir_context_number(graph.attribute->context, "split.prune") == 0) return TENGINE_OK;
    for (;;) {
        const std::vector<Loser> losers = find_losers(graph, candidates);
        if (losers.empty()) return TENGINE_OK;
        for (const Loser& loser : losers) {
            const ir_verdict_t verdict = explain(loser);
            for (int i = 0; i < loser.part->node_num; i++)
                TENGINE_RETURN_IF_ERROR(
                    candidates.move_on(*graph.node_list[loser.part->node_list[i]], verdict));
        }
        TENGINE_RETURN_IF_ERROR(group_parts(graph));
    }
}

}  // namespace tengine
