// SPDX-License-Identifier: Apache-2.0
// Copies of single tensors and nodes in another graph; execution_graph.cc and detach.cc select and
// connect them.
#include "graph/body.h"
#include "operator/added_field.h"
#include "operator/param.h"
#include "optimizer/pass.h"

namespace tengine {
namespace {

int copy_quantisation(const struct tensor& from, struct tensor& to)
{
    to.quant_axis = from.quant_axis;
    if (from.quant_param_num == 0) return TENGINE_OK;
    const bool single = from.quant_param_num == 1;
    return set_ir_tensor_quantization_parameter(&to, single ? &from.scale : from.scale_list,
                                                single ? &from.zero_point : from.zp_list,
                                                from.quant_param_num);
}

}  // namespace

int copy_tensor_head(const struct tensor& from, graph& target, struct tensor** out_tensor)
{
    struct tensor* to = create_ir_tensor(&target, from.name, from.data_type);
    if (!to) return tengine_error_code();
    to->core->source_index = from.index;
    to->tensor_type = from.tensor_type;
    to->layout = from.layout;
    *out_tensor = to;
    return copy_quantisation(from, *to);
}

int copy_operator(const node& from, graph& target, node** out_node)
{
    node* to = create_ir_node(&target, from.name, from.op.type, from.op.version);
    if (!to) return tengine_error_code();
    *out_node = to;
    TENGINE_RETURN_IF_ERROR(copy_added_fields(to, &from));
    return copy_op_param(&to->op, &from.op);
}

int copy_node_head(const node& from, graph& target, node** out_node)
{
    TENGINE_RETURN_IF_ERROR(copy_operator(from, target, out_node));
    (*out_node)->core->source_index = from.index;
    (*out_node)->core->bodies = hold_ir_bodies(from.core->bodies);
    return TENGINE_OK;
}

}  // namespace tengine
