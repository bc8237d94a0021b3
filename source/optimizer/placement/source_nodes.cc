// SPDX-License-Identifier: Apache-2.0
#include "optimizer/placement/source_nodes.h"

#include <algorithm>
#include <cstring>

#include "base/containers.hpp"
#include "base/minimal.h"
#include "graph/graph.h"
#include "module/module.h"
#include "operator/affinity.h"
#include "operator/custom/custom_kernel.h"
#include "operator/shaped.h"
#include "optimizer/placement/candidates.h"

namespace tengine {
namespace {

bool is_of_tflite(const node& node)
{
    return (node.op.method->traits & OP_READS_QUANTIZED) != 0;
}

// An operator of a .tflite that the library does not have.
bool is_custom_of_tflite(const node& node)
{
    constexpr char kDomain[] = "tflite.";
    return is_open_node(&node) &&
           std::strncmp(get_source_op(&node), kDomain, sizeof kDomain - 1) == 0;
}

bool may_be_kept(const node& node)
{
    return !node.core->bodies && !node.core->custom_kernel &&
           (is_of_tflite(node) || is_custom_of_tflite(node));
}

// ---- shapes and types that passes would find later ----

struct Shape
{
    const int* dims = nullptr;
    int dim_num = 0;
};

Vector<Shape> list_shapes(const graph& source, const graph* plain)
{
    Vector<Shape> shapes(static_cast<size_t>(source.tensor_num));
    const vector_t* settled = plain ? plain->core->settled_shapes : nullptr;
    for (int i = 0; settled && i < get_vector_num(settled); ++i) {
        const auto* entry = static_cast<ir_settled_shape_t*>(get_vector_data(settled, i));
        shapes[static_cast<size_t>(entry->source_index)] = {entry->dims, entry->dim_num};
    }
    for (int i = 0; !settled && i < source.tensor_num; ++i) {
        const struct tensor* tensor = source.tensor_list[i];
        if (tensor && is_ir_tensor_shape_known(tensor))
            shapes[static_cast<size_t>(i)] = {tensor->dims, tensor->dim_num};
    }
    return shapes;
}

int settle(graph& execution, const graph* plain)
{
    const graph& source = *execution.core->source;
    const Vector<Shape> shapes = list_shapes(source, plain);
    for (int i = 0; i < execution.tensor_num; ++i) {
        struct tensor& tensor = *execution.tensor_list[i];
        const int index = tensor.core->source_index;
        if (tensor.tensor_type != TENSOR_TYPE_VAR || index < 0) continue;
        const int type = source.tensor_list[index]->data_type;
        if (tensor.data_type == TENGINE_DT_UNKNOWN && type != TENGINE_DT_UNKNOWN)
            TENGINE_RETURN_IF_ERROR(set_ir_tensor_data_type(&tensor, type));
        const Shape& shape = shapes[static_cast<size_t>(index)];
        if (shape.dims)
            TENGINE_RETURN_IF_ERROR(set_ir_tensor_shape(&tensor, shape.dims, shape.dim_num));
    }
    return TENGINE_OK;
}

// The passes find those of all other nodes again.
void unsettle(graph& execution)
{
    for (int i = 0; i < execution.tensor_num; ++i) {
        struct tensor& tensor = *execution.tensor_list[i];
        const node* producer = get_ir_graph_node(&execution, tensor.producer);
        if (tensor.tensor_type != TENSOR_TYPE_VAR || (producer && is_kept(*producer))) continue;
        forget_ir_tensor_shape(&tensor);
        if (tensor.quant_param_num == 0 && is_computed_by_onnx(execution, tensor))
            forget_ir_tensor_type(&tensor);
    }
}

bool has_known_tensors(const node& node)
{
    for (int i = 0; i < node.input_num; ++i) {
        const struct tensor* input = get_ir_node_input(&node, i);
        if (input && !is_ir_tensor_shape_known(input)) return false;
    }
    for (int i = 0; i < node.output_num; ++i) {
        const struct tensor* output = get_ir_node_output(&node, i);
        if (output &&
            (!is_ir_tensor_shape_known(output) || output->data_type == TENGINE_DT_UNKNOWN))
            return false;
    }
    return true;
}

bool allows(const node& node, const struct device& device)
{
    const char* affinity = find_ir_execution_affinity(&node);
    return !affinity || allows_ir_affinity(affinity, device.name);
}

int ask(graph& execution, struct device* device, Vector<int>* kept)
{
    const IntVector nodes(create_vector(sizeof(int), nullptr));
    if (!nodes)
        return tengine_error_set(TENGINE_ENOMEM, "device '%s': out of memory for its nodes",
                                 device->name);
    tengine_error_clear();
    const int status = device->allocator->keep(device, &execution, nodes.get());
    if (status != 0) {
        const String cause = describe_failure(status);
        return tengine_error_set(tengine_error_code() ? tengine_error_code() : TENGINE_EDEVICE,
                                 "device '%s', keep: %s", device->name, cause.c_str());
    }
    for (int i = 0; i < get_vector_num(nodes.get()); ++i) {
        const int index = *static_cast<int*>(get_vector_data(nodes.get(), i));
        const node* node = get_ir_graph_node(&execution, index);
        if (!node)
            return tengine_error_set(TENGINE_EDEVICE, "device '%s', keep: there is no node %d",
                                     device->name, index);
        if (may_be_kept(*node) && has_known_tensors(*node) && allows(*node, *device))
            kept->push_back(node->core->source_index);
    }
    return TENGINE_OK;
}

bool has_keeper(const graph& graph)
{
    const Vector<device*> devices = list_graph_devices(graph);
    return std::any_of(devices.begin(), devices.end(),
                       [](const device* device) { return device->allocator->keep; });
}

}  // namespace

bool may_keep_source_nodes(const graph& source)
{
    if (IS_MINIMAL) return false;  // reads tmfiles only
    return std::any_of(source.node_list, source.node_list + source.node_num,
                       [](const node* node) {
                           return node && (is_of_tflite(*node) || is_custom_of_tflite(*node));
                       }) &&
           has_keeper(source);
}

int keep_source_nodes(graph& execution, const graph* plain)
{
    if (IS_MINIMAL) return TENGINE_OK;
    TENGINE_RETURN_IF_ERROR(settle(execution, plain));
    Vector<int> kept;
    for (device* device : list_graph_devices(execution))
        if (device->allocator->keep) TENGINE_RETURN_IF_ERROR(ask(execution, device, &kept));
    TENGINE_RETURN_IF_ERROR(Candidates::keep(execution, std::move(kept)));
    unsettle(execution);
    return TENGINE_OK;
}

bool is_kept(const node& node)
{
    const Candidates* candidates = IS_MINIMAL ? nullptr : Candidates::find(*node.graph);
    return candidates && candidates->keeps(node);
}

bool has_source_nodes(const graph& part)
{
    return std::any_of(part.node_list, part.node_list + part.node_num, [](const node* node) {
        return node && is_of_tflite(*node) && node->op.method->lower;
    });
}

}  // namespace tengine
