// SPDX-License-Identifier: Apache-2.0
// A convolution in explicit numbers, brought to three spatial axes so that the fast kernels need
// one loop nest for 1-d, 2-d and 3-d; the window's rules are in operator/onnx/window.h.
#pragma once

#include "device/cpu/kernel_context.h"
#include "operator/onnx/conv_param.h"

namespace tengine::cpu {

inline constexpr int kConvAxes = 3;

// Sizes in elements. Channels are counted within a group.
struct ConvProblem
{
    window_axis axes[kConvAxes];  // depth, height, width; those the tensors lack are of size 1
    int64_t batch, groups;
    int64_t input_channels, output_channels;
    int64_t input_plane, output_plane;
    int64_t taps;
};

// Conv, or ConvTranspose when `transposed`, of a node whose shapes are known and were inferred.
// The weight of a Conv is input `weight_index`: QLinearConv 3, else 1.
// TENGINE_EINVAL for more than kConvAxes spatial axes.
TENGINE_MUST_USE int describe_conv(const node& node, bool transposed, ConvProblem* out_problem,
                                   int weight_index = 1);

// Whether each output position reads its own input position only.
bool is_pointwise(const ConvProblem& problem);

// fp32 throughout, one to three spatial axes.
bool is_plain_conv(const node& node);

// Whether weights and bias are constant.
bool has_pixel_conv_constants(const node& node);

// fp32 and two spatial axes, weights and bias constant: the convolutions that channels-last kernels
// take.
bool is_pixel_conv(const node& node);

// The same in fp16 or bf16.
bool is_half_conv(const node& node);

}  // namespace tengine::cpu
