// SPDX-License-Identifier: Apache-2.0
// Repairs a split whose parts a device could not compile. Parts keep their order, which stays an
// order of execution: halves replace the whole, and a part that changes its device keeps its place.
#include <algorithm>

#include "base/containers.hpp"
#include "base/guard.hpp"
#include "graph/graph.h"
#include "graph/subgraph.h"
#include "optimizer/optimizer.h"
#include "optimizer/split/split.h"

namespace tengine {
namespace {

constexpr char kNoMemory[] = "out of memory while repairing a split";

// Renumbers parts from `first` on, and their nodes.
void renumber(graph& graph, int first)
{
    for (int p = first; p < get_vector_num(graph.subgraph_list); ++p) {
        struct subgraph* part = get_ir_graph_subgraph(&graph, p);
        part->index = p;
        for (int i = 0; i < part->node_num; ++i)
            graph.node_list[part->node_list[i]]->subgraph_idx = p;
    }
}

// Moves the last part of the list to `index`.
void move_last_part(graph& graph, int index)
{
    auto** parts = static_cast<struct subgraph**>(get_vector_data(graph.subgraph_list, 0));
    const int number = get_vector_num(graph.subgraph_list);
    std::rotate(parts + index, parts + number - 1, parts + number);
}

int halve(graph& graph, int index)
{
    struct subgraph* first = get_ir_graph_subgraph(&graph, index);
    const int kept = first->node_num / 2;
    struct subgraph* second = create_ir_subgraph(&graph, first->device);
    if (!second)
        return tengine_error_set(TENGINE_ENOMEM, "part %d: out of memory while halving it", index);
    TENGINE_RETURN_IF_ERROR(
        set_ir_subgraph_nodes(second, first->node_list + kept, first->node_num - kept));
    first->node_num = kept;
    move_last_part(graph, index + 1);
    renumber(graph, index);
    TENGINE_RETURN_IF_ERROR(list_ir_boundary_tensors(first));
    return list_ir_boundary_tensors(second);
}

int redirect(graph& graph, int index, int reason, const char* message)
{
    struct subgraph* part = get_ir_graph_subgraph(&graph, index);
    const Candidates* candidates;
    TENGINE_RETURN_IF_ERROR(Candidates::of(graph, &candidates));
    ir_verdict_t verdict = {};
    refuse_ir_node(&verdict, reason, "", "", "%s", message);
    Vector<const node*> unplaced;
    for (int i = 0; i < part->node_num; ++i) {
        node& node = *graph.node_list[part->node_list[i]];
        TENGINE_RETURN_IF_ERROR(add_ir_node_refusal(&node, part->device, &verdict));
        TENGINE_RETURN_IF_ERROR(candidates->place(node, candidates->size() - 1));
        if (!node.device) unplaced.push_back(&node);
    }
    if (!unplaced.empty()) return fail_unplaced(unplaced);
    part->device = candidates->at(candidates->size() - 1);
    return check_fallback(graph);
}

bool has_lone_node(const struct subgraph& part)
{
    return is_alone(*part.graph->node_list[part.node_list[0]]);
}

// Adds the nodes of later parts that the default device runs in the same group to the part, and
// drops those parts.
int absorb_followers(graph& graph, struct subgraph* part)
{
    Vector<int32_t> nodes(part->node_list, part->node_list + part->node_num);
    int group = get_ir_subgraph_group(part);
    const int next = part->index + 1;
    for (struct subgraph* follower = get_ir_graph_subgraph(&graph, next);
         follower && follower->device == part->device && !has_lone_node(*part) &&
         !has_lone_node(*follower);
         follower = get_ir_graph_subgraph(&graph, next)) {
        const int its_group = get_ir_subgraph_group(follower);
        if (group != 0 && its_group != 0 && group != its_group) break;
        group = group != 0 ? group : its_group;
        nodes.insert(nodes.end(), follower->node_list, follower->node_list + follower->node_num);
        remove_vector_via_index(graph.subgraph_list, next);
        release_ir_subgraph(&graph, follower);
    }
    return set_ir_subgraph_nodes(part, nodes.data(), static_cast<int>(nodes.size()));
}

int join_default_parts(graph& graph)
{
    for (int p = 0; p < get_vector_num(graph.subgraph_list); ++p) {
        struct subgraph* part = get_ir_graph_subgraph(&graph, p);
        part->index = p;
        if (part->device == find_default_device())
            TENGINE_RETURN_IF_ERROR(absorb_followers(graph, part));
    }
    renumber(graph, 0);
    return connect_ir_subgraphs(&graph);
}

}  // namespace
}  // namespace tengine

int halve_ir_subgraph(struct graph* execution, int index)
{
    return tengine::halve(*execution, index);
}

int redirect_ir_subgraph(struct graph* execution, int index, int reason, const char* message)
{
    return tengine::guarded([&] { return tengine::redirect(*execution, index, reason, message); },
                            tengine::kNoMemory);
}

int join_ir_default_subgraphs(struct graph* execution)
{
    return tengine::guarded([&] { return tengine::join_default_parts(*execution); },
                            tengine::kNoMemory);
}
