// SPDX-License-Identifier: Apache-2.0
// See custom_node.h. A graph with one node infers the outputs that the operator itself describes.
#include "optimizer/pass/custom_node.h"

#include <algorithm>
#include <cstring>

#include "base/containers.hpp"
#include "graph/graph.h"
#include "operator/custom/custom_kernel.h"
#include "operator/infer.h"
#include "operator/param.h"
#include "operator/registry.h"
#include "operator/type_set.h"
#include "optimizer/dialect/quantized_tensors.h"
#include "optimizer/pass.h"

namespace tengine {
namespace {

// Operators compute on floats; a quantised tensor is float for them.
int add_scratch_tensor(const struct tensor& from, graph& scratch, struct tensor** out_tensor)
{
    const bool shared = from.tensor_type == TENSOR_TYPE_CONST && !is_quantized(from);
    struct tensor* made = create_ir_tensor(&scratch, from.name,
                                           is_quantized(from) ? TENGINE_DT_FP32 : from.data_type);
    if (!made) return tengine_error_code();
    made->layout = from.layout;
    made->tensor_type = shared ? TENSOR_TYPE_CONST : TENSOR_TYPE_INPUT;
    if (shared) set_ir_tensor_data(made, from.data, false);
    *out_tensor = made;
    return TENGINE_OK;
}

int add_scratch_inputs(const node& from, node& to, Vector<int32_t>* out_inputs)
{
    for (int i = 0; i < from.input_num; ++i) {
        const struct tensor* input = get_ir_node_input(&from, i);
        if (!input) continue;
        struct tensor* made = nullptr;
        TENGINE_RETURN_IF_ERROR(add_scratch_tensor(*input, *to.graph, &made));
        if (input->shape_set)
            TENGINE_RETURN_IF_ERROR(set_ir_tensor_shape(made, input->dims, input->dim_num));
        TENGINE_RETURN_IF_ERROR(set_ir_node_input_tensor(&to, i, made));
        if (made->tensor_type == TENSOR_TYPE_INPUT) out_inputs->push_back(made->index);
    }
    return TENGINE_OK;
}

int add_scratch_outputs(const node& from, node& to, Vector<int32_t>* out_outputs)
{
    for (int i = 0; i < from.output_num; ++i) {
        const struct tensor* output = get_ir_node_output(&from, i);
        if (!output) continue;
        struct tensor* made = create_ir_tensor(to.graph, output->name, TENGINE_DT_UNKNOWN);
        if (!made) return tengine_error_code();
        TENGINE_RETURN_IF_ERROR(set_ir_node_output_tensor(&to, i, made));
        out_outputs->push_back(made->index);
    }
    return TENGINE_OK;
}

int fill_scratch(const node& custom, const node& source, graph& scratch)
{
    node* made = nullptr;
    Vector<int32_t> inputs, outputs;
    scratch.graph_layout = custom.graph->graph_layout;
    scratch.model_layout = custom.graph->model_layout;
    scratch.core->run_options.num_thread = 1;
    TENGINE_RETURN_IF_ERROR(copy_node_head(source, scratch, &made));
    TENGINE_RETURN_IF_ERROR(add_scratch_inputs(custom, *made, &inputs));
    TENGINE_RETURN_IF_ERROR(add_scratch_outputs(custom, *made, &outputs));
    TENGINE_RETURN_IF_ERROR(
        set_ir_graph_input_tensor(&scratch, inputs.data(), static_cast<int>(inputs.size())));
    TENGINE_RETURN_IF_ERROR(
        set_ir_graph_output_tensor(&scratch, outputs.data(), static_cast<int>(outputs.size())));
    TENGINE_RETURN_IF_ERROR(lower_graph(scratch));
    TENGINE_RETURN_IF_ERROR(tidy_graph(scratch));
    return infer_nodes(scratch);
}

// The outputs that are connected, in their order.
int take_outputs(const graph& scratch, node& custom)
{
    int place = 0;
    bool known = true;
    for (int i = 0; i < custom.output_num; ++i) {
        struct tensor* output = get_ir_node_output(&custom, i);
        if (!output) continue;
        const struct tensor* inferred = scratch.tensor_list[scratch.output_tensors[place++]];
        if (!is_quantized(*output))
            TENGINE_RETURN_IF_ERROR(set_ir_tensor_data_type(output, inferred->data_type));
        known = known && is_ir_tensor_shape_known(inferred);
        if (inferred->shape_set)
            TENGINE_RETURN_IF_ERROR(set_ir_tensor_shape(output, inferred->dims, inferred->dim_num));
    }
    return known ? TENGINE_OK : OP_SHAPE_LATER;
}

int infer_by_operator(node& custom, const node& source)
{
    GraphPointer scratch(create_ir_graph(nullptr));
    if (!scratch) return tengine_error_code();
    TENGINE_RETURN_IF_ERROR(fill_scratch(custom, source, *scratch));
    return take_outputs(*scratch, custom);
}

int require_infer_shape(const node& node, bool is_known_operator)
{
    const ir_custom_kernel_t& kernel = *node.core->custom_kernel;
    return tengine_error_set(
        TENGINE_ENOTSUP, "%s '%s': custom kernel '%s' needs the function infer_shape, for %s",
        get_source_op(kernel.node), node.name, get_kernel_name(&kernel),
        is_known_operator ? "the shapes are known only at run time" : "the operator is unknown");
}

int require_known_types(const node& node)
{
    for (int i = 0; i < node.output_num; ++i) {
        const struct tensor* output = get_ir_node_output(&node, i);
        if (!output || output->data_type != TENGINE_DT_UNKNOWN) continue;
        return tengine_error_set(TENGINE_EDTYPE,
                                 "%s '%s': neither the model nor the operator defines the type of "
                                 "its output '%s'; set it with set_tensor_data_type",
                                 get_source_op(node.core->custom_kernel->node), node.name,
                                 output->name);
    }
    return TENGINE_OK;
}

// If the kernel gives shapes, the operator's rule infers types only, and may fail.
int infer_types_and_shapes(node& node)
{
    const ir_custom_kernel_t& kernel = *node.core->custom_kernel;
    if (kernel.table->settles_types) return infer_custom_shapes(&node);
    const struct node& source = *kernel.node;
    const bool is_known = !is_open_node(&source);
    const bool tells_shapes = kernel.table->tells_shapes(&kernel);
    const int status = is_known ? infer_by_operator(node, source) : OP_SHAPE_LATER;
    if (!tells_shapes)
        return status == OP_SHAPE_LATER ? require_infer_shape(node, is_known) : status;
    tengine_error_clear();
    TENGINE_RETURN_IF_ERROR(require_known_types(node));
    return find_ir_unknown_input(&node) ? OP_SHAPE_LATER : infer_custom_shapes(&node);
}

// Refuses packed elements, which kernels of programs cannot read.
int infer_outputs(node& node)
{
    const int status = infer_types_and_shapes(node);
    if (status >= 0) TENGINE_RETURN_IF_ERROR(refuse_small_types(&node));
    return status;
}

template <class Visit>
void visit_kernels(const graph& source, const Extent& extent, Visit visit)
{
    for (const int32_t node : extent.nodes)
        if (ir_custom_kernel_t* kernel = source.node_list[node]->core->custom_kernel)
            visit(*kernel);
}

}  // namespace

bool has_willing_kernel(const node& source)
{
    return source.core->custom_kernel && !source.core->custom_kernel->refused;
}

bool has_custom_nodes(const graph& execution)
{
    return std::any_of(execution.node_list, execution.node_list + execution.node_num,
                       [](const node* node) { return node && has_willing_kernel(*node); });
}

int count_willing_kernels(const graph& source, const Extent& extent)
{
    int number = 0;
    visit_kernels(source, extent,
                  [&](const ir_custom_kernel_t& kernel) { number += !kernel.refused; });
    return number;
}

void accept_kernels(const graph& source, const Extent& extent)
{
    visit_kernels(source, extent, [](ir_custom_kernel_t& kernel) { kernel.refused = false; });
}

void refuse_kernels(const graph& source)
{
    visit_kernels(source, list_all(source),
                  [](ir_custom_kernel_t& kernel) { kernel.refused = true; });
}

int add_custom_node(const node& source, graph& target, node** out_node)
{
    node* made = create_op_node(&target, source.name, "tengine.Custom", source.name);
    if (!made) return tengine_error_code();
    const char* op = get_source_op(&source);
    const char* kernel = get_kernel_name(source.core->custom_kernel);
    made->core->source_index = source.index;
    made->core->custom_kernel = source.core->custom_kernel;
    *out_node = made;
    TENGINE_RETURN_IF_ERROR(set_node_text(made, "op", op, std::strlen(op)));
    return set_node_text(made, "kernel", kernel, std::strlen(kernel));
}

int infer_custom_node(node& node)
{
    const int status = infer_outputs(node);
    TENGINE_RETURN_IF_ERROR(status);
    TENGINE_RETURN_IF_ERROR(bind_custom_kernel(&node));
    return status;
}

}  // namespace tengine
