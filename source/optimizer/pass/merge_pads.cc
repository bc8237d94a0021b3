// SPDX-License-Identifier: Apache-2.0
// Merges zero padding into the pads of the convolution or the AveragePool behind it.
#include <algorithm>
#include <cstring>

#include "base/containers.hpp"
#include "graph/graph.h"
#include "operator/param.h"
#include "optimizer/pass.h"
#include "optimizer/pass/channel_affine.h"

namespace tengine {
namespace {

// The pads of a Pad node that a convolution or a pool can do itself: zeros on spatial axes only.
bool read_mergeable_pads(const node* pad, Vector<int64_t>* out_pads)
{
    if (!is_op(pad, "Pad") ||
        std::strcmp(get_ir_node_text(pad, "mode", "constant"), "constant") != 0)
        return false;
    const struct tensor* pads = get_ir_node_input(pad, 1);
    const struct tensor* value = get_ir_node_input(pad, 2);
    const struct tensor* data = get_ir_node_input(pad, 0);
    if (!pads || pads->tensor_type != TENSOR_TYPE_CONST || get_ir_node_input(pad, 3)) return false;
    if (value && !(is_float_constant(value) && *value->f32 == 0.0f)) return false;
    const int rank = data->dim_num;
    if (rank < 3 || pads->elem_num != 2 * rank) return false;
    for (int i = 0; i < 2 * rank; ++i)
        if (pads->i64[i] < 0 || (i % rank < 2 && pads->i64[i] != 0)) return false;
    out_pads->clear();
    for (int end = 0; end < 2; ++end)
        for (int axis = 2; axis < rank; ++axis)
            out_pads->push_back(pads->i64[end * rank + axis]);
    return true;
}

bool has_pads(const node& node)
{
    int number;
    const int64_t* pads = get_ir_node_ints(&node, "pads", &number);
    return std::any_of(pads, pads + number, [](int64_t pad) { return pad != 0; });
}

// Whether zeros around the input of the node can be pads of the node. The mean counts them; as pads
// of the node they count only if it counts all pads, which does not include pads that ceil_mode
// adds.
bool can_merge_pad(const node& node)
{
    if (std::strcmp(get_ir_node_text(&node, "auto_pad", "NOTSET"), "NOTSET") != 0) return false;
    if (is_op(&node, "Conv")) return true;
    return is_op(&node, "AveragePool") && get_ir_node_int(&node, "ceil_mode", 0) == 0 &&
           (get_ir_node_int(&node, "count_include_pad", 0) != 0 || !has_pads(node));
}

int merge_pad(graph& graph, node& pad, node& reader, Vector<int64_t> pads)
{
    int number;
    const int64_t* own = get_ir_node_ints(&reader, "pads", &number);
    for (int i = 0; i < number && i < static_cast<int>(pads.size()); ++i)
        pads[i] += own[i];
    TENGINE_RETURN_IF_ERROR(
        set_node_ints(&reader, "pads", pads.data(), static_cast<int>(pads.size())));
    if (is_op(&reader, "AveragePool"))
        TENGINE_RETURN_IF_ERROR(set_node_int(&reader, "count_include_pad", 1));
    TENGINE_RETURN_IF_ERROR(set_ir_node_input_tensor(&reader, 0, get_ir_node_input(&pad, 0)));
    destroy_ir_node(&graph, &pad);
    return TENGINE_OK;
}

}  // namespace

int merge_pads(graph& graph)
{
    Vector<int64_t> pads;
    for (int i = 0; i < graph.node_num; ++i) {
        node* reader = graph.node_list[i];
        if (!reader || !can_merge_pad(*reader)) continue;
        node* pad = find_only_producer(graph, get_ir_node_input(reader, 0));
        if (read_mergeable_pads(pad, &pads))
            TENGINE_RETURN_IF_ERROR(merge_pad(graph, *pad, *reader, pads));
    }
    return TENGINE_OK;
}

}  // namespace tengine
