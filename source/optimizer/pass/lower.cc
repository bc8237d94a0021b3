// SPDX-License-Identifier: Apache-2.0
// lower: every ONNX node becomes an operator of the newest opset. Rows with a lower function
// rewrite the node; for all others, attributes that became inputs are turned into constants.
#include <cstring>

#include "base/alloc.h"
#include "base/containers.hpp"
#include "base/half.h"
#include "base/print_text.hpp"
#include "graph/core.h"
#include "operator/infer.h"
#include "operator/param.h"
#include "operator/shaped.h"
#include "optimizer/pass.h"

namespace tengine {
namespace {

bool is_moved(const op_field_t& field, const node& node)
{
    return field.moved_as != OP_MOVED_NOT && node.op.version <= field.until &&
           &field == find_op_field(node.op.method, field.name, node.op.version);
}

// Adds a constant of `count` elements (rank 1, or a scalar) as input `index` of the node.
template <class T>
int add_constant(node& node, const op_field_t& field, int data_type, const T* values, int count,
                 bool scalar)
{
    const String name = print_text("%s.%s", node.name, field.name);
    struct tensor* constant = create_ir_tensor(node.graph, name.c_str(), data_type);
    if (!constant) return tengine_error_code();
    constant->tensor_type = TENSOR_TYPE_CONST;
    TENGINE_RETURN_IF_ERROR(set_ir_tensor_shape(constant, &count, scalar ? 0 : 1));
    TENGINE_RETURN_IF_ERROR(allocate_ir_tensor(constant));
    if (count > 0) std::memcpy(constant->data, values, sizeof(T) * static_cast<size_t>(count));
    return set_ir_node_input_tensor(&node, field.moved_input, constant);
}

int move_attribute(node& node, const op_field_t& field)
{
    const char* memory = static_cast<const char*>(node.op.param_mem) + field.offset;
    switch (field.kind) {
        case OP_FIELD_INT: {
            const int64_t value = *reinterpret_cast<const int*>(memory);
            return add_constant(node, field, TENGINE_DT_INT64, &value, 1, true);
        }
        case OP_FIELD_FLOAT:
            return add_constant(node, field, TENGINE_DT_FP32,
                                reinterpret_cast<const float*>(memory), 1, true);
        case OP_FIELD_INTS: {
            const auto* list = reinterpret_cast<const op_ints*>(memory);
            if (list->num == 0) return TENGINE_OK;
            return add_constant(node, field, TENGINE_DT_INT64, list->values, list->num, false);
        }
        case OP_FIELD_FLOATS: {
            const auto* list = reinterpret_cast<const op_floats*>(memory);
            if (list->num == 0) return TENGINE_OK;
            return add_constant(node, field, TENGINE_DT_FP32, list->values, list->num, false);
        }
        default:
            return fail_node(&node, TENGINE_EINTERNAL, "attribute '%s' cannot become an input",
                             field.name);
    }
}

// The node then has the parameters of one that is read from a file in the newer form: fingerprints
// of parts contain them.
int move_attributes(node& node)
{
    const method& method = *node.op.method;
    for (int i = 0; i < method.field_num; ++i) {
        if (!is_moved(method.fields[i], node)) continue;
        TENGINE_RETURN_IF_ERROR(move_attribute(node, method.fields[i]));
        reset_op_number(&node.op, &method.fields[i]);
    }
    node.op.version = method.until ? method.until : NEWEST_KNOWN_OPSET;
    return TENGINE_OK;
}

// Converts a scalar float constant in place.
int convert_scalar(struct tensor& tensor, int data_type)
{
    const float value = *tensor.f32;
    TENGINE_RETURN_IF_ERROR(set_ir_tensor_data_type(&tensor, data_type));
    TENGINE_RETURN_IF_ERROR(allocate_ir_tensor(&tensor));
    switch (data_type) {
        case TENGINE_DT_FP16:
            *tensor.f16 = fp32_to_fp16(value);
            return TENGINE_OK;
        case TENGINE_DT_BF16:
            *tensor.f16 = fp32_to_bf16(value);
            return TENGINE_OK;
        case TENGINE_DT_FP64:
            *static_cast<double*>(tensor.data) = value;
            return TENGINE_OK;
        default:
            return tengine_error_set(TENGINE_EDTYPE, "'%s': a float attribute cannot become %s",
                                     tensor.name, get_data_type_name(data_type));
    }
}

// Kernels write every output that is not optional; one that the model leaves out gets a tensor
// without readers.
int complete_outputs(node& node)
{
    for (int i = 0; i < node.output_num && i < node.op.method->min_output; ++i) {
        if (get_ir_node_output(&node, i)) continue;
        const String name = print_text("%s.output_%d", node.name, i);
        struct tensor* tensor = create_ir_tensor(node.graph, name.c_str(), TENGINE_DT_UNKNOWN);
        if (!tensor) return tengine_error_code();
        TENGINE_RETURN_IF_ERROR(set_ir_node_output_tensor(&node, i, tensor));
    }
    return TENGINE_OK;
}

}  // namespace

int settle_moved_inputs(node& node)
{
    const method& method = *node.op.method;
    const struct tensor* first = get_ir_node_input(&node, 0);
    for (int i = 0; first && i < method.field_num; ++i) {
        const op_field_t& field = method.fields[i];
        if (field.moved_as != OP_MOVED_LIKE_INPUT) continue;
        struct tensor* moved = get_ir_node_input(&node, field.moved_input);
        const bool ours = moved && moved->tensor_type == TENSOR_TYPE_CONST &&
                          moved->core->source_index < 0 && moved->consumer_num == 1;
        if (!ours || moved->data_type != TENGINE_DT_FP32 || first->data_type == TENGINE_DT_FP32)
            continue;
        if (first->data_type == TENGINE_DT_UNKNOWN)
            return fail_node(&node, TENGINE_EDTYPE,
                             "the type of its input '%s' is not known, and '%s' becomes an input "
                             "of that type: set the shapes of the model's inputs",
                             first->name, field.name);
        TENGINE_RETURN_IF_ERROR(convert_scalar(*moved, first->data_type));
    }
    return TENGINE_OK;
}

int lower_node(graph& graph, node& node)
{
    const method* method = node.op.method;
    if (!method->lower) return move_attributes(node);
    TENGINE_RETURN_IF_ERROR(check_node_counts(&node));
    return method->lower(&graph, &node);
}

int lower_graph(graph& graph)
{
    // A lower function may append nodes, which this loop lowers, too.
    for (int i = 0; i < graph.node_num; ++i) {
        node* node = graph.node_list[i];
        if (!node) continue;
        const method* method = node->op.method;
        if (method->tengine || is_lowered_by_shapes(method)) continue;  // infer_graph() does
        TENGINE_RETURN_IF_ERROR(lower_node(graph, *node));
    }
    for (int i = 0; i < graph.node_num; ++i) {
        node* node = graph.node_list[i];
        if (!node) continue;
        TENGINE_RETURN_IF_ERROR(check_node(node));
        TENGINE_RETURN_IF_ERROR(complete_outputs(*node));
    }
    return TENGINE_OK;
}

}  // namespace tengine
