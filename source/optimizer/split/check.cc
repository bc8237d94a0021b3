// SPDX-License-Identifier: Apache-2.0
// Checks that the parts of graph->subgraph_list can be run, for the default split and those that
// devices make. Data with one correct value (order, indices, devices of nodes) are corrected; other
// faults are errors that name the author of the split.
#include <algorithm>
#include <functional>
#include <queue>
#include <utility>

#include "base/maps.hpp"
#include "base/minimal.h"
#include "base/print_text.hpp"
#include "base/sort.h"
#include "graph/core.h"
#include "graph/subgraph.h"
#include "optimizer/split/split.h"

namespace tengine {
namespace {

String quote(const graph& graph, int node)
{
    return print_text("'%s'", graph.node_list[node]->name);
}

bool is_registered(const device* device)
{
    for (int i = 0; i < get_device_count(); ++i)
        if (find_device_via_index(i) == device) return true;
    return false;
}

// Removes a part that is in the list twice, so that it is freed once.
int check_listed_once(const graph& graph, const char* author)
{
    Map<const struct subgraph*, int> places;
    for (int p = 0; p < get_vector_num(graph.subgraph_list); ++p) {
        const auto [place, is_new] = places.emplace(get_ir_graph_subgraph(&graph, p), p);
        if (is_new || !place->first) continue;
        remove_vector_via_index(graph.subgraph_list, p);
        return tengine_error_set(TENGINE_EGRAPH, "%s: part %d is listed again as part %d", author,
                                 place->second, p);
    }
    return TENGINE_OK;
}

int check_part(const graph& graph, int index, const char* author)
{
    const struct subgraph* part = get_ir_graph_subgraph(&graph, index);
    if (!part) return tengine_error_set(TENGINE_EGRAPH, "%s: part %d is NULL", author, index);
    // The pointer of an unregistered device may be invalid.
    if (!is_registered(part->device))
        return tengine_error_set(TENGINE_EGRAPH, "%s: part %d has %s", author, index,
                                 part->device ? "a device that is not registered" : "no device");
    if (part->node_num <= 0 || !part->node_list)
        return tengine_error_set(TENGINE_EGRAPH, "%s: part %d (%s) has no nodes", author, index,
                                 part->device->name);
    for (int i = 0; i < part->node_num; ++i)
        if (part->node_list[i] < 0 || part->node_list[i] >= graph.node_num)
            return tengine_error_set(
                TENGINE_EGRAPH, "%s: part %d (%s) has node %d; the graph has nodes 0 to %d", author,
                index, part->device->name, part->node_list[i], graph.node_num - 1);
    return TENGINE_OK;
}

// Numbers the part and its nodes, which get the graph's order, an order of execution.
int claim_nodes(graph& graph, int index, const char* author)
{
    struct subgraph* part = get_ir_graph_subgraph(&graph, index);
    part->graph = &graph;
    part->index = index;
    sort_indices(part->node_list, static_cast<size_t>(part->node_num));
    for (int i = 0; i < part->node_num; ++i) {
        node& node = *graph.node_list[part->node_list[i]];
        if (node.subgraph_idx == index)
            return tengine_error_set(TENGINE_EGRAPH, "%s: node '%s' is twice in part %d (%s)",
                                     author, node.name, index, part->device->name);
        if (node.subgraph_idx >= 0)
            return tengine_error_set(
                TENGINE_EGRAPH, "%s: node '%s' is in part %d (%s) and in part %d (%s)", author,
                node.name, node.subgraph_idx, node.device->name, index, part->device->name);
        node.subgraph_idx = index;
        if (node.device != part->device) node.core->predicted_ns = -1;
        node.device = part->device;
    }
    return TENGINE_OK;
}

int check_all_claimed(const graph& graph, const char* author)
{
    constexpr int kMostNamed = 8;
    String names;
    int missing = 0;
    for (int i = 0; i < graph.node_num; ++i) {
        if (graph.node_list[i]->subgraph_idx >= 0) continue;
        if (missing++ < kMostNamed) names += (names.empty() ? "" : ", ") + quote(graph, i);
    }
    if (missing == 0) return TENGINE_OK;
    if (missing > kMostNamed) names += print_text(" and %d more", missing - kMostNamed);
    return tengine_error_set(TENGINE_EGRAPH, "%s: %d node(s) are in no part: %s", author, missing,
                             names.c_str());
}

// A tensor between parts.
struct Edge
{
    int from, to;
    int producer, consumer;  // nodes
};
using Edges = Vector<Vector<Edge>>;  // by the part they come from

Edges list_edges(const graph& graph)
{
    Edges edges(get_vector_num(graph.subgraph_list));
    for (int i = 0; i < graph.node_num; ++i) {
        const node& node = *graph.node_list[i];
        for (int k = 0; k < node.input_num; ++k) {
            const struct tensor* tensor = get_ir_node_input(&node, k);
            if (!tensor || tensor->producer < 0) continue;
            const int from = graph.node_list[tensor->producer]->subgraph_idx;
            if (from != node.subgraph_idx)
                edges[from].push_back({from, node.subgraph_idx, tensor->producer, i});
        }
    }
    return edges;
}

// Parts in an order of execution that is close to the present one (Kahn's algorithm, smallest index
// first), without those on or after a cycle.
Vector<int> order_parts(const Edges& edges)
{
    Vector<int> waits(edges.size());
    for (const auto& leaving : edges)
        for (const Edge& edge : leaving)
            ++waits[edge.to];
    std::priority_queue<int, Vector<int>, std::greater<int>> ready;
    for (size_t part = 0; part < waits.size(); ++part)
        if (waits[part] == 0) ready.push(static_cast<int>(part));
    Vector<int> order;
    while (!ready.empty()) {
        order.push_back(ready.top());
        ready.pop();
        for (const Edge& edge : edges[order.back()])
            if (--waits[edge.to] == 0) ready.push(edge.to);
    }
    return order;
}

// The shortest cycle through a part, breadth first; empty when there is none.
Vector<Edge> find_cycle(const Edges& edges, int start)
{
    Vector<const Edge*> reached_by(edges.size());
    Vector<int> reached = {start};
    for (size_t i = 0; i < reached.size() && !reached_by[start]; ++i)
        for (const Edge& edge : edges[reached[i]]) {
            if (reached_by[edge.to]) continue;
            reached_by[edge.to] = &edge;
            reached.push_back(edge.to);
        }
    Vector<Edge> cycle;
    for (const Edge* edge = reached_by[start]; edge; edge = reached_by[edge->from]) {
        cycle.push_back(*edge);
        if (edge->from == start) break;
    }
    std::reverse(cycle.begin(), cycle.end());
    return cycle;
}

Vector<Edge> find_shortest_cycle(const Edges& edges)
{
    Vector<Edge> shortest;
    for (size_t part = 0; part < edges.size() && shortest.size() != 2; ++part) {
        Vector<Edge> cycle = find_cycle(edges, static_cast<int>(part));
        if (!cycle.empty() && (shortest.empty() || cycle.size() < shortest.size()))
            shortest = std::move(cycle);
    }
    return shortest;
}

int fail_cycle(const graph& graph, const Edges& edges, const char* author)
{
    if (IS_MINIMAL)
        return tengine_error_set(TENGINE_EGRAPH, "%s: parts depend on each other", author);
    const Vector<Edge> cycle = find_shortest_cycle(edges);
    String parts, nodes;
    for (size_t i = 0; i < cycle.size(); ++i) {
        const Edge& edge = cycle[i];
        if (i > 0) parts += i + 1 < cycle.size() ? ", " : " and ";
        parts +=
            print_text("part %d (%s)", edge.from, graph.node_list[edge.producer]->device->name);
        const bool goes_on = i > 0 && cycle[i - 1].consumer == edge.producer;
        if (!goes_on) nodes += (i > 0 ? ", " : "") + quote(graph, edge.producer);
        nodes += print_text(" -> %s", quote(graph, edge.consumer).c_str());
    }
    return tengine_error_set(TENGINE_EGRAPH, "%s: %s depend on each other: %s", author,
                             parts.c_str(), nodes.c_str());
}

void reorder_parts(graph& graph, const Vector<int>& order)
{
    Vector<struct subgraph*> parts;
    for (const int old : order)
        parts.push_back(get_ir_graph_subgraph(&graph, old));
    for (size_t p = 0; p < parts.size(); ++p) {
        parts[p]->index = static_cast<int>(p);
        set_vector_data(graph.subgraph_list, parts[p]->index, &parts[p]);
        for (int i = 0; i < parts[p]->node_num; ++i)
            graph.node_list[parts[p]->node_list[i]]->subgraph_idx = parts[p]->index;
    }
}

// Two nodes of the part that are in different groups; null when there are none.
std::pair<const node*, const node*> find_mixed_nodes(const struct subgraph& part)
{
    const node* first = nullptr;
    for (int i = 0; i < part.node_num; ++i) {
        const node* next = part.graph->node_list[part.node_list[i]];
        if (next->core->group == 0) continue;
        if (first && first->core->group != next->core->group) return {first, next};
        first = next;
    }
    return {nullptr, nullptr};
}

}  // namespace

bool has_mixed_part(const graph& graph)
{
    for (int p = 0; p < get_vector_num(graph.subgraph_list); ++p)
        if (find_mixed_nodes(*get_ir_graph_subgraph(&graph, p)).first) return true;
    return false;
}

int check_groups(const graph& graph, const char* author)
{
    for (int p = 0; p < get_vector_num(graph.subgraph_list); ++p) {
        const struct subgraph* part = get_ir_graph_subgraph(&graph, p);
        const auto [a, b] = find_mixed_nodes(*part);
        if (!a) continue;
        return tengine_error_set(TENGINE_EGRAPH,
                                 "%s: part %d (%s) has nodes of two groups: '%s' is in group %d, "
                                 "'%s' in group %d",
                                 author, p, part->device->name, a->name, a->core->group, b->name,
                                 b->core->group);
    }
    return TENGINE_OK;
}

int check_parts(graph& graph, const char* author)
{
    TENGINE_RETURN_IF_ERROR(check_listed_once(graph, author));
    const int part_num = get_vector_num(graph.subgraph_list);
    for (int p = 0; p < part_num; ++p)
        TENGINE_RETURN_IF_ERROR(check_part(graph, p, author));
    for (int i = 0; i < graph.node_num; ++i)
        graph.node_list[i]->subgraph_idx = -1;
    for (int p = 0; p < part_num; ++p)
        TENGINE_RETURN_IF_ERROR(claim_nodes(graph, p, author));
    TENGINE_RETURN_IF_ERROR(check_all_claimed(graph, author));
    const Edges edges = list_edges(graph);
    const Vector<int> order = order_parts(edges);
    if (order.size() < edges.size()) return fail_cycle(graph, edges, author);
    if (!std::is_sorted(order.begin(), order.end())) reorder_parts(graph, order);
    return TENGINE_OK;
}

}  // namespace tengine
