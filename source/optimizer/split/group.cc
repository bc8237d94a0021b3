// SPDX-License-Identifier: Apache-2.0
// Makes the fewest parts from the devices and groups of nodes, as batch_search.h finds them.
#include <algorithm>
#include <cstring>

#include "base/containers.hpp"
#include "base/sort.h"
#include "graph/core.h"
#include "graph/subgraph.h"
#include "operator/custom/custom_kernel.h"
#include "optimizer/split/batch_search.h"
#include "optimizer/split/split.h"

namespace tengine {
namespace {

// The kind that the nodes of a part share.
struct Kind
{
    struct device* device;
    int group;
    int alone;  // node that has its part alone, from 1; 0: none
    bool operator==(const Kind& other) const
    {
        return device == other.device && group == other.group && alone == other.alone;
    }
};

Kind kind_of(const node& node)
{
    return {node.device, node.core->group, is_alone(node) ? node.index + 1 : 0};
}

// The order is by the names of devices, the default device last, and by groups, so it does not
// depend on the graph.
bool comes_before(const Kind& a, const Kind& b)
{
    const bool a_is_default = a.device == find_default_device();
    const bool b_is_default = b.device == find_default_device();
    if (a_is_default != b_is_default) return b_is_default;
    const int names = std::strcmp(a.device->name, b.device->name);
    if (names != 0) return names < 0;
    return a.group != b.group ? a.group < b.group : a.alone < b.alone;
}

Vector<Kind> list_kinds(const graph& graph)
{
    Vector<Kind> kinds;
    for (int i = 0; i < graph.node_num; ++i) {
        const Kind kind = kind_of(*graph.node_list[i]);
        const auto place = std::lower_bound(kinds.begin(), kinds.end(), kind, comes_before);
        if (place == kinds.end() || comes_before(kind, *place)) kinds.insert(place, kind);
    }
    return kinds;
}

// Whether nodes of group 0 are guests in parts of their device's groups.
bool is_guest(const Kind& kind, const Vector<Kind>& kinds)
{
    const auto has_group = [&](const Kind& other) {
        return other.device == kind.device && other.group != 0 && other.alone == 0;
    };
    return kind.group == 0 && kind.alone == 0 && std::any_of(kinds.begin(), kinds.end(), has_group);
}

// Orders kinds; guests are last.
Vector<Kind> order_kinds(const Vector<Kind>& kinds, int* out_batch_kind_num)
{
    Vector<Kind> ordered, guests;
    for (const Kind& kind : kinds)
        (is_guest(kind, kinds) ? guests : ordered).push_back(kind);
    *out_batch_kind_num = static_cast<int>(ordered.size());
    ordered.insert(ordered.end(), guests.begin(), guests.end());
    return ordered;
}

void add_kinds(const Vector<Kind>& kinds, BatchGraph* made)
{
    made->kind_num = static_cast<int>(kinds.size());
    const auto guests = kinds.begin() + made->batch_kind_num;
    const auto is_default = [](const Kind& kind) { return kind.device == find_default_device(); };
    made->default_kind =
        static_cast<int>(std::find_if(kinds.begin(), guests, is_default) - kinds.begin());
    for (auto kind = kinds.begin(); kind != guests; ++kind) {
        const auto guest = kind->alone != 0
                               ? kinds.end()
                               : std::find(guests, kinds.end(), Kind{kind->device, 0, 0});
        made->guest.push_back(guest == kinds.end() ? -1 : static_cast<int>(guest - kinds.begin()));
    }
}

// Also fills `out_kinds`: the devices and groups of the kinds.
BatchGraph make_batch_graph(const graph& graph, Vector<Kind>* out_kinds)
{
    BatchGraph made;
    const Vector<Kind> kinds = order_kinds(list_kinds(graph), &made.batch_kind_num);
    add_kinds(kinds, &made);
    const auto find_kind = [&](const node& node) {
        return static_cast<int>(std::find(kinds.begin(), kinds.end(), kind_of(node)) -
                                kinds.begin());
    };
    made.consumers.resize(graph.node_num);
    for (int i = 0; i < graph.node_num; ++i) {
        const node& node = *graph.node_list[i];
        made.kind.push_back(find_kind(node));
        made.wait_num.push_back(0);
        for (int k = 0; k < node.input_num; ++k) {
            const struct tensor* tensor = get_ir_node_input(&node, k);
            if (!tensor || tensor->producer < 0) continue;
            ++made.wait_num[i];
            made.consumers[tensor->producer].push_back(i);
        }
    }
    *out_kinds = kinds;
    return made;
}

int append_part(graph& graph, device* device, Vector<int> nodes)
{
    sort_indices(nodes.data(), nodes.size());
    struct subgraph* part = create_ir_subgraph(&graph, device);
    if (!part) return tengine_error_set(TENGINE_ENOMEM, "out of memory for a part");
    TENGINE_RETURN_IF_ERROR(
        set_ir_subgraph_nodes(part, nodes.data(), static_cast<int>(nodes.size())));
    for (const int index : nodes)
        graph.node_list[index]->subgraph_idx = part->index;
    return TENGINE_OK;
}

}  // namespace

bool is_alone(const node& node)
{
    return node.graph->run_options->concurrent && node.device == find_default_device() &&
           is_async_node(&node);
}

int group_parts(graph& graph)
{
    Vector<Kind> kinds;
    const BatchGraph batch_graph = make_batch_graph(graph, &kinds);
    release_ir_subgraph_list(&graph);
    BatchState state(batch_graph);
    for (const int kind : find_batches(batch_graph))
        TENGINE_RETURN_IF_ERROR(append_part(graph, kinds[kind].device, state.run(kind)));
    return connect_ir_subgraphs(&graph);
}

}  // namespace tengine
