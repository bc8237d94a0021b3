// SPDX-License-Identifier: Apache-2.0
#include "support/run_cost.h"

#include <algorithm>

#include "graph/graph.h"
#include "optimizer/optimizer.h"

namespace tengine::test {

int64_t measure_run(graph* source)
{
    ir_run_options_t options = {};
    options.num_thread = 1;
    graph* execution = nullptr;
    if (create_execution_graph(source, &options, &execution) < 0) return -1;
    int64_t cost = 0;
    for (int i = 0; i < execution->tensor_num; ++i)
        cost += static_cast<int64_t>(
            std::min<uint64_t>(get_ir_tensor_bytes(execution->tensor_list[i]), uint64_t{1} << 50));
    for (int i = 0; i < execution->node_num; ++i)
        cost += get_ir_node_macs(execution->node_list[i]) / 16;
    destroy_ir_graph(execution);
    return cost;
}

}  // namespace tengine::test
