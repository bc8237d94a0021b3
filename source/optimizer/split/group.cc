// SPDX-License-Identifier: Apache-2.0
// Parts from node->device: the fewest there can be, as batch_search.h finds them.
#include <algorithm>
#include <cstring>

#include "base/containers.hpp"
#include "graph/subgraph.h"
#include "optimizer/split/batch_search.h"
#include "optimizer/split/split.h"

namespace tengine {
namespace {

// The devices that have nodes, in an order that does not depend on the graph: by name, the default
// device last.
Vector<device*> list_devices(const graph& graph)
{
    Vector<device*> devices;
    for (int i = 0; i < graph.node_num; ++i)
        devices.push_back(graph.node_list[i]->device);
    const auto comes_before = [](const device* a, const device* b) {
        const bool a_is_default = a == find_default_device();
        const bool b_is_default = b == find_default_device();
        if (a_is_default != b_is_default) return b_is_default;
        return std::strcmp(a->name, b->name) < 0;
    };
    std::sort(devices.begin(), devices.end(), comes_before);
    devices.erase(std::unique(devices.begin(), devices.end()), devices.end());
    return devices;
}

BatchGraph make_batch_graph(const graph& graph, const Vector<device*>& devices)
{
    const auto position = [&](const device* device) {
        return static_cast<int>(std::find(devices.begin(), devices.end(), device) -
                                devices.begin());
    };
    BatchGraph made;
    made.kind_num = static_cast<int>(devices.size());
    made.default_kind = position(find_default_device());
    made.consumers.resize(graph.node_num);
    for (int i = 0; i < graph.node_num; ++i) {
        const node& node = *graph.node_list[i];
        made.kind.push_back(position(node.device));
        made.wait_num.push_back(0);
        for (int k = 0; k < node.input_num; ++k) {
            const struct tensor* tensor = get_ir_node_input(&node, k);
            if (!tensor || tensor->producer < 0) continue;
            ++made.wait_num[i];
            made.consumers[tensor->producer].push_back(i);
        }
    }
    return made;
}

int append_part(graph& graph, device* device, Vector<int> nodes)
{
    std::sort(nodes.begin(), nodes.end());
    struct subgraph* part = create_ir_subgraph(&graph, device);
    if (!part) return tengine_error_set(TENGINE_ENOMEM, "no memory for a part");
    TENGINE_RETURN_IF_ERROR(
        set_ir_subgraph_nodes(part, nodes.data(), static_cast<int>(nodes.size())));
    for (const int index : nodes)
        graph.node_list[index]->subgraph_idx = part->index;
    return TENGINE_OK;
}

}  // namespace

int group_parts(graph& graph)
{
    const Vector<device*> devices = list_devices(graph);
    const BatchGraph batch_graph = make_batch_graph(graph, devices);
    release_ir_subgraph_list(&graph);
    BatchState state(batch_graph);
    for (const int kind : find_batches(batch_graph))
        TENGINE_RETURN_IF_ERROR(append_part(graph, devices[kind], state.run(kind)));
    return connect_ir_subgraphs(&graph);
}

}  // namespace tengine
