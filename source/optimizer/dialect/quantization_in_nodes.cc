// SPDX-License-Identifier: Apache-2.0
// Replaces quantised tensors by DequantizeLinear and QuantizeLinear, see quantized_tensors.h.
#include <algorithm>
#include <cmath>
#include <limits>

#include "base/containers.hpp"
#include "graph/graph.h"
#include "graph/metadata.h"
#include "operator/param.h"
#include "operator/registry.h"
#include "optimizer/dialect/quantized_tensors.h"
#include "optimizer/placement/source_nodes.h"

namespace tengine {
namespace {

int check_parameters(const struct tensor& tensor)
{
    const int axis = tensor.quant_axis;
    if (tensor.quant_param_num > 1 && tensor.shape_set &&
        (axis >= tensor.dim_num || tensor.dims[axis] != tensor.quant_param_num))
        return tengine_error_set(TENGINE_EINVAL,
                                 "tensor '%s' has %d scales, but dimension %d has %d elements",
                                 tensor.name, tensor.quant_param_num, axis,
                                 axis < tensor.dim_num ? tensor.dims[axis] : 0);
    for (int i = 0; i < tensor.quant_param_num; ++i)
        if (!std::isfinite(scales_of(tensor)[i]) || scales_of(tensor)[i] <= 0)
            return tengine_error_set(TENGINE_EINVAL,
                                     "tensor '%s' has the scale %g, expected a positive number",
                                     tensor.name, static_cast<double>(scales_of(tensor)[i]));
    return TENGINE_OK;
}

struct tensor* add_constant(graph& graph, const String& name, int data_type, int number)
{
    struct tensor* constant = create_ir_tensor(&graph, name.c_str(), data_type);
    if (!constant) return nullptr;
    constant->tensor_type = TENSOR_TYPE_CONST;
    const int rank = number == 1 ? 0 : 1;
    if (set_ir_tensor_shape(constant, &number, rank) < 0 || allocate_ir_tensor(constant) < 0)
        return nullptr;
    return constant;
}

template <class T>
int write_zero_points(const struct tensor& tensor, struct tensor& constant)
{
    for (int i = 0; i < tensor.quant_param_num; ++i) {
        const int value = zero_points_of(tensor)[i];
        if (value < std::numeric_limits<T>::lowest() || value > std::numeric_limits<T>::max())
            return tengine_error_set(TENGINE_ERANGE, "tensor '%s' of %s has the zero point %d",
                                     tensor.name, get_data_type_name(tensor.data_type), value);
        static_cast<T*>(constant.data)[i] = static_cast<T>(value);
    }
    return TENGINE_OK;
}

int fill_zero_points(const struct tensor& tensor, struct tensor& constant)
{
    switch (tensor.data_type) {
        case TENGINE_DT_INT8:
            return write_zero_points<int8_t>(tensor, constant);
        case TENGINE_DT_UINT8:
            return write_zero_points<uint8_t>(tensor, constant);
        case TENGINE_DT_INT16:
            return write_zero_points<int16_t>(tensor, constant);
        default:
            return write_zero_points<int32_t>(tensor, constant);
    }
}

bool is_same_quantization(const struct tensor& a, const struct tensor& b)
{
    return a.data_type == b.data_type && a.quant_param_num == 1 && b.quant_param_num == 1 &&
           a.scale == b.scale && a.zero_point == b.zero_point;
}

// Makes the input of a clamp float, since devices requantise and clamp in one step, but clamp once.
int free_clamped(const node& clamp)
{
    struct tensor* tensor = find_clamped(clamp);
    const struct tensor* result = get_ir_node_output(&clamp, 0);
    if (!tensor || !result || !is_quantized(*result) || !is_same_quantization(*tensor, *result) ||
        ends_with_clamp(*get_ir_graph_node(clamp.graph, tensor->producer)))
        return TENGINE_OK;
    TENGINE_RETURN_IF_ERROR(set_ir_tensor_data_type(tensor, TENGINE_DT_FP32));
    return set_ir_tensor_quantization_parameter(tensor, &result->scale, &result->zero_point, 0);
}

class Speller
{
  public:
    explicit Speller(graph& graph) : graph_(graph), values_(size_t(graph.tensor_num), nullptr) {}

    int run()
    {
        const int given = graph_.node_num;
        for (int i = 0; i < given; ++i)
            TENGINE_RETURN_IF_ERROR(free_clamped(*graph_.node_list[i]));
        for (int i = 0; i < given; ++i)
            if (is_spelled(*graph_.node_list[i]))
                TENGINE_RETURN_IF_ERROR(spell(*graph_.node_list[i]));
        return TENGINE_OK;
    }

  private:
    bool is_spelled(const node& node) const { return !is_kept(node) && reads_quantized(node); }

    int spell(node& node)
    {
        for (int i = 0; i < node.input_num; ++i) {
            struct tensor* input = get_ir_node_input(&node, i);
            if (!input || !is_quantized(*input)) continue;
            struct tensor* value = nullptr;
            TENGINE_RETURN_IF_ERROR(find_value(node, *input, &value));
            TENGINE_RETURN_IF_ERROR(set_ir_node_input_tensor(&node, i, value));
        }
        for (int i = 0; i < node.output_num; ++i) {
            struct tensor* output = get_ir_node_output(&node, i);
            // QuantizeLinear has no int32.
            if (output && is_quantized(*output) && output->data_type != TENGINE_DT_INT32 &&
                !moves_integers(node))
                TENGINE_RETURN_IF_ERROR(quantise(node, i, *output));
        }
        return TENGINE_OK;
    }

    // Whether the node moves what a QuantizeLinear has made, maybe through others that move.
    bool moves_integers(const node& node) const
    {
        const struct node* writer = &node;
        while (moves_bytes(writer) && !is_quantized(*get_ir_node_input(writer, 0)))
            writer = get_ir_graph_node(&graph_, get_ir_node_input(writer, 0)->producer);
        return is_op(writer, "QuantizeLinear");
    }

    // The float value of a quantised tensor; one DequantizeLinear serves all its readers.
    int find_value(const node& reader, struct tensor& tensor, struct tensor** out_value)
    {
        struct tensor*& value = values_[static_cast<size_t>(tensor.index)];
        if (!value) {
            value = create_ir_tensor(&graph_, (String(tensor.name) + "_float").c_str(),
                                     TENGINE_DT_FP32);
            if (!value) return tengine_error_code();
            TENGINE_RETURN_IF_ERROR(add_linear(reader, "DequantizeLinear", tensor, tensor, *value));
        }
        *out_value = value;
        return TENGINE_OK;
    }

    int quantise(node& producer, int index, struct tensor& tensor)
    {
        struct tensor* value =
            create_ir_tensor(&graph_, (String(tensor.name) + "_value").c_str(), TENGINE_DT_FP32);
        if (!value) return tengine_error_code();
        TENGINE_RETURN_IF_ERROR(set_ir_node_output_tensor(&producer, index, nullptr));
        TENGINE_RETURN_IF_ERROR(set_ir_node_output_tensor(&producer, index, value));
        return add_linear(producer, "QuantizeLinear", tensor, *value, tensor);
    }

    int add_linear(const node& origin, const char* op, const struct tensor& quantised,
                   struct tensor& from, struct tensor& to)
    {
        TENGINE_RETURN_IF_ERROR(check_parameters(quantised));
        const String name = quantised.name;
        const int number = quantised.quant_param_num;
        node* made = create_op_node(&graph_, (name + "_" + op).c_str(), op, origin.name);
        struct tensor* scale = add_constant(graph_, name + "_scale", TENGINE_DT_FP32, number);
        struct tensor* zero_point =
            add_constant(graph_, name + "_zero_point", quantised.data_type, number);
        if (!made || !scale || !zero_point) return tengine_error_code();
        std::copy_n(scales_of(quantised), number, scale->f32);
        TENGINE_RETURN_IF_ERROR(fill_zero_points(quantised, *zero_point));
        if (number > 1) TENGINE_RETURN_IF_ERROR(set_node_int(made, "axis", quantised.quant_axis));
        TENGINE_RETURN_IF_ERROR(set_ir_node_input_tensor(made, 0, &from));
        TENGINE_RETURN_IF_ERROR(set_ir_node_input_tensor(made, 1, scale));
        TENGINE_RETURN_IF_ERROR(set_ir_node_input_tensor(made, 2, zero_point));
        return set_ir_node_output_tensor(made, 0, &to);
    }

    graph& graph_;
    Vector<struct tensor*> values_;  // by quantised tensor
};

bool has_quantized_readers(const graph& graph)
{
    return std::any_of(graph.node_list, graph.node_list + graph.node_num,
                       [](const node* node) { return reads_quantized(*node); });
}

}  // namespace

bool states_rounding(const graph& graph)
{
    return *find_ir_property(find_ir_metadata(&graph), IR_ROUNDING_KEY) != '\0';
}

int insert_qdq_nodes(graph& graph)
{
    const bool has_readers = has_quantized_readers(graph);
    if (has_readers || states_rounding(graph)) take_model_precision(graph);
    return has_readers ? Speller(graph).run() : TENGINE_OK;
}

}  // namespace tengine
