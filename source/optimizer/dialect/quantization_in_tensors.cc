// SPDX-License-Identifier: Apache-2.0
// DequantizeLinear and QuantizeLinear become quantised tensors, see quantized_tensors.h.
#include <algorithm>
#include <utility>

#include "base/alloc.h"
#include "base/containers.hpp"
#include "graph/graph.h"
#include "operator/operator.h"
#include "optimizer/dialect/quantized_tensors.h"

namespace tengine {
namespace {

bool is_read_by_tengine_only(const graph& graph, const struct tensor& tensor)
{
    const auto reads = [&](int32_t index) { return speaks_tengine(graph.node_list[index]); };
    return tensor.consumer_num > 0 && !is_ir_graph_output(&graph, tensor.index) &&
           std::all_of(tensor.consumer, tensor.consumer + tensor.consumer_num, reads);
}

int read_zero_point(const struct tensor* zero_point, int index)
{
    if (!zero_point) return 0;
    const int i = zero_point->elem_num == 1 ? 0 : index;
    switch (zero_point->data_type) {
        case TENGINE_DT_INT8:
            return zero_point->i8[i];
        case TENGINE_DT_UINT8:
            return zero_point->u8[i];
        default:
            return zero_point->i32[i];
    }
}

struct Parameters
{
    Vector<float> scales;
    Vector<int> zero_points;
};

// What a QuantizeLinear or DequantizeLinear of `bytes` says, as far as a tensor can have it:
// constant scales for the whole or for the slices of dimension 0.
bool read_parameters(const node& linear, const struct tensor& bytes, Parameters* out_parameters)
{
    const struct tensor* scale = get_ir_node_input(&linear, 1);
    const struct tensor* zero_point = get_ir_node_input(&linear, 2);
    const int type = bytes.data_type;
    if (type != TENGINE_DT_INT8 && type != TENGINE_DT_UINT8 && type != TENGINE_DT_INT32)
        return false;
    if (!scale->data || scale->data_type != TENGINE_DT_FP32 || scale->dim_num > 1) return false;
    if (zero_point && (!zero_point->data || zero_point->dim_num > 1)) return false;
    const int number = static_cast<int>(scale->elem_num);
    if (number < 1) return false;
    if (number > 1) {
        const int64_t axis = get_ir_node_int(&linear, "axis", 1);
        if ((axis < 0 ? axis + bytes.dim_num : axis) != 0 || bytes.dims[0] != number) return false;
    }
    for (int i = 0; i < number; ++i) {
        out_parameters->scales.push_back(scale->f32[i]);
        out_parameters->zero_points.push_back(read_zero_point(zero_point, i));
    }
    return true;
}

bool has_parameters(const struct tensor& tensor, const Parameters& parameters)
{
    const auto number = static_cast<size_t>(tensor.quant_param_num);
    return number == parameters.scales.size() &&
           std::equal(parameters.scales.begin(), parameters.scales.end(), scales_of(tensor)) &&
           std::equal(parameters.zero_points.begin(), parameters.zero_points.end(),
                      zero_points_of(tensor));
}

int give_parameters(struct tensor& tensor, const Parameters& parameters)
{
    tensor.quant_axis = 0;
    return set_ir_tensor_quantization_parameter(&tensor, parameters.scales.data(),
                                                parameters.zero_points.data(),
                                                static_cast<int>(parameters.scales.size()));
}

// Whether a tensor can be said to be quantised so: it is not yet, or already in this way.
bool can_have(const struct tensor& tensor, const Parameters& parameters)
{
    return tensor.quant_param_num == 0 || has_parameters(tensor, parameters);
}

int rename(struct tensor& tensor, const struct tensor& like)
{
    char* name = duplicate_string(like.name);
    if (!name) return tengine_error_set(TENGINE_ENOMEM, "no memory for a name");
    free_memory(tensor.name);
    tensor.name = name;
    return TENGINE_OK;
}

int absorb_dequantise(graph& graph, node& linear)
{
    struct tensor* bytes = get_ir_node_input(&linear, 0);
    struct tensor* value = get_ir_node_output(&linear, 0);
    Parameters parameters;
    if (!read_parameters(linear, *bytes, &parameters) || !can_have(*bytes, parameters))
        return TENGINE_OK;
    // The program gets what a Tengine node computes as it is, and converts it.
    const bool ends = is_ir_graph_output(&graph, value->index) && value->consumer_num == 0 &&
                      speaks_tengine(get_ir_graph_node(&graph, bytes->producer)) &&
                      !is_ir_graph_output(&graph, bytes->index);
    if (!ends && !is_read_by_tengine_only(graph, *value)) return TENGINE_OK;
    TENGINE_RETURN_IF_ERROR(give_parameters(*bytes, parameters));
    if (ends) TENGINE_RETURN_IF_ERROR(rename(*bytes, *value));
    TENGINE_RETURN_IF_ERROR(replace_ir_tensor_uses(&graph, value, bytes));
    destroy_ir_node(&graph, &linear);
    return TENGINE_OK;
}

bool is_input(const graph& graph, const struct tensor& tensor)
{
    return tensor.tensor_type == TENSOR_TYPE_INPUT && tensor.producer < 0 &&
           std::find(graph.input_tensors, graph.input_tensors + graph.input_tensor_num,
                     tensor.index) != graph.input_tensors + graph.input_tensor_num;
}

// The program feeds `bytes` in the place of `value`.
int replace_input(graph& graph, struct tensor& value, struct tensor& bytes)
{
    std::replace(graph.input_tensors, graph.input_tensors + graph.input_tensor_num, value.index,
                 bytes.index);
    bytes.tensor_type = TENSOR_TYPE_INPUT;
    value.tensor_type = TENSOR_TYPE_VAR;
    return rename(bytes, value);
}

int absorb_quantise(graph& graph, node& linear)
{
    struct tensor* value = get_ir_node_input(&linear, 0);
    struct tensor* bytes = get_ir_node_output(&linear, 0);
    Parameters parameters;
    if (value->consumer_num != 1 || is_ir_graph_output(&graph, value->index) ||
        !read_parameters(linear, *bytes, &parameters) || !can_have(*bytes, parameters))
        return TENGINE_OK;
    node* producer = get_ir_graph_node(&graph, value->producer);
    const bool begins = is_input(graph, *value) && is_read_by_tengine_only(graph, *bytes);
    if (!begins && !speaks_tengine(producer)) return TENGINE_OK;
    TENGINE_RETURN_IF_ERROR(give_parameters(*bytes, parameters));
    destroy_ir_node(&graph, &linear);
    if (begins) return replace_input(graph, *value, *bytes);
    int place = 0;
    while (producer->output_tensors[place] != value->index)
        ++place;
    return set_ir_node_output_tensor(producer, place, bytes);
}

int quantise_clamped(const node& clamp)
{
    struct tensor* tensor = find_clamped(clamp);
    const struct tensor* result = get_ir_node_output(&clamp, 0);
    if (!tensor || !result || !is_quantized(*result) || result->quant_param_num != 1 ||
        tensor->data_type != TENGINE_DT_FP32)
        return TENGINE_OK;
    TENGINE_RETURN_IF_ERROR(set_ir_tensor_data_type(tensor, result->data_type));
    return set_ir_tensor_quantization_parameter(tensor, &result->scale, &result->zero_point, 1);
}

}  // namespace

int fold_qdq_nodes(graph& graph)
{
    using Absorb = int (*)(struct graph&, node&);
    // What goes to the program comes last: it needs to be Tengine's result by then.
    constexpr std::pair<const char*, Absorb> kSteps[] = {
        {"DequantizeLinear", absorb_dequantise},
        {"QuantizeLinear", absorb_quantise},
        {"DequantizeLinear", absorb_dequantise},
    };
    for (const auto& [op, absorb] : kSteps)
        for (int i = 0; i < graph.node_num; ++i)
            if (is_op(graph.node_list[i], op))
                TENGINE_RETURN_IF_ERROR(absorb(graph, *graph.node_list[i]));
    for (int i = 0; i < graph.node_num; ++i)
        if (graph.node_list[i]) TENGINE_RETURN_IF_ERROR(quantise_clamped(*graph.node_list[i]));
    return TENGINE_OK;
}

}  // namespace tengine
