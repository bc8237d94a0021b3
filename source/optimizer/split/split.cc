// SPDX-License-Identifier: Apache-2.0
// Splits an execution graph into parts, each for one device, in named steps:
//   assign     each node to the first device of the list that takes it
//   group      the fewest parts that can run one after the other
//   small      parts that are smaller than the user allows go to the next device
//   prune      parts that do not pay go to the next device
//   hand_back  devices judge their whole parts and may hand nodes back
// until nothing moves any more; then the partition is checked. A graph's first device may bring a
// split of its own, which is checked as well and must respect the user's affinities. repair.cc
// mends failures that come later, when parts are compiled.
#include "optimizer/split/split.h"

#include "base/containers.hpp"
#include "base/guard.hpp"
#include "base/print_text.hpp"
#include "graph/graph.h"
#include "graph/preparation.h"
#include "graph/subgraph.h"
#include "module/module.h"
#include "optimizer/optimizer.h"
#include "optimizer/pass.h"

namespace tengine {
namespace {

int split_by_devices(graph& graph)
{
    const Candidates* candidates;
    TENGINE_RETURN_IF_ERROR(Candidates::of(graph, &candidates));
    TENGINE_RETURN_IF_ERROR(
        run_pass(graph, "assign", [&](struct graph& g) { return assign_devices(g, *candidates); }));
    TENGINE_RETURN_IF_ERROR(run_pass(graph, "group", group_parts));
    for (bool moved = true; moved;) {
        TENGINE_RETURN_IF_ERROR(check_ir_cancelled(&graph));
        TENGINE_RETURN_IF_ERROR(run_pass(
            graph, "small", [&](struct graph& g) { return drop_small_parts(g, *candidates); }));
        TENGINE_RETURN_IF_ERROR(
            run_pass(graph, "prune", [&](struct graph& g) { return prune_parts(g, *candidates); }));
        TENGINE_RETURN_IF_ERROR(run_pass(graph, "hand_back", [&](struct graph& g) {
            return hand_back_nodes(g, *candidates, &moved);
        }));
    }
    return TENGINE_OK;
}

// Adds refusals to nodes that a device's own split did not give to that device, which the steps
// above did not see.
int explain_own_split(graph& graph, struct device* author)
{
    for (int i = 0; i < graph.node_num; ++i) {
        node& node = *graph.node_list[i];
        if (node.device == author || node.core->refusal_num > 0) continue;
        ir_verdict_t verdict = {};
        refuse_ir_node(&verdict, IR_REASON_HANDBACK, "", "",
                       "the device's own split left the node to %s", node.device->name);
        TENGINE_RETURN_IF_ERROR(add_ir_node_refusal(&node, author, &verdict));
    }
    return TENGINE_OK;
}

// Finds the groups of the nodes on the devices that an own split chose, which the split must
// respect.
int find_groups(graph& graph, const char* author)
{
    const Candidates* candidates;
    TENGINE_RETURN_IF_ERROR(Candidates::of(graph, &candidates));
    for (int i = 0; i < graph.node_num; ++i)
        candidates->find_group(*graph.node_list[i]);
    return check_groups(graph, author);
}

// Affinities take precedence over a device's own split, which does not know them: a node on a
// device that they exclude moves to the first that takes it, nodes get the groups that affinities
// name, and parts are made again if necessary. Leaves parts connected.
int apply_affinities(graph& graph)
{
    const Candidates* candidates;
    TENGINE_RETURN_IF_ERROR(Candidates::of(graph, &candidates));
    Vector<const node*> unplaced;
    bool moved = false;
    for (int i = 0; i < graph.node_num; ++i) {
        node& node = *graph.node_list[i];
        if (const int group = get_affinity_group(node)) node.core->group = group;
        if (!is_misplaced(node)) continue;
        node.core->refusal_num = 0;  // all devices are asked again
        TENGINE_RETURN_IF_ERROR(candidates->place(node, 0));
        if (!node.device) unplaced.push_back(&node);
        moved = true;
    }
    if (!unplaced.empty()) return fail_unplaced(unplaced);
    return moved || has_mixed_part(graph) ? group_parts(graph) : connect_ir_subgraphs(&graph);
}

int split_by_author(graph& graph, struct device* author)
{
    tengine_error_clear();
    const int status = author->optimizer->split_graph(&graph);
    if (status != 0) {
        const String cause = describe_failure(status);
        return tengine_error_set(tengine_error_code() ? tengine_error_code() : TENGINE_EDEVICE,
                                 "device '%s', split_graph: %s", author->name, cause.c_str());
    }
    const String name = print_text("device '%s', split_graph", author->name);
    TENGINE_RETURN_IF_ERROR(check_parts(graph, name.c_str()));
    TENGINE_RETURN_IF_ERROR(find_groups(graph, name.c_str()));
    TENGINE_RETURN_IF_ERROR(apply_affinities(graph));
    return explain_own_split(graph, author);
}

}  // namespace

int split_graph(graph& graph)
{
    device* best = find_best_device(&graph);
    const bool own = best->optimizer && best->optimizer->split_graph;
    TENGINE_RETURN_IF_ERROR(own ? split_by_author(graph, best)
                                : split_graph_node_to_sub_graph(&graph));
    return check_fallback(graph);
}

}  // namespace tengine

int split_graph_node_to_sub_graph(struct graph* graph)
{
    return tengine::guarded(
        [&]() -> int {
            constexpr char kAuthor[] = "the default split";
            TENGINE_RETURN_IF_ERROR(tengine::split_by_devices(*graph));
            TENGINE_RETURN_IF_ERROR(tengine::check_parts(*graph, kAuthor));
            return tengine::check_groups(*graph, kAuthor);
        },
        "graph '%s': out of memory while splitting it", graph->name);
}
