// SPDX-License-Identifier: Apache-2.0
// Constants that passes make of constants of the model alone: one serves all preparations.
#include "graph/graph.h"
#include "graph/graph_pool.h"
#include "optimizer/pass.h"

namespace tengine {

int share_constant(graph& graph, struct tensor& made, const ir_pack_key_t& key,
                   void (*fill)(void* memory, void* argument), void* argument)
{
    graph_pool* shared = graph.core->pool;
    void* pack = hold_graph_pack(shared, &key, get_ir_tensor_bytes(&made), fill, argument);
    if (!pack) return tengine_error_set(TENGINE_ENOMEM, "constant '%s': out of memory", made.name);
    made.tensor_type = TENSOR_TYPE_CONST;
    set_ir_tensor_pack(&made, shared, pack);
    return TENGINE_OK;
}

}  // namespace tengine
