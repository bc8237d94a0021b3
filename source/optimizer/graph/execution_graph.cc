// SPDX-License-Identifier: Apache-2.0
// The copy of a source graph on which the passes work. Structure is copied, constant data shared.
#include <cstring>

#include "base/containers.hpp"
#include "graph/graph.h"
#include "graph/preparation.h"
#include "graph/string_pool.h"
#include "operator/custom/custom_kernel.h"
#include "operator/registry.h"
#include "optimizer/dialect/quantized_tensors.h"
#include "optimizer/pass.h"
#include "optimizer/pass/bodies.h"
#include "optimizer/pass/custom_node.h"

namespace tengine {
namespace {

bool is_source_only(const node& node)
{
    return node.op.method->domain && std::strcmp(node.op.method->domain, "tengine") == 0 &&
           (node.op.method->traits & OP_LEGACY) && !node.op.method->lower;
}

// The user gives the result of such a node, and maybe none of its inputs.
bool is_fed_by_user(const node& node)
{
    for (int i = 0; i < node.output_num; ++i) {
        const struct tensor* output = get_ir_node_output(&node, i);
        if (output && output->tensor_type == TENSOR_TYPE_INPUT) return true;
    }
    return false;
}

// Shapes and types are taken over where the user or the file decides them; those that ONNX's
// operators compute are inferred again, except for quantised ones: the work of Tengine's nodes on
// these depends on the type. Custom kernels may stand where an operator has no rule, and
// then only the file or the user tells types.
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

int copy_node(const node& from, graph& target)
{
    node* to = nullptr;
    TENGINE_RETURN_IF_ERROR(has_willing_kernel(from) ? add_custom_node(from, target, &to)
                                                     : copy_node_head(from, target, &to));
    if (OP_HAS_BODIES) TENGINE_RETURN_IF_ERROR(copy_bodies(*to));
    // A node of a graph for a file stays what it is, and its kernel tells the shapes.
    if (is_open_node(&from)) to->core->custom_kernel = from.core->custom_kernel;
    for (int i = 0; i < from.input_num; ++i)
        TENGINE_RETURN_IF_ERROR(
            set_ir_node_input_tensor(to, i, get_ir_graph_tensor(&target, from.input_tensors[i])));
    for (int i = 0; i < from.output_num; ++i)
        TENGINE_RETURN_IF_ERROR(
            set_ir_node_output_tensor(to, i, get_ir_graph_tensor(&target, from.output_tensors[i])));
    return TENGINE_OK;
}

bool is_computed(const node& node)
{
    return !is_source_only(node) && !is_fed_by_user(node);
}

// The part of a source graph that its outputs need, and its inputs.
struct Extent
{
    Vector<bool> tensors;
    Vector<bool> nodes;
};

#ifndef TENGINE_MINIMAL
class Search
{
  public:
    explicit Search(const graph& source) : source_(source)
    {
        found_.tensors.resize(static_cast<size_t>(source.tensor_num));
        found_.nodes.resize(static_cast<size_t>(source.node_num));
        add(source.input_tensors, source.input_tensor_num);
        add(source.output_tensors, source.output_tensor_num);
        while (!waiting_.empty()) {
            const struct tensor& tensor = *source.tensor_list[waiting_.back()];
            waiting_.pop_back();
            if (tensor.producer >= 0) add(*source.node_list[tensor.producer]);
        }
    }

    const Extent& found() const { return found_; }

  private:
    void add(const int32_t* tensors, int number)
    {
        for (int i = 0; i < number; ++i) {
            if (tensors[i] < 0 || found_.tensors[static_cast<size_t>(tensors[i])]) continue;
            found_.tensors[static_cast<size_t>(tensors[i])] = true;
            waiting_.push_back(tensors[i]);
        }
    }

    void add(const node& node)
    {
        if (found_.nodes[static_cast<size_t>(node.index)] || !is_computed(node)) return;
        found_.nodes[static_cast<size_t>(node.index)] = true;
        add(node.input_tensors, node.input_num);
        add(node.output_tensors, node.output_num);
    }

    const graph& source_;
    Extent found_;
    Vector<int32_t> waiting_;  // tensors whose producers have not been looked at
};
#endif

// Everything a node reads must come from somewhere.
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

// A tensor outside of the extent is a gap in the list; without an extent, all is copied.
int copy_contents(const graph& source, const Extent* extent, graph& target)
{
    target.graph_layout = source.graph_layout;
    target.model_layout = source.model_layout;
    target.model_format = source.model_format;
    target.device = source.device;
    target.core->source = &source;
    TENGINE_RETURN_IF_ERROR(join_ir_strings(&target, &source));
    TENGINE_RETURN_IF_ERROR(set_ir_graph_name(&target, source.name));
    for (int i = 0; i < source.tensor_num; ++i) {
        const bool left_out = extent && !extent->tensors[static_cast<size_t>(i)];
        TENGINE_RETURN_IF_ERROR(left_out ? leave_ir_tensor_out(&target)
                                         : copy_tensor(source, *source.tensor_list[i], target));
    }
    for (int i = 0; i < source.node_num; ++i)
        if (extent ? extent->nodes[static_cast<size_t>(i)] : is_computed(*source.node_list[i]))
            TENGINE_RETURN_IF_ERROR(copy_node(*source.node_list[i], target));
    TENGINE_RETURN_IF_ERROR(
        set_ir_graph_input_tensor(&target, source.input_tensors, source.input_tensor_num));
    TENGINE_RETURN_IF_ERROR(
        set_ir_graph_output_tensor(&target, source.output_tensors, source.output_tensor_num));
    return check_sources(target);
}

// The memory of its own that the source graph holds.
int64_t count_own_constants(const graph& source)
{
    int64_t bytes = 0;
    for (int i = 0; i < source.tensor_num; ++i)
        if (source.tensor_list[i]->free_host_mem)
            bytes += static_cast<int64_t>(get_ir_tensor_bytes(source.tensor_list[i]));
    return bytes;
}

int copy_extent(const graph& source, const Extent* extent, GraphPointer* out_graph)
{
    GraphPointer target(create_ir_graph(source.attribute->context));
    if (!target) return tengine_error_code();
    limit_ir_memory(target.get());
    TENGINE_RETURN_IF_ERROR(
        claim_ir_memory(target.get(), count_own_constants(source), "its constants"));
    TENGINE_RETURN_IF_ERROR(copy_contents(source, extent, *target));
    *out_graph = std::move(target);
    return TENGINE_OK;
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

int copy_to_execution_graph(const graph& source, GraphPointer* out_graph)
{
    TENGINE_RETURN_IF_ERROR(check_outputs(source));
    return copy_extent(source, nullptr, out_graph);
}

#ifndef TENGINE_MINIMAL
int copy_needed_to_execution_graph(const graph& source, GraphPointer* out_graph)
{
    TENGINE_RETURN_IF_ERROR(check_outputs(source));
    const Search search(source);
    TENGINE_RETURN_IF_ERROR(copy_extent(source, &search.found(), out_graph));
    return compact_ir_graph(out_graph->get());
}
#endif

}  // namespace tengine
