// SPDX-License-Identifier: Apache-2.0
// The limits of a context on nodes that fall back to the default device. A node falls back when the
// graph has another device and the user did not assign the node to the default device.

#include "base/containers.hpp"
#include "base/print_text.hpp"
#include "graph/core.h"
#include "graph/option.h"
#include "optimizer/split/split.h"

namespace tengine {
namespace {

struct Fallen
{
    int nodes = 0;
    double macs = 0;  // share of all MACs, in percent
    const node* first = nullptr;
};

Fallen count_fallen(const graph& graph)
{
    Fallen fallen;
    double macs = 0, all_macs = 0;
    for (int i = 0; i < graph.node_num; ++i) {
        const node& node = *graph.node_list[i];
        const auto node_macs = static_cast<double>(get_ir_node_macs(&node));
        all_macs += node_macs;
        if (node.device != find_default_device() || is_pinned(node)) continue;
        macs += node_macs;
        if (fallen.nodes++ == 0) fallen.first = &node;
    }
    if (all_macs > 0) fallen.macs = 100 * macs / all_macs;
    return fallen;
}

}  // namespace

int check_fallback(const graph& graph)
{
    const context* context = graph.attribute->context;
    const bool none = get_ir_context_number(context, "split.fail_on_fallback") != 0;
    const double most = get_ir_context_number(context, "split.max_fallback_macs");
    if ((!none && most >= 100) || list_graph_devices(graph).size() == 1) return TENGINE_OK;
    const Fallen fallen = count_fallen(graph);
    if (fallen.nodes == 0 || (!none && fallen.macs <= most)) return TENGINE_OK;
    const node& node = *fallen.first;
    String why;
    for (int i = 0; i < node.core->refusal_num; ++i)
        why += print_text("; %s: %s", node.core->refusal_list[i].device->name,
                          node.core->refusal_list[i].verdict.message);
    return tengine_error_set(
        TENGINE_EFALLBACK,
        "%d of %d nodes with %.4g %% of the MACs would fall back to %s, but %s; the first is %s "
        "'%s'%s",
        fallen.nodes, graph.node_num, fallen.macs, find_default_device()->name,
        none ? "split.fail_on_fallback allows none"
             : print_text("split.max_fallback_macs allows %s %%",
                          get_ir_context_option(context, "split.max_fallback_macs"))
                   .c_str(),
        get_ir_node_op(&node), node.name, why.c_str());
}

}  // namespace tengine
