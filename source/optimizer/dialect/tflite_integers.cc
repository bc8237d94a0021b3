// SPDX-License-Identifier: Apache-2.0
// Quantisation in nodes becomes quantised tensors, for TensorFlow Lite. An operator between
// DequantizeLinear and QuantizeLinear is given the integers if its kernels for these have the same
// meaning; around any other one the two become DEQUANTIZE and QUANTIZE. At the end uint8 becomes
// int8, which new kernels expect, except for what the program feeds and reads.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/containers.hpp"
#include "graph/graph.h"
#include "operator/fail.h"
#include "operator/registry.h"
#include "operator/shaped.h"
#include "optimizer/dialect/quantized_tensors.h"
#include "optimizer/pass.h"

namespace tengine {
namespace {

enum class Kind
{
    kWeighted,  // filter and bias, of any result
    kFree,      // inputs and result may have any parameters
    kSame,      // all have the same
    kFixed      // the result has those of the table
};

struct Row
{
    const char* op;
    Kind kind;
    int inputs;  // leading ones that are data; -1: all
    float scale = 0;
    int zero_point = 0;  // of int8
};

constexpr float kByteStep = 1.0f / 256;
constexpr float kSignedStep = 1.0f / 128;

constexpr Row kRows[] = {
    {"ADD", Kind::kFree, 2},
    {"AVERAGE_POOL_2D", Kind::kSame, 1},
    {"CONCATENATION", Kind::kSame, -1},
    {"CONV_2D", Kind::kWeighted, 1},
    {"DEPTHWISE_CONV_2D", Kind::kWeighted, 1},
    {"FULLY_CONNECTED", Kind::kWeighted, 1},
    {"HARD_SWISH", Kind::kFree, 1},
    {"LEAKY_RELU", Kind::kFree, 1},
    {"LOGISTIC", Kind::kFixed, 1, kByteStep, -128},
    {"MAXIMUM", Kind::kSame, 2},
    {"MEAN", Kind::kFree, 1},
    {"MINIMUM", Kind::kSame, 2},
    {"MUL", Kind::kFree, 2},
    {"RELU", Kind::kFree, 1},
    {"RELU6", Kind::kFree, 1},
    {"RESIZE_BILINEAR", Kind::kSame, 1},
    {"SOFTMAX", Kind::kFixed, 1, kByteStep, -128},
    {"SUB", Kind::kFree, 2},
    {"TANH", Kind::kFixed, 1, kSignedStep, 0},
};

// Operators that only move or choose elements of input 0, of integers as of real values.
constexpr const char* kMoves[] = {
    "BROADCAST_TO", "DEPTH_TO_SPACE",          "GATHER", "MAX_POOL_2D",    "MIRROR_PAD",    "PAD",
    "RESHAPE",      "RESIZE_NEAREST_NEIGHBOR", "SLICE",  "SPACE_TO_DEPTH", "STRIDED_SLICE", "TILE",
    "TRANSPOSE"};

bool is_tflite(const node& node, const char* op)
{
    return std::strcmp(get_ir_node_domain(&node), "tflite") == 0 &&
           std::strcmp(get_ir_node_op(&node), op) == 0;
}

const Row* find_row(const node& node)
{
    for (const Row& row : kRows)
        if (is_tflite(node, row.op)) return &row;
    return nullptr;
}

bool is_linear(const node& node)
{
    return is_op(&node, "QuantizeLinear") || is_op(&node, "DequantizeLinear");
}

// The number that is added to the integers of a type to make them int8.
int shift_of(const struct tensor& tensor)
{
    return tensor.data_type == TENGINE_DT_UINT8 ? -128 : 0;
}

// Whether both stand for the same values.
bool is_quantised_like(const struct tensor& a, const struct tensor& b)
{
    return a.quant_param_num == 1 && b.quant_param_num == 1 && a.scale == b.scale &&
           a.zero_point + shift_of(a) == b.zero_point + shift_of(b);
}

class IntegerTaker
{
  public:
    explicit IntegerTaker(graph& graph) : graph_(graph) {}

    int run();

  private:
    int give_parameters(const node& linear);
    struct tensor* find_bytes(const struct tensor* real) const;
    node* find_quantizer(const struct tensor* real) const;
    bool is_interface(const struct tensor& tensor) const;
    bool may_move(const node& node) const;
    int move_integers(node& node);
    int remove_pair(node& quantizer);
    int fold_constant(node& linear, const struct tensor& bytes);
    bool can_compute(const node& node, const Row& row, Vector<struct tensor*>* inputs,
                     struct tensor** output) const;
    bool has_fitting_weights(const node& node, const struct tensor& input, const Row& row) const;
    bool has_fitting_bias(const node& node, const struct tensor& input,
                          const struct tensor& weights) const;
    int give_integers(node& node, const Row& row);
    int give_weights(node& node, const struct tensor& input);
    int quantise_bias(node& node, const struct tensor& input, const struct tensor& weights,
                      const struct tensor& bias);
    int replace_linear(node& linear);
    int shift_to_int8(struct tensor& tensor);

    graph& graph_;
};

bool IntegerTaker::is_interface(const struct tensor& tensor) const
{
    return is_ir_graph_output(&graph_, tensor.index) || tensor.tensor_type == TENSOR_TYPE_INPUT;
}

// The bytes get the scales that the node reads them with.
int IntegerTaker::give_parameters(const node& linear)
{
    const bool writes = is_op(&linear, "QuantizeLinear");
    struct tensor& bytes =
        *(writes ? get_ir_node_output(&linear, 0) : get_ir_node_input(&linear, 0));
    const struct tensor* scale = get_ir_node_input(&linear, 1);
    const struct tensor* point = get_ir_node_input(&linear, 2);
    const int type = bytes.data_type;
    const bool is_integer =
        is_byte_type(type) || type == TENGINE_DT_INT16 || type == TENGINE_DT_INT32;
    if (!is_integer || !is_constant(scale) || scale->data_type != TENGINE_DT_FP32 ||
        (point && !is_constant(point)) || get_ir_node_int(&linear, "block_size", 0) != 0)
        return fail_node(&linear, TENGINE_EOPERATOR,
                         "it has no form in TensorFlow Lite: '%s' is %s, its scales are not "
                         "constants of fp32, or each is for a block",
                         bytes.name, get_data_type_name(type));
    const auto number = static_cast<int>(scale->elem_num);
    Vector<int> points(static_cast<size_t>(number), 0);
    for (int i = 0; point && i < number; ++i)
        points[static_cast<size_t>(i)] = point->data_type == TENGINE_DT_UINT8   ? point->u8[i]
                                         : point->data_type == TENGINE_DT_INT8  ? point->i8[i]
                                         : point->data_type == TENGINE_DT_INT32 ? point->i32[i]
                                                                                : 0;
    const int64_t axis = get_ir_node_int(&linear, "axis", 1);
    const int place = static_cast<int>(axis < 0 ? axis + bytes.dim_num : axis);
    const bool is_known = bytes.quant_param_num == number &&
                          std::equal(scale->f32, scale->f32 + number, scales_of(bytes)) &&
                          std::equal(points.begin(), points.end(), zero_points_of(bytes));
    if (is_known) return TENGINE_OK;
    if (bytes.quant_param_num > 0)
        return fail_node(&linear, TENGINE_EOPERATOR,
                         "it has no form in TensorFlow Lite: another node reads '%s' with other "
                         "scales",
                         bytes.name);
    bytes.quant_axis = number > 1 ? place : 0;
    return set_ir_tensor_quantization_parameter(&bytes, scale->f32, points.data(), number);
}

// ---- movements ----

// The padding of a maximum may be the lowest integer: each window has another element.
bool is_padding_of_maximum(const graph& graph, const node& node)
{
    const struct tensor* output = get_ir_node_output(&node, 0);
    return is_tflite(node, "PADV2") && output->consumer_num == 1 &&
           is_tflite(*graph.node_list[output->consumer[0]], "MAX_POOL_2D");
}

bool IntegerTaker::may_move(const node& node) const
{
    const bool moves = std::any_of(std::begin(kMoves), std::end(kMoves),
                                   [&](const char* op) { return is_tflite(node, op); }) ||
                       is_padding_of_maximum(graph_, node);
    const struct tensor* bytes = moves ? find_bytes(get_ir_node_input(&node, 0)) : nullptr;
    return bytes && is_byte_type(bytes->data_type) && bytes->quant_param_num == 1 &&
           !(bytes->data_type == TENGINE_DT_UINT8 && is_interface(*bytes));
}

// Exchanges the DequantizeLinear and the node.
int IntegerTaker::move_integers(node& node)
{
    struct tensor* bytes = find_bytes(get_ir_node_input(&node, 0));
    struct tensor* real = get_ir_node_output(&node, 0);
    const struct node* linear = get_ir_graph_node(&graph_, get_ir_node_input(&node, 0)->producer);
    struct tensor *scale = get_ir_node_input(linear, 1), *point = get_ir_node_input(linear, 2);
    const String name = String(real->name) + "_quantized";
    struct tensor* made = create_ir_tensor(&graph_, name.c_str(), bytes->data_type);
    struct node* behind = create_op_node(&graph_, (name + "_DequantizeLinear").c_str(),
                                         "DequantizeLinear", node.name);
    if (!made || !behind) return tengine_error_code();
    TENGINE_RETURN_IF_ERROR(set_ir_tensor_shape(made, real->dims, real->dim_num));
    TENGINE_RETURN_IF_ERROR(quantise_like(*made, *bytes));
    if (is_tflite(node, "PADV2")) {
        struct tensor* lowest = create_ir_tensor(&graph_, nullptr, bytes->data_type);
        if (!lowest) return tengine_error_code();
        lowest->tensor_type = TENSOR_TYPE_CONST;
        TENGINE_RETURN_IF_ERROR(set_ir_tensor_shape(lowest, nullptr, 0));
        TENGINE_RETURN_IF_ERROR(allocate_ir_tensor(lowest));
        TENGINE_RETURN_IF_ERROR(quantise_like(*lowest, *bytes));
        lowest->u8[0] = bytes->data_type == TENGINE_DT_INT8 ? 0x80 : 0;
        TENGINE_RETURN_IF_ERROR(set_ir_node_input_tensor(&node, 2, lowest));
    }
    TENGINE_RETURN_IF_ERROR(set_ir_node_input_tensor(&node, 0, bytes));
    TENGINE_RETURN_IF_ERROR(set_ir_node_output_tensor(&node, 0, nullptr));
    TENGINE_RETURN_IF_ERROR(set_ir_node_output_tensor(&node, 0, made));
    TENGINE_RETURN_IF_ERROR(set_ir_node_input_tensor(behind, 0, made));
    TENGINE_RETURN_IF_ERROR(set_ir_node_input_tensor(behind, 1, scale));
    if (point) TENGINE_RETURN_IF_ERROR(set_ir_node_input_tensor(behind, 2, point));
    return set_ir_node_output_tensor(behind, 0, real);
}

// Quantising what was dequantised with the same parameters does nothing.
int IntegerTaker::remove_pair(node& quantizer)
{
    struct tensor* bytes = find_bytes(get_ir_node_input(&quantizer, 0));
    struct tensor* again = get_ir_node_output(&quantizer, 0);
    if (!bytes || bytes->data_type != again->data_type || !is_quantised_like(*bytes, *again) ||
        is_interface(*again))
        return TENGINE_OK;
    TENGINE_RETURN_IF_ERROR(replace_ir_tensor_uses(&graph_, again, bytes));
    destroy_ir_node(&graph_, &quantizer);
    return TENGINE_OK;
}

// ---- computations ----

struct tensor* IntegerTaker::find_bytes(const struct tensor* real) const
{
    const node* writer = real ? get_ir_graph_node(&graph_, real->producer) : nullptr;
    return is_op(writer, "DequantizeLinear") ? get_ir_node_input(writer, 0) : nullptr;
}

// The only reader, if it is a QuantizeLinear.
node* IntegerTaker::find_quantizer(const struct tensor* real) const
{
    if (!real || real->consumer_num != 1 || is_ir_graph_output(&graph_, real->index))
        return nullptr;
    node* reader = graph_.node_list[real->consumer[0]];
    return is_op(reader, "QuantizeLinear") ? reader : nullptr;
}

bool IntegerTaker::can_compute(const node& node, const Row& row, Vector<struct tensor*>* inputs,
                               struct tensor** output) const
{
    const auto may_be = [&](const struct tensor* bytes) {
        const bool is_uint8 = bytes && bytes->data_type == TENGINE_DT_UINT8;
        return bytes && is_byte_type(bytes->data_type) && bytes->quant_param_num == 1 &&
               !(is_uint8 && is_interface(*bytes));
    };
    const struct node* quantizer = find_quantizer(get_ir_node_output(&node, 0));
    if (!quantizer || node.output_num != 1) return false;
    *output = get_ir_node_output(quantizer, 0);
    if (!may_be(*output)) return false;
    const int number = row.inputs < 0 ? node.input_num : row.inputs;
    for (int i = 0; i < number; ++i) {
        inputs->push_back(find_bytes(get_ir_node_input(&node, i)));
        if (!may_be(inputs->back())) return false;
        if (row.kind == Kind::kSame && !is_quantised_like(*inputs->back(), **output)) return false;
    }
    if (row.kind == Kind::kFixed)
        return (*output)->scale == row.scale &&
               (*output)->zero_point + shift_of(**output) == row.zero_point;
    return row.kind != Kind::kWeighted || has_fitting_weights(node, *inputs->front(), row);
}

// Weights are symmetric int8, with a scale for all or for each result.
bool IntegerTaker::has_fitting_weights(const node& node, const struct tensor& input,
                                       const Row& row) const
{
    const struct tensor* weights = find_bytes(get_ir_node_input(&node, 1));
    if (!is_constant(weights) || !is_byte_type(weights->data_type)) return false;
    const int axis = std::strcmp(row.op, "DEPTHWISE_CONV_2D") == 0 ? 3 : 0;
    const int number = weights->quant_param_num;
    if (number > 1 && weights->quant_axis != axis) return false;
    const int* points = zero_points_of(*weights);
    for (int i = 0; i < number; ++i)
        if (points[i] + shift_of(*weights) != 0) return false;
    return has_fitting_bias(node, input, *weights);
}

float scale_at(const struct tensor& tensor, int index)
{
    return scales_of(tensor)[tensor.quant_param_num == 1 ? 0 : index];
}

// A bias of floats is quantised with the scale of the products, which one of integers must have.
bool IntegerTaker::has_fitting_bias(const node& node, const struct tensor& input,
                                    const struct tensor& weights) const
{
    constexpr float kLargestError = 1e-5f;
    const struct tensor* bias = get_ir_node_input(&node, 2);
    if (!bias) return true;
    if (is_constant(bias)) return bias->data_type == TENGINE_DT_FP32;
    const struct tensor* integers = find_bytes(bias);
    if (!is_constant(integers) || integers->data_type != TENGINE_DT_INT32 || integers->dim_num != 1)
        return false;
    for (int i = 0; i < integers->dims[0]; ++i) {
        const float expected = input.scale * scale_at(weights, i);
        if (std::abs(scale_at(*integers, i) - expected) > kLargestError * expected) return false;
        if (zero_points_of(*integers)[integers->quant_param_num == 1 ? 0 : i] != 0) return false;
    }
    return true;
}

int IntegerTaker::quantise_bias(node& node, const struct tensor& input,
                                const struct tensor& weights, const struct tensor& bias)
{
    const String name = String(node.name) + ".bias";
    struct tensor* made = create_ir_tensor(&graph_, name.c_str(), TENGINE_DT_INT32);
    if (!made) return tengine_error_code();
    made->tensor_type = TENSOR_TYPE_CONST;
    TENGINE_RETURN_IF_ERROR(set_ir_tensor_shape(made, bias.dims, bias.dim_num));
    TENGINE_RETURN_IF_ERROR(allocate_ir_tensor(made));
    const auto number = static_cast<size_t>(weights.quant_param_num);
    Vector<float> scales(number);
    const Vector<int> points(number, 0);
    for (size_t i = 0; i < number; ++i)
        scales[i] = input.scale * scale_at(weights, static_cast<int>(i));
    constexpr double kMost = std::numeric_limits<int32_t>::max();
    for (int64_t i = 0; i < bias.elem_num; ++i) {
        const double scale = static_cast<double>(scales[number == 1 ? 0 : static_cast<size_t>(i)]);
        const double value = std::nearbyint(static_cast<double>(bias.f32[i]) / scale);
        made->i32[i] = static_cast<int32_t>(std::clamp(value, -kMost, kMost));
    }
    TENGINE_RETURN_IF_ERROR(set_ir_tensor_quantization_parameter(made, scales.data(), points.data(),
                                                                 static_cast<int>(number)));
    return set_ir_node_input_tensor(&node, 2, made);
}

int IntegerTaker::give_weights(node& node, const struct tensor& input)
{
    struct tensor* weights = find_bytes(get_ir_node_input(&node, 1));
    const struct tensor* bias = get_ir_node_input(&node, 2);
    TENGINE_RETURN_IF_ERROR(set_ir_node_input_tensor(&node, 1, weights));
    if (!bias) return TENGINE_OK;
    if (is_constant(bias)) return quantise_bias(node, input, *weights, *bias);
    return set_ir_node_input_tensor(&node, 2, find_bytes(bias));
}

int IntegerTaker::give_integers(node& node, const Row& row)
{
    Vector<struct tensor*> inputs;
    struct tensor* output = nullptr;
    if (!can_compute(node, row, &inputs, &output)) return TENGINE_OK;
    if (row.kind == Kind::kWeighted) TENGINE_RETURN_IF_ERROR(give_weights(node, *inputs.front()));
    for (size_t i = 0; i < inputs.size(); ++i)
        TENGINE_RETURN_IF_ERROR(set_ir_node_input_tensor(&node, static_cast<int>(i), inputs[i]));
    destroy_ir_node(&graph_, get_ir_graph_node(&graph_, output->producer));
    return set_ir_node_output_tensor(&node, 0, output);
}

// DEQUANTIZE does not take int32.
int IntegerTaker::fold_constant(node& linear, const struct tensor& bytes)
{
    struct tensor& real = *get_ir_node_output(&linear, 0);
    int64_t inner = 1;  // elements for which a scale holds, one after the other
    for (int i = bytes.quant_axis + 1; i < bytes.dim_num; ++i)
        inner *= bytes.dims[i];
    destroy_ir_node(&graph_, &linear);
    real.tensor_type = TENSOR_TYPE_CONST;
    TENGINE_RETURN_IF_ERROR(allocate_ir_tensor(&real));
    for (int64_t i = 0; i < real.elem_num; ++i) {
        const auto place = static_cast<int>(i / inner % bytes.quant_param_num);
        const int slice = bytes.quant_param_num == 1 ? 0 : place;
        real.f32[i] = static_cast<float>(bytes.i32[i] - zero_points_of(bytes)[slice]) *
                      scales_of(bytes)[slice];
    }
    return TENGINE_OK;
}

// The others become QUANTIZE and DEQUANTIZE.
int IntegerTaker::replace_linear(node& linear)
{
    const bool writes = is_op(&linear, "QuantizeLinear");
    struct tensor* input = get_ir_node_input(&linear, 0);
    struct tensor* output = get_ir_node_output(&linear, 0);
    if (!writes && is_constant(input) && input->data_type == TENGINE_DT_INT32)
        return fold_constant(linear, *input);
    const String name = linear.name;
    destroy_ir_node(&graph_, &linear);
    node* made = create_op_node(&graph_, name.c_str(),
                                writes ? "tflite.QUANTIZE" : "tflite.DEQUANTIZE", name.c_str());
    if (!made) return tengine_error_code();
    TENGINE_RETURN_IF_ERROR(set_ir_node_input_tensor(made, 0, input));
    return set_ir_node_output_tensor(made, 0, output);
}

int IntegerTaker::shift_to_int8(struct tensor& tensor)
{
    if (tensor.data_type != TENGINE_DT_UINT8 || tensor.quant_param_num == 0 || is_interface(tensor))
        return TENGINE_OK;
    const int number = tensor.quant_param_num;
    Vector<int> points(zero_points_of(tensor), zero_points_of(tensor) + number);
    for (int& point : points)
        point -= 128;
    const Vector<float> scales(scales_of(tensor), scales_of(tensor) + number);
    if (is_constant(&tensor)) {
        const Vector<uint8_t> bytes(tensor.u8, tensor.u8 + tensor.elem_num);
        TENGINE_RETURN_IF_ERROR(allocate_ir_tensor(&tensor));
        for (size_t i = 0; i < bytes.size(); ++i)
            tensor.u8[i] = static_cast<uint8_t>(bytes[i] ^ 0x80);
    }
    TENGINE_RETURN_IF_ERROR(set_ir_tensor_data_type(&tensor, TENGINE_DT_INT8));
    return set_ir_tensor_quantization_parameter(&tensor, scales.data(), points.data(), number);
}

int IntegerTaker::run()
{
    const int nodes = graph_.node_num;
    for (int i = 0; i < nodes; ++i)
        if (const node* node = graph_.node_list[i]; node && is_linear(*node))
            TENGINE_RETURN_IF_ERROR(give_parameters(*node));
    for (int i = 0; i < nodes; ++i)
        if (node* node = graph_.node_list[i]; node && may_move(*node))
            TENGINE_RETURN_IF_ERROR(move_integers(*node));
    for (int i = 0; i < nodes; ++i)
        if (node* node = graph_.node_list[i]; node && is_op(node, "QuantizeLinear"))
            TENGINE_RETURN_IF_ERROR(remove_pair(*node));
    for (int i = 0; i < nodes; ++i) {
        node* node = graph_.node_list[i];
        const Row* row = node ? find_row(*node) : nullptr;
        if (row) TENGINE_RETURN_IF_ERROR(give_integers(*node, *row));
    }
    for (int i = 0, all = graph_.node_num; i < all; ++i)
        if (node* node = graph_.node_list[i]; node && is_linear(*node))
            TENGINE_RETURN_IF_ERROR(replace_linear(*node));
    for (int i = 0; i < graph_.tensor_num; ++i)
        if (graph_.tensor_list[i]) TENGINE_RETURN_IF_ERROR(shift_to_int8(*graph_.tensor_list[i]));
    return TENGINE_OK;
}

}  // namespace

int take_integers(graph& graph)
{
    return IntegerTaker(graph).run();
}

}  // namespace tengine
