// SPDX-License-Identifier: Apache-2.0
// Matrices in fp32 as int8 with a scale for each column, in two steps: the int8 values may be late
// (graph/late_constant.h).
#pragma once

#include <cstdint>

#include "graph/late_constant.h"

namespace tengine {

// Whether all values of a constant in fp32 at any address are numbers.
bool is_finite(const tensor& constant);

// Describes the int8 values of `weight`, at any address: columns x depth (`axis` 0) or depth x
// columns (1). They are in the order depth x columns, or else in the order of the weight.
ir_late_values_t describe_bytes(const tensor& weight, int axis, bool has_columns_last);

// The scales of quantize_weight_values() without a bias.
void find_scales(const ir_late_values_t& late, float* out_scales);

// A function for ir_late_values_t::make.
void make_bytes(const ir_late_values_t* late, const tensor* constant, bool is_file,
                void* out_values);

}  // namespace tengine
