// SPDX-License-Identifier: Apache-2.0
// The common part of operators on quantised tensors: scales and zero points, which ACL has in the
// types of its tensors (uint8 is its QASYMM8, int8 its QASYMM8_SIGNED), and weights.
//
// ACL does not round as tengine/fixed_point.h does. Accumulators are multiplied by a factor of 31
// bits and rounded, then shifted and rounded again, ties away from 0; functions of elements are
// computed in fp32. An element differs by one step where the exact result lies next to a tie.
#pragma once

#include <cstdint>
#include <vector>

#include "device/acl/builder.h"

namespace tengine::acl {

struct Quantization
{
    float scale = 1;
    int zero_point = 0;
};

// Reads the quantisation of the scale at input `index` and the zero point after it. False, and the
// node is refused, when they are computed, not one value each, or the scale is not above 0.
bool read_quantization(Builder& builder, int index, Quantization* out);

// int8 or uint8 -> ACL's type with a scale.
DataType to_quantized_type(int data_type);
TensorInfo quantized_info(const TensorInfo& plain, int data_type, const Quantization& by);
// The description of the tensor in its own shape.
TensorInfo quantized_info(const tensor& tensor, const Quantization& by);

// False, and the node is refused, in a library of 32 bits: it truncates results there, and rounds
// them in 64 bits.
bool require_rounding(Builder& builder);

// ACL treats smaller factors as 0, see below.
constexpr double kLeastFactor = 1.001e-5;

// Whether accumulators of up to `largest`, times the factor from their scale to that of the result,
// fit into ACL's 32 bits. False, and the node is refused, when they do not.
bool check_factor(Builder& builder, double factor, double largest);

// The weights at input 3, with their scale and zero point, in the forms that ACL supports: the type
// of the input with one scale, or symmetric int8 with a scale for each slice of an axis.
class QuantizedWeights
{
  public:
    // Each of the `slices` has runs of `run` bytes; `x_type` is the data type of the input. False,
    // and the node is refused, when ACL does not support them.
    bool read(Builder& builder, int x_type, int slices, int64_t run);
    // Transposes a matrix of `rows` rows.
    void transpose(int rows, int columns);
    // For a function that adds zero points instead of subtracting them.
    void negate_zero_point() { zero_point_ = -zero_point_; }
    // `number` slices from `first` on; if these are not all, a slice is one run.
    ITensor* make(Builder& builder, const TensorShape& shape, int first, int number) const;

    DataType type() const { return type_; }
    bool is_per_slice() const { return type_ == DataType::QSYMM8_PER_CHANNEL; }
    QuantizationInfo quantization(int first, int number) const;

    // check_factor() of every slice of x * weights + bias, an int32 list or NULL.
    bool check_sums(Builder& builder, float x_scale, float y_scale, const tensor* bias) const;

  private:
    bool read_slices(Builder& builder, const std::vector<int>& zero_points, int64_t run);
    void read_whole(int zero_point, bool is_signed, bool becomes_signed);

    const tensor* source_ = nullptr;
    DataType type_ = DataType::UNKNOWN;
    std::vector<float> scales_;   // one for each slice, or one
    int zero_point_ = 0;          // of weights with one scale
    std::vector<uint8_t> bytes_;  // empty: the constant's own
    std::vector<int64_t> reach_;  // the largest possible accumulator of each slice
};

}  // namespace tengine::acl
