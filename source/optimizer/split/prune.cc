// SPDX-License-Identifier: Apache-2.0
// Gives up parts that do not pay: the time that the device saves against the default device must
// exceed the time of moving the part's inputs and outputs. Those that save least are given up
// first, the worst eighth at a time with all that save equally little, so that the result does not
// depend on numbering; the rest is grouped and judged again, since neighbours may have been joined.
#include <algorithm>
#include <cstdio>

#include "base/containers.hpp"
#include "base/sort.hpp"
#include "graph/context.h"
#include "graph/core.h"
#include "graph/hint.h"
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
    struct subgraph* part;
    Balance balance;
};

// Predictions, each computed once.
class Predictions
{
  public:
    explicit Predictions(const graph& graph)
        : on_device_(static_cast<size_t>(graph.node_num)), on_default_(on_device_)
    {
    }

    // False when one of the two devices has no estimate.
    bool add(const node& node, Balance* balance)
    {
        const Time& device = ask(*node.device, node, &on_device_[node.index]);
        const Time& host = ask(*find_default_device(), node, &on_default_[node.index]);
        balance->on_device += device.ns;
        balance->on_default += host.ns;
        return device.known && host.known;
    }

  private:
    struct Time
    {
        const device* of = nullptr;
        int64_t ns = 0;
        bool known = false;
    };

    static const Time& ask(const device& device, const node& node, Time* time)
    {
        if (time->of == &device) return *time;
        time->of = &device;
        time->ns = predict_node(device, node, &time->known);
        return *time;
    }

    Vector<Time> on_device_, on_default_;  // by node
};

// Whether the part should be given up: its device has estimates, which save nothing. A part that
// must stay is not estimated, since the first estimate measures the machine.
bool weigh(const Candidates& candidates, const struct subgraph& part, Predictions& predictions,
           Balance* out_balance)
{
    if (!may_give_up(part, candidates)) return false;
    const graph& graph = *part.graph;
    *out_balance = {};
    for (int i = 0; i < part.node_num; ++i) {
        const node& node = *graph.node_list[part.node_list[i]];
        if (!predictions.add(node, out_balance)) return false;
    }
    out_balance->moving = predict_move(graph, part.core->bytes_in + part.core->bytes_out);
    return out_balance->saving() <= 0;
}

// The worst parts among those that save nothing.
Vector<Loser> find_losers(const graph& graph, const Candidates& candidates,
                          Predictions& predictions)
{
    constexpr size_t kShare = 8;
    Vector<Loser> losers;
    for (int i = 0; i < get_vector_num(graph.subgraph_list); ++i) {
        struct subgraph* part = get_ir_graph_subgraph(&graph, i);
        Balance balance;
        if (part->device != find_default_device() &&
            weigh(candidates, *part, predictions, &balance))
            losers.push_back({part, balance});
    }
    if (losers.empty()) return losers;
    const auto pays_less = [](const Loser& a, const Loser& b) {
        return a.balance.saving() < b.balance.saving();
    };
    sort_stably(losers, pays_less);
    const Loser last = losers[(losers.size() - 1) / kShare];
    losers.erase(std::upper_bound(losers.begin(), losers.end(), last, pays_less), losers.end());
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
                   static_cast<long long>(loser.part->core->bytes_in + loser.part->core->bytes_out),
                   ms(loser.balance.on_default), find_default_device()->name);
    verdict.verdict = IR_VERDICT_NOT_WORTH;
    return verdict;
}

}  // namespace

int prune_parts(graph& graph, const Candidates& candidates)
{
    if (get_ir_graph_number(&graph, "split.prune") == 0) return TENGINE_OK;
    Predictions predictions(graph);
    for (;;) {
        const Vector<Loser> losers = find_losers(graph, candidates, predictions);
        if (losers.empty()) return TENGINE_OK;
        Vector<const node*> unplaced;
        for (const Loser& loser : losers)
            TENGINE_RETURN_IF_ERROR(give_up(*loser.part, explain(loser), candidates, &unplaced));
        if (!unplaced.empty()) return fail_unplaced(unplaced);
        TENGINE_RETURN_IF_ERROR(group_parts(graph));
    }
}

}  // namespace tengine
