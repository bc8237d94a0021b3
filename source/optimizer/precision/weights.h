// SPDX-License-Identifier: Apache-2.0
// Weights and biases of integer nodes.
#pragma once

#include <algorithm>
#include <cstdint>

#include "optimizer/precision/fuser.h"

namespace tengine {

// The axis of the output channels of input 1 of a Conv, ConvTranspose, Gemm or MatMul, each of
// which may have its own scale. -1 if they are not along one axis: a ConvTranspose with groups, a
// batched MatMul.
int find_weight_axis(const node& node);

// Float weights as int8 from -127 to 127.
struct WeightBytes
{
    Vector<float> scales;  // one, or one for each slice of the axis
    Vector<int8_t> bytes;
};

// One scale, or one for each slice of `axis` (-1: one): the largest magnitude / 127; at least as
// large as `bias` (may be null; one value, or one for each slice) needs to fit int32 in units of
// `unit` times the scale; 1 where everything is zero. The values must be finite.
WeightBytes quantize_weight_values(const tensor& weight, int axis, const tensor* bias, double unit);

constexpr int kLargestWeight = 127;

// The scale of weights with this largest magnitude, and one of them as int8.
float choose_weight_scale(float largest);
inline int8_t quantize_weight_value(float value, float scale)
{
    // Where a step of floats is 1, additions round to integers, ties to even.
    constexpr float kLarge = 3 << 22;
    const float quotient = std::clamp<float>(value / scale, -kLargestWeight, kLargestWeight);
    return static_cast<int8_t>(quotient + kLarge - kLarge);
}

// The int8 values of a matrix that has a scale for each slice of `axis`, as depth x columns.
void copy_columns(const WeightBytes& quantized, const tensor& weight, int axis, int8_t* to);

struct Weight
{
    tensor* bytes = nullptr;
    tensor* scales = nullptr;  // one, or one for each slice of the axis
    tensor* zero_points = nullptr;

    double scale(int64_t slice) const { return scales->f32[scales->elem_num > 1 ? slice : 0]; }
};

// The weight `value` in int8 or uint8 with one scale, or one for each slice along `axis` (-1: one
// scale only): the model's, or, for a calibrated result, from its float values, -127 to 127. `bias`
// (may be null) is added to the product, in units of `unit` times the weight's scale.
bool make_weight(Fuser& fuser, tensor* value, int axis, const Result& result, const tensor* bias,
                 double unit, Weight* out_weight);

// The same for finite values of a constant in fp32, and `bias` null or such a constant.
bool quantize_weight(Fuser& fuser, const tensor& weight, int axis, const tensor* bias, double unit,
                     Weight* out_weight);

// `bias` as a list of `number` int32 in units of `unit` times the weight's scales: the model's if
// these are its units, else rounded to them. False when it is not constant or does not fit int32.
// *out_bias is null if there is none.
bool make_bias(Fuser& fuser, tensor* bias, int number, const Weight& weight, float unit,
               tensor** out_bias);

}  // namespace tengine
