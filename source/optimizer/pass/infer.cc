// SPDX-License-Identifier: Apache-2.0
// Infers shapes and types and folds constants in one walk from inputs to outputs: a Reshape's
// target may be computed by Shape, Gather and Concat, so a node is folded as soon as its inputs are
// known. The same walk lowers Tengine's operators, since their meaning depends on shapes. In an
// integer precision a second walk folds quantised weights, after devices have seen them.
#include "operator/infer.h"

#include <algorithm>
#include <cstring>

#include "base/containers.hpp"
#include "base/print_text.hpp"
#include "graph/graph.h"
#include "graph/option.h"
#include "graph/preparation.h"
#include "graph/sequence.h"
#include "graph/string_pool.h"
#include "operator/param.h"
#include "operator/row.h"
#include "operator/shaped.h"
#include "optimizer/pass.h"
#include "optimizer/pass/bodies.h"
#include "optimizer/pass/custom_node.h"
#include "optimizer/pass/declared_inputs.h"
#include "optimizer/pass/unknown_shape.h"
#include "optimizer/placement/source_nodes.h"
#include "tengine/log.h"

namespace tengine {
namespace {

int require_known_inputs(const node& node)
{
    const struct tensor* unknown = find_ir_unknown_input(&node);
    if (!unknown) return TENGINE_OK;
    return fail_node(&node, TENGINE_ENOTSUP,
                     "the shape of its input '%s' is known only at run time%s; the operator needs "
                     "it earlier",
                     unknown->name, describe_origin(*node.graph, *unknown).c_str());
}

bool are_inputs_constant(const node& node)
{
    for (int i = 0; i < node.input_num; ++i) {
        const struct tensor* tensor = get_ir_node_input(&node, i);
        if (tensor && tensor->tensor_type != TENSOR_TYPE_CONST) return false;
    }
    return true;
}

// Files have no such constants.
bool makes_container(const node& node)
{
    for (int i = 0; i < node.output_num; ++i)
        if (const struct tensor* tensor = get_ir_node_output(&node, i))
            if (get_ir_container(tensor->data_type) != 0) return true;
    return false;
}

constexpr int64_t kMegabyte = int64_t{1} << 20;
constexpr int64_t kMostEinsumMacs = int64_t{1} << 20;  // of an Einsum that is folded as a whole

// The limit of work for folding one graph; beyond it nodes stay for the run. A few bytes of a
// hostile file must not take all memory or all time: it can have many bodies, which are inferred
// several times.
int64_t measure_fold_budget(const graph& graph)
{
    const double wanted = get_ir_context_number(graph.attribute->context, "memory.fold_mb");
    if (wanted > 0) return static_cast<int64_t>(wanted * kMegabyte);
    int64_t constants = 0;
    for (int i = 0; i < graph.tensor_num; ++i)
        if (graph.tensor_list[i]->tensor_type == TENSOR_TYPE_CONST)
            constants += static_cast<int64_t>(get_ir_tensor_bytes(graph.tensor_list[i]));
    for (int i = 0; i < graph.node_num; ++i)
        constants += static_cast<int64_t>(get_node_tensor_bytes(graph.node_list[i]));
    return 16 * constants + (is_body(graph) ? kMegabyte / 16 : 64 * kMegabyte);
}

// The total size of the strings that a StringConcat of constants makes.
int64_t count_joined_bytes(const node& node)
{
    int64_t longest = 0;
    for (int i = 0; i < node.input_num; ++i) {
        const struct tensor& input = *get_ir_node_input(&node, i);
        const auto* texts = static_cast<const char* const*>(input.data);
        size_t length = 0;
        for (int64_t k = 0; k < input.elem_num; ++k)
            length = std::max(length, std::strlen(texts[k]));
        longest += static_cast<int64_t>(length);
    }
    return longest * get_ir_node_output(&node, 0)->elem_num;
}

int64_t count_output_bytes(const node& node)
{
    int64_t bytes = 0;
    if (IR_HAS_STRINGS && is_op(&node, "StringConcat")) bytes += count_joined_bytes(node);
    for (int i = 0; i < node.output_num; ++i)
        if (const struct tensor* tensor = get_ir_node_output(&node, i))
            bytes += static_cast<int64_t>(get_ir_tensor_bytes(tensor));
    return bytes;
}

class Walk
{
  public:
    // With `holds_bytes`, constants that a DequantizeLinear reads stay for integer nodes.
    explicit Walk(bool holds_bytes) : holds_bytes_(holds_bytes) {}

    int run(graph& graph)
    {
        const int given = graph.node_num;
        budget_ = measure_fold_budget(graph);
        for (int i = 0; i < given; ++i) {
            TENGINE_RETURN_IF_ERROR(check_ir_cancelled(&graph));
            TENGINE_RETURN_IF_ERROR(arrive(graph, *graph.node_list[i]));
        }
        if (left_num_ > 0)
            TLOG_NOTICE(
                "graph '%s': %d nodes whose inputs are constant are computed in every run, the "
                "first %s; their results, %lld MiB, exceed the option memory.fold_mb",
                graph.name, left_num_, first_left_.c_str(),
                static_cast<long long>(left_bytes_ / kMegabyte));
        return TENGINE_OK;
    }

  private:
    bool is_foldable(const node& node) const
    {
        const uint32_t traits = node.op.method->traits;
        if (traits & OP_RANDOM) return false;
        // A single loop over all axes may take too long; the products that replace the node are
        // folded.
        if (is_op(&node, "Einsum") && get_ir_node_macs(&node) > kMostEinsumMacs) return false;
        // In training each run draws other random numbers.
        if (is_op(&node, "Dropout") && get_ir_node_input(&node, 2)) return false;
        if (makes_container(node)) return false;
        if (holds_bytes_ && is_op(&node, "DequantizeLinear")) return false;
        return (traits & OP_SHAPE_ONLY) || are_inputs_constant(node);
    }

    // Lowers the node if the lowered form depends on shapes, as that of Tengine's nodes and some
    // others does.
    int arrive(graph& graph, node& node)
    {
        if (is_kept(node)) return TENGINE_OK;  // its tensors have shapes and types
        if (node.core->custom_kernel) return visit_custom(node);
        if (OP_HAS_BODIES && node.core->bodies) return visit_control(graph, node);
        const method& method = *node.op.method;
        if (!is_lowered_by_shapes(&method)) return visit(node);
        if (!(method.traits & OP_ANY_SHAPE)) TENGINE_RETURN_IF_ERROR(require_known_inputs(node));
        const int first = graph.node_num;
        TENGINE_RETURN_IF_ERROR(method.lower(&graph, &node));
        for (int i = first; i < graph.node_num; ++i)
            TENGINE_RETURN_IF_ERROR(visit(*graph.node_list[i]));
        return TENGINE_OK;
    }

    int visit_control(graph& graph, node& node)
    {
        if (!is_decided(node)) {
            TENGINE_RETURN_IF_ERROR(infer_bodies(node));
            node.dynamic_shape = find_ir_unknown_output(&node) != nullptr;
            return TENGINE_OK;
        }
        const int first = graph.node_num;
        TENGINE_RETURN_IF_ERROR(take_branch(graph, node));
        const int last = graph.node_num;  // inner branches append more nodes
        for (int i = first; i < last; ++i)
            TENGINE_RETURN_IF_ERROR(arrive(graph, *graph.node_list[i]));
        return TENGINE_OK;
    }

    // In the second walk the results of the first are present.
    static int visit_custom(node& node)
    {
        if (!find_ir_unknown_output(&node)) return TENGINE_OK;
        const int status = infer_custom_node(node);
        node.dynamic_shape = status == OP_SHAPE_LATER;
        return status < 0 ? status : TENGINE_OK;
    }

    int visit(node& node)
    {
        TENGINE_RETURN_IF_ERROR(settle_moved_inputs(node));
        const int status = infer_node(&node);
        if (status < 0) return status;
        node.dynamic_shape = status == OP_SHAPE_LATER || find_ir_unknown_output(&node);
        const bool fold_later_shape = (node.op.method->traits & OP_SELF_SHAPED) != 0;
        if (node.dynamic_shape && !fold_later_shape) return TENGINE_OK;
        if (!is_foldable(node)) return TENGINE_OK;
        const int64_t bytes = count_output_bytes(node);
        if (bytes > budget_) {
            leave(node, bytes);
            return TENGINE_OK;
        }
        budget_ -= bytes;
        TENGINE_RETURN_IF_ERROR(claim_ir_memory(node.graph, bytes, "folded constants"));
        return evaluate_node(node);
    }

    void leave(const node& node, int64_t bytes)
    {
        if (left_num_++ == 0) first_left_ = print_text("%s '%s'", get_ir_node_op(&node), node.name);
        left_bytes_ += bytes;
    }

    const bool holds_bytes_;
    int64_t budget_ = 0;
    int left_num_ = 0;  // foldable nodes beyond the budget
    int64_t left_bytes_ = 0;
    String first_left_;
};

// Stores the shapes of the model's tensors before later passes drop nodes that do nothing, are
// merged or folded.
int settle_shapes(graph& graph)
{
    release_vector(graph.core->settled_shapes);
    graph.core->settled_shapes = create_vector(sizeof(ir_settled_shape_t), nullptr);
    for (int i = 0; i < graph.tensor_num; ++i) {
        const struct tensor* tensor = graph.tensor_list[i];
        if (!tensor || tensor->core->source_index < 0 || !is_ir_tensor_shape_known(tensor))
            continue;
        ir_settled_shape_t settled = {tensor->core->source_index, tensor->dim_num, {}};
        std::copy_n(tensor->dims, tensor->dim_num, settled.dims);
        if (push_vector_data(graph.core->settled_shapes, &settled) < 0)
            return tengine_error_set(TENGINE_ENOMEM, "tensor '%s': out of memory for its shape",
                                     tensor->name);
    }
    return TENGINE_OK;
}

int check_declared_type(const graph& graph, int index)
{
    const struct graph& source = *graph.core->source;
    const struct tensor& declared = *source.tensor_list[source.output_tensors[index]];
    const struct tensor& made = *graph.tensor_list[graph.output_tensors[index]];
    if (!is_computed_by_onnx(source, declared) || declared.data_type == TENGINE_DT_UNKNOWN ||
        made.data_type == declared.data_type)
        return TENGINE_OK;
    return tengine_error_set(
        TENGINE_EGRAPH, "the model declares output '%s' as %s, but its nodes compute %s",
        declared.name, get_data_type_name(declared.data_type), get_data_type_name(made.data_type));
}

int check_declared_types(const graph& graph)
{
    for (int i = 0; graph.core->source && i < graph.output_tensor_num; ++i)
        TENGINE_RETURN_IF_ERROR(check_declared_type(graph, i));
    return TENGINE_OK;
}

}  // namespace

int infer_nodes(graph& graph)
{
    return Walk(is_integer_run(graph)).run(graph);
}

bool is_body(const graph& graph)
{
    return graph.core->source && graph.core->source->core->outer;
}

bool is_integer_run(const graph& graph)
{
    const int precision = graph.run_options->precision;
    return precision == TENGINE_MODE_INT8 || precision == TENGINE_MODE_UINT8;
}

int infer_graph(graph& graph)
{
    TENGINE_RETURN_IF_ERROR(require_input_shapes(graph));
    const int status = infer_nodes(graph);
    if (status < 0) return explain_inference(graph, status);
    TENGINE_RETURN_IF_ERROR(check_declared_types(graph));
    return settle_shapes(graph);
}

int fold_graph(graph& graph)
{
    return is_integer_run(graph) ? Walk(false).run(graph) : TENGINE_OK;
}

}  // namespace tengine
