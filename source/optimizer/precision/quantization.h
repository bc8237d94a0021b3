// SPDX-License-Identifier: Apache-2.0
// The quantisation of a float tensor's values, and where a graph has it: QuantizeLinear,
// DequantizeLinear and calibrated tensors.
#pragma once

#include "base/containers.hpp"
#include "optimizer/graph/rewriter.h"

namespace tengine {

// value = scale * (byte - zero_point), one scale for the whole tensor.
struct Quantization
{
    float scale = 0;
    int zero_point = 0;
    int data_type = TENGINE_DT_INT8;  // or TENGINE_DT_UINT8
    // The constants that hold them, if the graph has any: scalars or lists of one.
    tensor* scale_tensor = nullptr;
    tensor* zero_point_tensor = nullptr;
};

// Whether `value` is a constant of this type, with data.
bool is_constant(const tensor* value, int data_type);

bool is_byte(int data_type);
bool is_same(const Quantization& a, const Quantization& b);

// The quantisation that just covers a range, low <= 0 <= high: its low end is the lowest integer. 0
// alone has the scale 1.
Quantization cover_range(double low, double high, int data_type);
// The bits of an int8 or uint8, as QuantizeLinear: the quotient of floats, rounded to the nearest,
// ties to even, and saturated.
uint8_t quantize_value(float value, const Quantization& by);

// Whether requantising by `real` needs no multiplier of 2^31 or more; see tengine/fixed_point.h.
bool is_multiplier(double real);

// The quantisation of a QuantizeLinear or DequantizeLinear. False for others: several scales, other
// types, scales that are computed.
bool read_quantization(const node& linear, Quantization* out_quantization);

// The quantisation of a tensor by calibration; `data_type` is that of the run. False when there is
// none.
bool read_calibration(const tensor& value, int data_type, Quantization* out_quantization);

// The producer of the tensor, or null.
node* producer_of(const graph& graph, const tensor* tensor);

// The constants of a quantisation, created if necessary.
tensor* get_scale(Rewriter& rewriter, Quantization& quantization, const String& name);
tensor* get_zero_point(Rewriter& rewriter, Quantization& quantization, const String& name);

}  // namespace tengine
