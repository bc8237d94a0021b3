// SPDX-License-Identifier: Apache-2.0
// The devices of a graph.
#include <algorithm>
#include <new>

#include "base/containers.hpp"
#include "base/guard.hpp"
#include "graph/context.h"
#include "graph/core.h"
#include "optimizer/optimizer.h"
#include "optimizer/placement/candidates.h"

namespace tengine {

Vector<device*> list_graph_devices(const graph& graph)
{
    Vector<device*> devices;
    const auto add = [&](device* device) {
        if (std::find(devices.begin(), devices.end(), device) == devices.end())
            devices.push_back(device);
    };
    if (graph.device) add(graph.device);
    const ir_context_t* context = graph.attribute->context;
    for (int i = 0; context && i < get_vector_num(context->devices); ++i) {
        const auto* entry = static_cast<ir_context_device_t*>(get_vector_data(context->devices, i));
        if (entry->device != find_default_device()) add(entry->device);
    }
    add(find_default_device());
    return devices;
}

bool has_default_device_alone(const graph& graph)
{
    return list_graph_devices(graph).size() == 1;
}

}  // namespace tengine

struct device* find_best_device(const struct graph* graph)
{
    if (graph->device) return graph->device;
    const ir_context_t* context = graph->attribute->context;
    for (int i = 0; context && i < get_vector_num(context->devices); ++i) {
        const auto* entry = static_cast<ir_context_device_t*>(get_vector_data(context->devices, i));
        if (entry->device != find_default_device()) return entry->device;
    }
    return find_default_device();
}

int list_ir_graph_devices(const struct graph* graph, struct vector* out_devices)
{
    return tengine::guarded(
        [&]() -> int {
            for (struct device* device : tengine::list_graph_devices(*graph))
                if (push_vector_data(out_devices, &device) < 0) throw std::bad_alloc();
            return TENGINE_OK;
        },
        "graph '%s': out of memory while listing its devices", graph->name);
}
