// SPDX-License-Identifier: Apache-2.0
// Empty execution graphs, which are then copied from a source graph or read from its file.
#include "graph/graph.h"
#include "graph/preparation.h"
#include "graph/string_pool.h"
#include "optimizer/pass.h"

namespace tengine {
namespace {

// The bytes of constants that the source graph owns, alone or with other instances.
int64_t count_own_constants(const graph& source)
{
    int64_t bytes = 0;
    for (int i = 0; i < source.tensor_num; ++i) {
        const struct tensor& tensor = *source.tensor_list[i];
        if (tensor.free_host_mem || tensor.core->is_shared)
            bytes += static_cast<int64_t>(get_ir_tensor_bytes(&tensor));
    }
    return bytes;
}

}  // namespace

int create_target(const graph& source, GraphPointer* out_graph)
{
    GraphPointer target(create_ir_graph(source.attribute->context));
    if (!target) return tengine_error_code();
    limit_ir_memory(target.get());
    if (target->core->memory_limit > 0)
        TENGINE_RETURN_IF_ERROR(
            claim_ir_memory(target.get(), count_own_constants(source), "its constants"));
    target->graph_layout = source.graph_layout;
    target->model_layout = source.model_layout;
    target->model_format = source.model_format;
    target->core->source = &source;
    TENGINE_RETURN_IF_ERROR(set_ir_graph_device(target.get(), source.device));
    TENGINE_RETURN_IF_ERROR(join_ir_strings(target.get(), &source));
    TENGINE_RETURN_IF_ERROR(set_ir_graph_name(target.get(), source.name));
    *out_graph = std::move(target);
    return TENGINE_OK;
}

}  // namespace tengine
