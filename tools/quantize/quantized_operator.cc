// SPDX-License-Identifier: Apache-2.0
// The table and its conditions. The contract is in quantized_operator.h.
#include "quantize/quantized_operator.h"

#include <algorithm>

namespace tengine::tools {
namespace {

using ::onnx::GraphProto;
using ::onnx::NodeProto;
using ::onnx::TensorProto;

constexpr QuantizedRole kWeighted = QuantizedRole::kWeighted;
constexpr QuantizedRole kArithmetic = QuantizedRole::kArithmetic;
constexpr QuantizedRole kActivation = QuantizedRole::kActivation;
constexpr QuantizedRole kFunction = QuantizedRole::kFunction;
constexpr QuantizedRole kPassThrough = QuantizedRole::kPassThrough;

constexpr QuantizedOperator kOperators[] = {
    {"Conv", kWeighted, 2, true},
    {"ConvTranspose", kWeighted, 2, true},
    {"Gemm", kWeighted, 2, true},
    {"MatMul", kWeighted, 2, true},

    {"Add", kArithmetic, 2, true},
    {"Mul", kArithmetic, 2, true},
    {"BatchNormalization", kArithmetic, 1, true},
    {"AveragePool", kArithmetic, 1, false},
    {"GlobalAveragePool", kArithmetic, 1, false},
    {"ReduceMean", kArithmetic, 1, false},

    {"Relu", kActivation, 1, false},
    {"Clip", kActivation, 1, false},

    {"Abs", kFunction, 1, false},
    {"Celu", kFunction, 1, false},
    {"Div", kFunction, 2, false},
    {"Elu", kFunction, 1, false},
    {"Erf", kFunction, 1, false},
    {"Exp", kFunction, 1, false},
    {"Gelu", kFunction, 1, false},
    {"HardSigmoid", kFunction, 1, false},
    {"HardSwish", kFunction, 1, false},
    {"LeakyRelu", kFunction, 1, false},
    {"Log", kFunction, 1, false},
    {"Max", kFunction, 2, false},
    {"Min", kFunction, 2, false},
    {"Mish", kFunction, 1, false},
    {"Neg", kFunction, 1, false},
    {"PRelu", kFunction, 1, false},
    {"Pow", kFunction, 2, false},
    {"Reciprocal", kFunction, 1, false},
    {"Selu", kFunction, 1, false},
    {"Sigmoid", kFunction, 1, false},
    {"Softplus", kFunction, 1, false},
    {"Softsign", kFunction, 1, false},
    {"Sqrt", kFunction, 1, false},
    {"Sub", kFunction, 2, false},
    {"Tanh", kFunction, 1, false},
    {"ThresholdedRelu", kFunction, 1, false},

    {"Concat", kPassThrough, 0, false},
    {"DepthToSpace", kPassThrough, 1, false},
    {"Expand", kPassThrough, 1, false},
    {"Flatten", kPassThrough, 1, false},
    {"Gather", kPassThrough, 1, false},
    {"GlobalMaxPool", kPassThrough, 1, false},
    {"Identity", kPassThrough, 1, false},
    {"MaxPool", kPassThrough, 1, false},
    {"Pad", kPassThrough, 1, false},
    {"Reshape", kPassThrough, 1, false},
    {"Resize", kPassThrough, 1, false},
    {"Slice", kPassThrough, 1, false},
    {"SpaceToDepth", kPassThrough, 1, false},
    {"Split", kPassThrough, 1, false},
    {"Squeeze", kPassThrough, 1, false},
    {"Tile", kPassThrough, 1, false},
    {"Transpose", kPassThrough, 1, false},
    {"Unsqueeze", kPassThrough, 1, false},
};

const TensorProto* find_constant(const GraphProto& graph, const GraphIndex& index,
                                 const std::string& name)
{
    const auto found = index.initializers.find(name);
    return found == index.initializers.end() ? nullptr : &graph.initializer(found->second);
}

bool is_plain_gemm(const NodeProto& node)
{
    return float_attribute(node, "alpha", 1) == 1 && float_attribute(node, "beta", 1) == 1 &&
           int_attribute(node, "transA", 0) == 0;
}

// Axes 2, 3 ... or the last ones, at least two: what a network has behind its last feature map,
// unlike the means of a normalisation.
bool reduces_space(const GraphProto& graph, const GraphIndex& index, const NodeProto& node)
{
    std::vector<int64_t> axes = ints_attribute(node, "axes");
    if (const TensorProto* constant = find_constant(graph, index, input_of(node, 1)))
        axes = int64_values(*constant);
    std::sort(axes.begin(), axes.end());
    const auto number = static_cast<int64_t>(axes.size());
    if (number < 2) return false;
    for (int64_t i = 0; i < number; ++i)
        if (axes[static_cast<size_t>(i)] != axes[0] + i) return false;
    return axes[0] == 2 || axes[0] == -number;
}

bool takes_nearest(const NodeProto& node)
{
    return text_attribute(node, "mode", "nearest") == "nearest" &&
           text_attribute(node, "coordinate_transformation_mode", "") != "tf_crop_and_resize";
}

// Zero is in every range. Before opset 11 the value is an attribute.
bool pads_with_zeros(const GraphProto& graph, const GraphIndex& index, const NodeProto& node)
{
    if (text_attribute(node, "mode", "constant") != "constant") return true;
    if (input_of(node, 2).empty()) return float_attribute(node, "value", 0) == 0;
    const TensorProto* value = find_constant(graph, index, input_of(node, 2));
    if (value == nullptr || !is_float(*value)) return false;
    const std::vector<float> values = float_values(*value);
    return values.size() == 1 && values[0] == 0;
}

bool is_inference_norm(const GraphProto& graph, const GraphIndex& index, const NodeProto& node)
{
    for (int i = 1; i < 5; ++i) {
        const TensorProto* constant = find_constant(graph, index, input_of(node, i));
        if (constant == nullptr || !is_float(*constant)) return false;
    }
    return int_attribute(node, "training_mode", 0) == 0 && node.output_size() == 1;
}

}  // namespace

const QuantizedOperator* find_quantized_operator(const NodeProto& node)
{
    if (!node.domain().empty() && node.domain() != "ai.onnx") return nullptr;
    for (const QuantizedOperator& op : kOperators)
        if (node.op_type() == op.name) return &op;
    return nullptr;
}

bool suits_int8(const GraphProto& graph, const GraphIndex& index, const NodeProto& node)
{
    const std::string& op = node.op_type();
    if (op == "Gemm") return is_plain_gemm(node);
    if (op == "ReduceMean") return reduces_space(graph, index, node);
    if (op == "Resize") return takes_nearest(node);
    if (op == "Pad") return pads_with_zeros(graph, index, node);
    if (op == "BatchNormalization") return is_inference_norm(graph, index, node);
    return true;
}

std::vector<std::string> data_inputs(const NodeProto& node, const QuantizedOperator& op)
{
    const int number =
        op.data_inputs == 0 ? node.input_size() : std::min(op.data_inputs, node.input_size());
    return {node.input().begin(), node.input().begin() + number};
}

std::vector<std::string> data_outputs(const NodeProto& node)
{
    if (node.op_type() == "Split") return {node.output().begin(), node.output().end()};
    return {node.output(0)};
}

}  // namespace tengine::tools
