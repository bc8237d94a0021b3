// SPDX-License-Identifier: Apache-2.0
// Arithmetic of constant weights and biases in int8 and int32.
#pragma once

#include <cstdint>
#include <onnx/onnx.pb.h>
#include <vector>

namespace tengine::tools {

// The elements of a weight by output channel: channel = index / inner % channels.
struct ChannelLayout
{
    int axis = -1;  // -1: one scale for all
    int64_t channels = 1;
    int64_t inner = 1;

    size_t channel_of(size_t index) const
    {
        return index / static_cast<size_t>(inner) % static_cast<size_t>(channels);
    }
};

// Where the output channels of `weight`, input 1 of `node`, are. -1 where they are not along one
// axis: a ConvTranspose with groups, a MatMul by a stack of matrices.
ChannelLayout channel_layout(const ::onnx::NodeProto& node, const ::onnx::TensorProto& weight);

// One scale for each channel: the largest magnitude / 127; at least as large as `bias` (empty, or
// one value for each of `bias_layout`'s channels) needs to fit int32 in units of input_scale x
// scale; 1 where everything is zero.
std::vector<float> weight_scales(const std::vector<float>& weights, const ChannelLayout& layout,
                                 const std::vector<float>& bias, float input_scale);

std::vector<int8_t> quantize_weights(const std::vector<float>& weights, const ChannelLayout& layout,
                                     const std::vector<float>& scales);

// `scales`: one, or one for each value.
std::vector<int32_t> quantize_bias(const std::vector<float>& bias,
                                   const std::vector<float>& scales);

}  // namespace tengine::tools
