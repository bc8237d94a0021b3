// SPDX-License-Identifier: Apache-2.0
// Quantises constants. The contract is in weights.h.
#include "quantize/weights.h"

#include <algorithm>
#include <cmath>

#include "quantize/onnx_model.h"

namespace tengine::tools {
namespace {

constexpr double kLargestWeight = 127;
// A factor of two below the limit of int32 leaves room for the products.
constexpr double kLargestBias = 1 << 30;

int channel_axis(const ::onnx::NodeProto& node, int rank)
{
    if (node.op_type() == "Conv") return 0;
    if (node.op_type() == "ConvTranspose") return int_attribute(node, "group", 1) == 1 ? 1 : -1;
    if (node.op_type() == "Gemm") return int_attribute(node, "transB", 0) != 0 ? 0 : 1;
    return rank == 2 ? 1 : -1;
}

template <typename Integer>
Integer round_to(double value, double least, double greatest)
{
    return static_cast<Integer>(std::clamp(std::nearbyint(value), least, greatest));
}

}  // namespace

ChannelLayout channel_layout(const ::onnx::NodeProto& node, const ::onnx::TensorProto& weight)
{
    ChannelLayout layout;
    const int axis = channel_axis(node, weight.dims_size());
    if (axis < 0 || axis >= weight.dims_size()) return layout;
    layout.axis = axis;
    layout.channels = weight.dims(axis);
    for (int i = axis + 1; i < weight.dims_size(); ++i)
        layout.inner *= weight.dims(i);
    return layout;
}

std::vector<float> weight_scales(const std::vector<float>& weights, const ChannelLayout& layout,
                                 const std::vector<float>& bias, float input_scale)
{
    std::vector<double> scales(static_cast<size_t>(layout.channels), 0.0);
    for (size_t i = 0; i < weights.size(); ++i) {
        double& scale = scales[layout.channel_of(i)];
        scale = std::max(scale, std::fabs(weights[i]) / kLargestWeight);
    }
    for (size_t i = 0; i < bias.size(); ++i) {
        double& scale = scales[scales.size() == 1 ? 0 : i];
        scale = std::max(scale, std::fabs(bias[i]) / (kLargestBias * input_scale));
    }
    std::vector<float> result;
    for (const double scale : scales) {
        const float narrowed = static_cast<float>(scale);
        result.push_back(std::isnormal(narrowed) ? narrowed : 1.0f);
    }
    return result;
}

std::vector<int8_t> quantize_weights(const std::vector<float>& weights, const ChannelLayout& layout,
                                     const std::vector<float>& scales)
{
    std::vector<int8_t> quantized(weights.size());
    for (size_t i = 0; i < weights.size(); ++i)
        quantized[i] = round_to<int8_t>(weights[i] / scales[layout.channel_of(i)], -kLargestWeight,
                                        kLargestWeight);
    return quantized;
}

std::vector<int32_t> quantize_bias(const std::vector<float>& bias, const std::vector<float>& scales)
{
    std::vector<int32_t> quantized(bias.size());
    for (size_t i = 0; i < bias.size(); ++i)
        quantized[i] =
            round_to<int32_t>(static_cast<double>(bias[i]) / scales[scales.size() == 1 ? 0 : i],
                              INT32_MIN, INT32_MAX);
    return quantized;
}

}  // namespace tengine::tools
