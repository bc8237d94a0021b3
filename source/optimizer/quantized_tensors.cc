// SPDX-License-Identifier: Apache-2.0
#include "optimizer/quantized_tensors.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "base/alloc.h"
#include "graph/graph.h"
#include "operator/param.h"
#include "tengine/device.h"

namespace tengine {
namespace {

// A Tengine node that is one only until it is lowered, or since it was raised.
bool speaks_tengine(const node* node)
{
    return node && node->op.method->tengine && node->op.method->lower;
}

bool is_quantized(const ir_tensor_t& tensor)
{
    const int type = tensor.data_type;
    return tensor.quant_param_num > 0 && (type == TENGINE_DT_INT8 || type == TENGINE_DT_UINT8 ||
                                          type == TENGINE_DT_INT16 || type == TENGINE_DT_INT32);
}

// ReLU, ReLU6, ReLU1 and Clip. Before such a node rounding to the steps of its result changes
// nothing, because it is monotone: Q(clamp(x)) = Q(clamp(DQ(Q(x)))) for any x and one Q. So what
// goes into it can be said to be quantised like its result, which Tengine Lite needs of every
// tensor, or to be in float, which lets a device clamp where it requantises.
bool is_clamp(const node& node)
{
    if (!speaks_tengine(&node)) return false;
    const std::string op = get_ir_node_op(&node);
    if (op == "ReLU") return get_ir_node_float(&node, "negative_slope", 0) == 0;
    return op == "ReLU6" || op == "ReLU1" || op == "Clip";
}

// What a clamp reads, when a Tengine node computes it for nobody else.
ir_tensor_t* find_clamped(const node& clamp)
{
    ir_tensor_t* tensor = get_ir_node_input(&clamp, 0);
    if (!tensor || tensor->consumer_num != 1 || is_ir_graph_output(clamp.graph, tensor->index) ||
        !speaks_tengine(get_ir_graph_node(clamp.graph, tensor->producer)))
        return nullptr;
    return tensor;
}

// ---- Tengine's way to ONNX's ----

const float* scales_of(const ir_tensor_t& tensor)
{
    return tensor.quant_param_num == 1 ? &tensor.scale : tensor.scale_list;
}

const int* zero_points_of(const ir_tensor_t& tensor)
{
    return tensor.quant_param_num == 1 ? &tensor.zero_point : tensor.zp_list;
}

int check_parameters(const ir_tensor_t& tensor)
{
    const int axis = tensor.quant_axis;
    if (tensor.quant_param_num > 1 && tensor.shape_set &&
        (axis >= tensor.dim_num || tensor.dims[axis] != tensor.quant_param_num))
        return tengine_error_set(TENGINE_EINVAL,
                                 "tensor '%s' has %d scales, but dimension %d has %d elements",
                                 tensor.name, tensor.quant_param_num, axis,
                                 axis < tensor.dim_num ? tensor.dims[axis] : 0);
    for (int i = 0; i < tensor.quant_param_num; i++)
        if (!std::isfinite(scales_of(tensor)[i]) || scales_of(tensor)[i] <= 0)
            return tengine_error_set(TENGINE_EINVAL,
                                     "tensor '%s' has the scale %g; it must be positive",
                                     tensor.name, static_cast<double>(scales_of(tensor)[i]));
    return TENGINE_OK;
}

ir_tensor_t* add_constant(graph& graph, const std::string& name, int data_type, int number)
{
    ir_tensor_t* constant = create_ir_tensor(&graph, name.c_str(), data_type);
    if (!constant) return nullptr;
    constant->tensor_type = TENSOR_TYPE_CONST;
    const int rank = number == 1 ? 0 : 1;
    if (set_ir_tensor_shape(constant, &number, rank) < 0 || allocate_ir_tensor(constant) < 0)
        return nullptr;
    return constant;
}

template <class T>
int write_zero_points(const ir_tensor_t& tensor, ir_tensor_t& constant)
{
    for (int i = 0; i < tensor.quant_param_num; i++) {
        const int value = zero_points_of(tensor)[i];
        if (value < std::numeric_limits<T>::lowest() || value > std::numeric_limits<T>::max())
            return tengine_error_set(TENGINE_ERANGE, "tensor '%s' of %s has the zero point %d",
                                     tensor.name, get_data_type_name(tensor.data_type), value);
        static_cast<T*>(constant.data)[i] = static_cast<T>(value);
    }
    return TENGINE_OK;
}

int fill_zero_points(const ir_tensor_t& tensor, ir_tensor_t& constant)
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

bool is_same_quantization(const ir_tensor_t& a, const ir_tensor_t& b)
{
    return a.data_type == b.data_type && a.quant_param_num == 1 && b.quant_param_num == 1 &&
           a.scale == b.scale && a.zero_point == b.zero_point;
}

int free_clamped(const node& clamp)
{
    ir_tensor_t* tensor = is_clamp(clamp) ? find_clamped(clamp) : nullptr;
    const ir_tensor_t* result = get_ir_node_output(&clamp, 0);
    if (!tensor || !result || !is_quantized(*result) || !is_same_quantization(*tensor, *result))
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
        for (int i = 0; i < given; i++)
            TENGINE_RETURN_IF_ERROR(free_clamped(*graph_.node_list[i]));
        for (int i = 0; i < given; i++)
            if (speaks_tengine(graph_.node_list[i]))
                TENGINE_RETURN_IF_ERROR(spell(*graph_.node_list[i]));
        return TENGINE_OK;
    }

  private:
    int spell(node& node)
    {
        for (int i = 0; i < node.input_num; i++) {
            ir_tensor_t* input = get_ir_node_input(&node, i);
            if (!input || !is_quantized(*input)) continue;
            ir_tensor_t* value = nullptr;
            TENGINE_RETURN_IF_ERROR(find_value(*input, &value));
            TENGINE_RETURN_IF_ERROR(set_ir_node_input_tensor(&node, i, value));
        }
        for (int i = 0; i < node.output_num; i++) {
            ir_tensor_t* output = get_ir_node_output(&node, i);
            if (output && is_quantized(*output))
                TENGINE_RETURN_IF_ERROR(quantise(node, i, *output));
        }
        return TENGINE_OK;
    }

    // What a quantised tensor stands for, in float; one DequantizeLinear for all its readers.
    int find_value(ir_tensor_t& tensor, ir_tensor_t** out_value)
    {
        ir_tensor_t*& value = values_[static_cast<size_t>(tensor.index)];
        if (!value) {
            value = create_ir_tensor(&graph_, (std::string(tensor.name) + "_float").c_str(),
                                     TENGINE_DT_FP32);
            if (!value) return tengine_error_code();
            TENGINE_RETURN_IF_ERROR(add_linear("DequantizeLinear", tensor, tensor, *value));
        }
        *out_value = value;
        return TENGINE_OK;
    }

    int quantise(node& producer, int index, ir_tensor_t& tensor)
    {
        ir_tensor_t* value = create_ir_tensor(
            &graph_, (std::string(tensor.name) + "_value").c_str(), TENGINE_DT_FP32);
        if (!value) return tengine_error_code();
        TENGINE_RETURN_IF_ERROR(set_ir_node_output_tensor(&producer, index, nullptr));
        TENGINE_RETURN_IF_ERROR(set_ir_node_output_tensor(&producer, index, value));
        return add_linear("QuantizeLinear", tensor, *value, tensor);
    }

    int add_linear(const char* op, const ir_tensor_t& quantised, ir_tensor_t& from, ir_tensor_t& to)
    {
        TENGINE_RETURN_IF_ERROR(check_parameters(quantised));
        const std::string name = quantised.name;
        const int number = quantised.quant_param_num;
        node* made = create_ir_node(&graph_, (name + "_" + op).c_str(), get_op_type("", op), 0);
        ir_tensor_t* scale = add_constant(graph_, name + "_scale", TENGINE_DT_FP32, number);
        ir_tensor_t* zero_point =
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
    std::vector<ir_tensor_t*> values_;  // by the index of the quantised tensor
};

// The precision of the first quantised tensor that is computed; a model has only one.
int precision_of(const graph& graph)
{
    for (int i = 0; i < graph.tensor_num; i++) {
        const ir_tensor_t& tensor = *graph.tensor_list[i];
        if (tensor.tensor_type == TENSOR_TYPE_CONST || !is_quantized(tensor)) continue;
        if (tensor.data_type == TENGINE_DT_INT8) return TENGINE_MODE_INT8;
        if (tensor.data_type == TENGINE_DT_UINT8) return TENGINE_MODE_UINT8;
    }
    return TENGINE_MODE_FP32;
}

bool has_tengine_nodes(const graph& graph)
{
    return std::any_of(graph.node_list, graph.node_list + graph.node_num, speaks_tengine);
}

// ---- ONNX's way to Tengine's ----

bool is_read_by_tengine_only(const graph& graph, const ir_tensor_t& tensor)
{
    const auto reads = [&](int32_t index) { return speaks_tengine(graph.node_list[index]); };
    return tensor.consumer_num > 0 && !is_ir_graph_output(&graph, tensor.index) &&
           std::all_of(tensor.consumer, tensor.consumer + tensor.consumer_num, reads);
}

int read_zero_point(const ir_tensor_t* zero_point, int index)
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
    std::vector<float> scales;
    std::vector<int> zero_points;
};

// What a QuantizeLinear or DequantizeLinear of `bytes` says, as far as a tensor can have it:
// constant scales for the whole or for the slices of dimension 0.
bool read_parameters(const node& linear, const ir_tensor_t& bytes, Parameters* out_parameters)
{
    const ir_tensor_t* scale = get_ir_node_input(&linear, 1);
    const ir_tensor_t* zero_point = get_ir_node_input(&linear, 2);
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
    for (int i = 0; i < number; i++) {
        out_parameters->scales.push_back(scale->f32[i]);
        out_parameters->zero_points.push_back(read_zero_point(zero_point, i));
    }
    return true;
}

bool has_parameters(const ir_tensor_t& tensor, const Parameters& parameters)
{
    const auto number = static_cast<size_t>(tensor.quant_param_num);
    return number == parameters.scales.size() &&
           std::equal(parameters.scales.begin(), parameters.scales.end(), scales_of(tensor)) &&
           std::equal(parameters.zero_points.begin(), parameters.zero_points.end(),
                      zero_points_of(tensor));
}

int give_parameters(ir_tensor_t& tensor, const Parameters& parameters)
{
    tensor.quant_axis = 0;
    return set_ir_tensor_quantization_parameter(&tensor, parameters.scales.data(),
                                                parameters.zero_points.data(),
                                                static_cast<int>(parameters.scales.size()));
}

// Whether a tensor can be said to be quantised so: it is not yet, or already in this way.
bool can_have(const ir_tensor_t& tensor, const Parameters& parameters)
{
    return tensor.quant_param_num == 0 || has_parameters(tensor, parameters);
}

int rename(ir_tensor_t& tensor, const ir_tensor_t& like)
{
    char* name = duplicate_string(like.name);
    if (!name) return tengine_error_set(TENGINE_ENOMEM, "no memory for a name");
    free_memory(tensor.name);
    tensor.name = name;
    return TENGINE_OK;
}

int absorb_dequantise(graph& graph, node& linear)
{
    ir_tensor_t* bytes = get_ir_node_input(&linear, 0);
    ir_tensor_t* value = get_ir_node_output(&linear, 0);
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

bool is_input(const graph& graph, const ir_tensor_t& tensor)
{
    return tensor.tensor_type == TENSOR_TYPE_INPUT && tensor.producer < 0 &&
           std::find(graph.input_tensors, graph.input_tensors + graph.input_tensor_num,
                     tensor.index) != graph.input_tensors + graph.input_tensor_num;
}

// The program feeds `bytes` in the place of `value`.
int replace_input(graph& graph, ir_tensor_t& value, ir_tensor_t& bytes)
{
    std::replace(graph.input_tensors, graph.input_tensors + graph.input_tensor_num, value.index,
                 bytes.index);
    bytes.tensor_type = TENSOR_TYPE_INPUT;
    value.tensor_type = TENSOR_TYPE_VAR;
    return rename(bytes, value);
}

int absorb_quantise(graph& graph, node& linear)
{
    ir_tensor_t* value = get_ir_node_input(&linear, 0);
    ir_tensor_t* bytes = get_ir_node_output(&linear, 0);
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
        place++;
    return set_ir_node_output_tensor(producer, place, bytes);
}

int quantise_clamped(const node& clamp)
{
    ir_tensor_t* tensor = is_clamp(clamp) ? find_clamped(clamp) : nullptr;
    const ir_tensor_t* result = get_ir_node_output(&clamp, 0);
    if (!tensor || !result || !is_quantized(*result) || result->quant_param_num != 1 ||
        tensor->data_type != TENGINE_DT_FP32)
        return TENGINE_OK;
    TENGINE_RETURN_IF_ERROR(set_ir_tensor_data_type(tensor, result->data_type));
    return set_ir_tensor_quantization_parameter(tensor, &result->scale, &result->zero_point, 1);
}

}  // namespace

int say_quantization_in_nodes(graph& graph)
{
    if (!has_tengine_nodes(graph)) return TENGINE_OK;
    if (graph.run_options.precision == TENGINE_MODE_FP32)
        graph.run_options.precision = precision_of(graph);
    return Speller(graph).run();
}

int say_quantization_in_tensors(graph& graph)
{
    using Absorb = int (*)(struct graph&, node&);
    // What goes to the program comes last: it needs to be Tengine's result by then.
    constexpr std::pair<const char*, Absorb> kSteps[] = {
        {"DequantizeLinear", absorb_dequantise},
        {"QuantizeLinear", absorb_quantise},
        {"DequantizeLinear", absorb_dequantise},
    };
    for (const auto& [op, absorb] : kSteps)
        for (int i = 0; i < graph.node_num; i++)
            if (is_op(graph.node_list[i], op))
                TENGINE_RETURN_IF_ERROR(absorb(graph, *graph.node_list[i]));
    for (int i = 0; i < graph.node_num; i++)
        if (graph.node_list[i]) TENGINE_RETURN_IF_ERROR(quantise_clamped(*graph.node_list[i]));
    return TENGINE_OK;
}

}  // namespace tengine
