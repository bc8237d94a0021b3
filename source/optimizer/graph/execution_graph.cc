// SPDX-License-Identifier: Apache-2.0
// The copy of a source graph that the passes change. The structure is copied, constant data are
// shared.
#include <algorithm>

#include "base/containers.hpp"
#include "graph/graph.h"
#include "operator/custom/custom_kernel.h"
#include "operator/registry.h"
#include "operator/row.h"
#include "optimizer/dialect/quantized_tensors.h"
#include "optimizer/graph/extent.h"
#include "optimizer/pass.h"
#include "optimizer/pass/bodies.h"
#include "optimizer/pass/custom_node.h"

namespace tengine {
namespace {

// Shapes and types that the user or the file sets are copied; those that ONNX's operators compute
// are inferred again, except for quantised tensors, since the results of Tengine's nodes depend on
// their type. Custom kernels may replace operators without a rule; only the file or the user then
// gives types.
int copy_tensor(const graph& source, const struct tensor& from, graph& target)
{
    struct tensor* to = nullptr;
    TENGINE_RETURN_IF_ERROR(copy_tensor_head(from, target, &to));
    if (is_computed_by_onnx(source, from) && !is_quantized(from) &&
        !has_willing_kernel(*source.node_list[from.producer]))
        forget_ir_tensor_type(to);
    const bool given =
        from.tensor_type == TENSOR_TYPE_CONST || from.tensor_type == TENSOR_TYPE_INPUT;
    if (given && from.shape_set)
        TENGINE_RETURN_IF_ERROR(set_ir_tensor_shape(to, from.dims, from.dim_num));
    if (from.tensor_type == TENSOR_TYPE_CONST) {
        if (!from.data && from.elem_num != 0)
            return tengine_error_set(TENGINE_EGRAPH, "constant '%s' has no data", from.name);
        set_ir_tensor_data(to, from.data, false);
    }
    return TENGINE_OK;
}

// The index of a source graph's tensor among the copied ones, which is that of its copy.
int find_place(const Extent& extent, int tensor)
{
    const auto place = std::lower_bound(extent.tensors.begin(), extent.tensors.end(), tensor);
    return tensor < 0 ? -1 : static_cast<int>(place - extent.tensors.begin());
}

int copy_node(const node& from, const Extent& extent, graph& target)
{
    node* to = nullptr;
    TENGINE_RETURN_IF_ERROR(has_willing_kernel(from) ? add_custom_node(from, target, &to)
                                                     : copy_node_head(from, target, &to));
    if (OP_HAS_BODIES) TENGINE_RETURN_IF_ERROR(copy_bodies(*to));
    // In a graph for a file the node keeps its operator, and its kernel gives the shapes.
    if (is_open_node(&from)) to->core->custom_kernel = from.core->custom_kernel;
    const auto copy_of = [&](int tensor) {
        return get_ir_graph_tensor(&target, find_place(extent, tensor));
    };
    for (int i = 0; i < from.input_num; ++i)
        TENGINE_RETURN_IF_ERROR(set_ir_node_input_tensor(to, i, copy_of(from.input_tensors[i])));
    for (int i = 0; i < from.output_num; ++i)
        TENGINE_RETURN_IF_ERROR(set_ir_node_output_tensor(to, i, copy_of(from.output_tensors[i])));
    return TENGINE_OK;
}

// Checks that every tensor that a node reads has a source.
int check_sources(const graph& graph)
{
    for (int i = 0; i < graph.tensor_num; ++i) {
        const struct tensor* tensor = graph.tensor_list[i];
        if (!tensor) continue;
        const bool read = tensor->consumer_num > 0 || is_ir_graph_output(&graph, i);
        if (!read || tensor->producer >= 0 || tensor->tensor_type == TENSOR_TYPE_CONST ||
            tensor->tensor_type == TENSOR_TYPE_INPUT)
            continue;
        const char* reader = tensor->consumer_num > 0 ? graph.node_list[tensor->consumer[0]]->name
                                                      : "the graph's output list";
        return tengine_error_set(
            TENGINE_EGRAPH,
            "tensor '%s', read by '%s', is not an input, a constant or a node's output",
            tensor->name, reader);
    }
    return TENGINE_OK;
}

Vector<int32_t> list_places(const Extent& extent, const int32_t* tensors, int number)
{
    Vector<int32_t> places;
    for (int i = 0; i < number; ++i)
        places.push_back(find_place(extent, tensors[i]));
    return places;
}

int copy_contents(const graph& source, const Extent& extent, graph& target)
{
    for (const int32_t tensor : extent.tensors)
        TENGINE_RETURN_IF_ERROR(copy_tensor(source, *source.tensor_list[tensor], target));
    for (const int32_t node : extent.nodes)
        TENGINE_RETURN_IF_ERROR(copy_node(*source.node_list[node], extent, target));
    const Vector<int32_t> inputs =
        list_places(extent, source.input_tensors, source.input_tensor_num);
    const Vector<int32_t> outputs =
        list_places(extent, source.output_tensors, source.output_tensor_num);
    TENGINE_RETURN_IF_ERROR(
        set_ir_graph_input_tensor(&target, inputs.data(), source.input_tensor_num));
    TENGINE_RETURN_IF_ERROR(
        set_ir_graph_output_tensor(&target, outputs.data(), source.output_tensor_num));
    return check_sources(target);
}

int check_outputs(const graph& source)
{
    if (source.output_tensor_num > 0) return TENGINE_OK;
    return tengine_error_set(TENGINE_EGRAPH,
                             "graph '%s' has no outputs; set them with set_graph_output_node",
                             source.name);
}

}  // namespace

bool is_computed_by_onnx(const graph& source, const struct tensor& tensor)
{
    if (tensor.tensor_type != TENSOR_TYPE_VAR || tensor.producer < 0) return false;
    return !source.node_list[tensor.producer]->op.method->tengine;
}

int copy_extent(const graph& source, const Extent& extent, GraphPointer* out_graph)
{
    TENGINE_RETURN_IF_ERROR(check_outputs(source));
    GraphPointer target;
    TENGINE_RETURN_IF_ERROR(create_target(source, &target));
    TENGINE_RETURN_IF_ERROR(copy_contents(source, extent, *target));
    *out_graph = std::move(target);
    return TENGINE_OK;
}

int copy_to_execution_graph(const graph& source, GraphPointer* out_graph)
{
    return copy_extent(source, list_all(source), out_graph);
}

}  // namespace tengine
