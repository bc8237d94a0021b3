// SPDX-License-Identifier: Apache-2.0
#include "support/placement.h"

#include "graph/graph.h"
#include "tengine/device.h"

namespace tengine::test {

int count_nodes_on(const struct graph& execution, const std::string& name)
{
    int number = 0;
    for (int i = 0; i < execution.node_num; ++i)
        number += execution.node_list[i]->device->name == name;
    return number;
}

std::string list_refusals(const struct graph& execution)
{
    std::string text;
    for (int i = 0; i < execution.node_num; ++i) {
        const node& node = *execution.node_list[i];
        for (int k = 0; k < node.core->refusal_num; ++k)
            text +=
                std::string(node.name) + ": " + node.core->refusal_list[k].verdict.message + "\n";
    }
    return text;
}

}  // namespace tengine::test
