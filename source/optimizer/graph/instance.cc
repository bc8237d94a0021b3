// SPDX-License-Identifier: Apache-2.0
// Copies of source graphs as instances of one model: all objects keep their indices, and constants
// refer to the shared data (graph/shared_model.h).
#include <cstring>

#include "graph/body.h"
#include "graph/graph.h"
#include "graph/metadata.h"
#include "graph/model_part.h"
#include "graph/shared_model.h"
#include "graph/string_pool.h"
#include "operator/affinity.h"
#include "operator/custom/custom_kernel.h"
#include "optimizer/pass.h"

namespace tengine {
namespace {

// ---- tensors ----

int copy_strings(const graph& target, const struct tensor& from, struct tensor& to)
{
    TENGINE_RETURN_IF_ERROR(allocate_ir_tensor(&to));
    const auto* texts = static_cast<const char* const*>(from.data);
    auto* copies = static_cast<const char**>(to.data);
    for (int64_t i = 0; i < from.elem_num; ++i)
        TENGINE_RETURN_IF_ERROR(
            keep_ir_string(&target, texts[i], std::strlen(texts[i]), &copies[i]));
    return TENGINE_OK;
}

int copy_bytes(const struct tensor& from, struct tensor& to)
{
    TENGINE_RETURN_IF_ERROR(allocate_ir_tensor(&to));
    const size_t bytes = get_ir_tensor_bytes(&from);
    if (bytes > 0) std::memcpy(to.data, from.data, bytes);
    return TENGINE_OK;
}

// Memory that the program may write to unseen belongs to one instance.
int give_values(const graph& target, const struct tensor& from, struct tensor& to)
{
    if (from.data && from.data_type == TENGINE_DT_STRING) return copy_strings(target, from, to);
    if (from.data && from.core->lent) return copy_bytes(from, to);
    set_ir_tensor_data(&to, from.data, false);
    to.core->is_file = from.core->is_file;
    to.core->is_shared = from.core->is_shared;
    return TENGINE_OK;
}

int copy_tensor(const struct tensor& from, graph& target)
{
    struct tensor* to = nullptr;
    TENGINE_RETURN_IF_ERROR(copy_tensor_head(from, target, &to));
    to->core->source_index = -1;
    if (from.shape_set) TENGINE_RETURN_IF_ERROR(set_ir_tensor_shape(to, from.dims, from.dim_num));
    TENGINE_RETURN_IF_ERROR(copy_ir_declaration(&from, to));
    return from.tensor_type == TENSOR_TYPE_CONST ? give_values(target, from, *to) : TENGINE_OK;
}

// ---- nodes ----

int copy_graph(const graph& source, const graph* outer, GraphPointer* out_graph);

int copy_body(const ir_body_t& from, const graph& target, ir_body_t* to)
{
    GraphPointer copy;
    TENGINE_RETURN_IF_ERROR(copy_graph(*from.graph, &target, &copy));
    to->graph = copy.release();
    to->first_capture = from.first_capture;
    for (int i = 0; i < from.input_num; ++i)
        TENGINE_RETURN_IF_ERROR(add_ir_body_input(to, to->graph->tensor_list[from.inputs[i]],
                                                  i >= from.input_num - from.capture_num));
    return TENGINE_OK;
}

int copy_bodies_of(const node& from, node& to)
{
    const ir_bodies_t* bodies = from.core->bodies;
    if (!bodies) return TENGINE_OK;
    to.core->bodies = create_ir_bodies(bodies->num);
    if (!to.core->bodies)
        return tengine_error_set(TENGINE_ENOMEM, "node '%s': out of memory", to.name);
    for (int i = 0; i < bodies->num; ++i)
        TENGINE_RETURN_IF_ERROR(copy_body(bodies->list[i], *to.graph, &to.core->bodies->list[i]));
    return TENGINE_OK;
}

int check_kernel(const node& node)
{
    if (!has_kernel_for_one_shape(&node)) return TENGINE_OK;
    return tengine_error_set(TENGINE_ENOTSUP,
                             "node '%s' has a kernel of set_custom_kernel, which belongs to one "
                             "graph: set kernels after tengine_graph_share, on each graph",
                             node.name);
}

int copy_node(const node& from, graph& target)
{
    TENGINE_RETURN_IF_ERROR(check_kernel(from));
    node* to = nullptr;
    TENGINE_RETURN_IF_ERROR(copy_operator(from, target, &to));
    for (int i = 0; i < from.input_num; ++i)
        TENGINE_RETURN_IF_ERROR(
            set_ir_node_input_tensor(to, i, get_ir_graph_tensor(&target, from.input_tensors[i])));
    for (int i = 0; i < from.output_num; ++i)
        TENGINE_RETURN_IF_ERROR(
            set_ir_node_output_tensor(to, i, get_ir_graph_tensor(&target, from.output_tensors[i])));
    return copy_bodies_of(from, *to);
}

// ---- graphs ----

int copy_boundary(const graph& source, graph& target)
{
    if (source.input_num > 0)
        TENGINE_RETURN_IF_ERROR(
            set_ir_graph_input_node(&target, source.input_nodes, source.input_num));
    if (source.output_num > 0)
        TENGINE_RETURN_IF_ERROR(
            set_ir_graph_output_node(&target, source.output_nodes, source.output_num));
    TENGINE_RETURN_IF_ERROR(
        set_ir_graph_input_tensor(&target, source.input_tensors, source.input_tensor_num));
    return set_ir_graph_output_tensor(&target, source.output_tensors, source.output_tensor_num);
}

int copy_contents(const graph& source, graph& target)
{
    target.graph_layout = source.graph_layout;
    target.model_layout = source.model_layout;
    target.model_format = source.model_format;
    TENGINE_RETURN_IF_ERROR(set_ir_graph_device(&target, source.device));
    TENGINE_RETURN_IF_ERROR(set_ir_graph_name(&target, source.name));
    for (int i = 0; i < source.tensor_num; ++i)
        TENGINE_RETURN_IF_ERROR(copy_tensor(*source.tensor_list[i], target));
    for (int i = 0; i < source.node_num; ++i)
        TENGINE_RETURN_IF_ERROR(copy_node(*source.node_list[i], target));
    TENGINE_RETURN_IF_ERROR(copy_boundary(source, target));
    TENGINE_RETURN_IF_ERROR(copy_ir_affinities(&source, &target));
    return copy_ir_model_parts(&source, &target);
}

// `outer`: the graph whose node has the body, or null.
int copy_graph(const graph& source, const graph* outer, GraphPointer* out_graph)
{
    GraphPointer target(create_ir_graph(source.attribute->context));
    if (!target) return tengine_error_code();
    if (outer) TENGINE_RETURN_IF_ERROR(join_ir_strings(target.get(), outer));
    TENGINE_RETURN_IF_ERROR(copy_contents(source, *target));
    *out_graph = std::move(target);
    return TENGINE_OK;
}

}  // namespace

int copy_instance(const graph& source, GraphPointer* out_graph)
{
    TENGINE_RETURN_IF_ERROR(copy_graph(source, nullptr, out_graph));
    TENGINE_RETURN_IF_ERROR(join_ir_shared_model(out_graph->get(), &source));
    (*out_graph)->core->metadata = hold_ir_metadata(source.core->metadata);
    return TENGINE_OK;
}

}  // namespace tengine
