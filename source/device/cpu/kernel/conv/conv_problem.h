// SPDX-License-Identifier: Apache-2.0
// The sizes of a convolution, with three spatial axes so that the fast kernels need one loop nest
// for 1-d, 2-d and 3-d; the window's rules are in operator/onnx/window.h.
#pragma once

#include "device/cpu/kernel_context.h"
#include "operator/onnx/conv_param.h"

namespace tengine::cpu {

inline constexpr int kConvAxes = 3;

// Sizes in elements. Channels are counted within a group.
struct ConvProblem
{
    window_axis axes[kConvAxes];  // depth, height, width; axes that the tensors lack have size 1
    int64_t batch, groups;
    int64_t input_channels, output_channels;
    int64_t input_plane, output_plane;
    int64_t taps;
};

// Describes a Conv, or a ConvTranspose when `transposed`, of a node with known and inferred shapes.
// The weight of a Conv is input `weight_index`: QLinearConv 3, else 1. TENGINE_EINVAL: more than
// kConvAxes spatial axes.
TENGINE_MUST_USE int describe_conv(const node& node, bool transposed, ConvProblem* out_problem,
                                   int weight_index = 1);

// Whether each output position reads only the input position of the same index.
bool is_pointwise(const ConvProblem& problem);

// Whether all tensors are fp32 and there are one to three spatial axes.
bool is_plain_conv(const node& node);

// Whether weights and bias are constant.
bool has_pixel_conv_constants(const node& node);

// Whether channels-last kernels accept the convolution: fp32, two spatial axes, constant weights
// and bias.
bool is_pixel_conv(const node& node);

// The same as is_pixel_conv() for fp16 or bf16.
bool is_float16_conv(const node& node);

}  // namespace tengine::cpu
