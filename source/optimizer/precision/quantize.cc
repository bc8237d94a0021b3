// SPDX-License-Identifier: Apache-2.0
// The steps of tengine_graph_quantize() after the passes of pipeline.cc: keep, choose, write.
#include "graph/graph.h"
#include "optimizer/pass.h"
#include "optimizer/precision/qdq_graph.h"

namespace tengine {
namespace {

int keep_nodes_in_float(graph& base, const tengine_quantization& how)
{
    for (int i = 0; i < how.keep_float_number; ++i)
        if (!keep_nodes(base, how.keep_float[i]))
            return tengine_error_set(TENGINE_ENOENT, "keep_float: '%.200s' matches no node",
                                     how.keep_float[i]);
    for (int i = 0; how.take_kept && i < base.node_num; ++i)
        if (base.node_list[i]->core->keep_float) how.take_kept(how.user, base.node_list[i]->name);
    return TENGINE_OK;
}

}  // namespace

int quantize_float_graph(graph& base, const tengine_quantization& how, graph** out_graph)
{
    TENGINE_RETURN_IF_ERROR(keep_nodes_in_float(base, how));
    Ranges ranges(how);
    const int type = how.unsigned_activations ? TENGINE_DT_UINT8 : TENGINE_DT_INT8;
    Vector<QuantizedUnit> units;
    Vector<TensorQuantization> quantizations;
    TENGINE_RETURN_IF_ERROR(select_units(base, how, ranges, &units));
    if (how.dynamic)
        quantizations.resize(static_cast<size_t>(base.tensor_num));
    else
        TENGINE_RETURN_IF_ERROR(quantize_tensors(base, units, ranges, type, &quantizations));
    return create_qdq_graph(base, units, quantizations, how, out_graph);
}

}  // namespace tengine
