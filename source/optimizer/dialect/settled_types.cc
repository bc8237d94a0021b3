// SPDX-License-Identifier: Apache-2.0
// Raising leaves the types of new tensors to be inferred. Tengine Lite reads them from the file, so
// a copy of the graph infers them.
#include "base/containers.hpp"
#include "graph/graph.h"
#include "optimizer/dialect/quantized_tensors.h"
#include "optimizer/pass.h"

namespace tengine {
namespace {

bool has_open_types(const graph& graph)
{
    for (int i = 0; i < graph.tensor_num; ++i)
        if (graph.tensor_list[i] && graph.tensor_list[i]->data_type == TENGINE_DT_UNKNOWN)
            return true;
    return false;
}

int infer_copy(const graph& graph, GraphPointer* out_copy)
{
    TENGINE_RETURN_IF_ERROR(copy_to_execution_graph(graph, out_copy));
    struct graph& copy = **out_copy;
    copy.core->run_options = graph.core->run_options;
    TENGINE_RETURN_IF_ERROR(sort_ir_graph(&copy));
    TENGINE_RETURN_IF_ERROR(insert_qdq_nodes(copy));
    TENGINE_RETURN_IF_ERROR(lower_graph(copy));
    TENGINE_RETURN_IF_ERROR(tidy_graph(copy));
    return infer_nodes(copy);
}

}  // namespace

int settle_types(graph& graph)
{
    if (!has_open_types(graph)) return TENGINE_OK;
    GraphPointer copy;
    const int status = infer_copy(graph, &copy);
    if (status == TENGINE_ENOMEM) return status;
    const bool is_inferred = status == TENGINE_OK;
    tengine_error_clear();
    for (int i = 0; is_inferred && i < copy->tensor_num; ++i) {
        const struct tensor* known = copy->tensor_list[i];
        struct tensor* to =
            known ? get_ir_graph_tensor(&graph, known->core->source_index) : nullptr;
        if (to && to->data_type == TENGINE_DT_UNKNOWN)
            TENGINE_RETURN_IF_ERROR(set_ir_tensor_data_type(to, known->data_type));
    }
    return TENGINE_OK;
}

}  // namespace tengine
