// SPDX-License-Identifier: Apache-2.0
// The parameters of a QuantizeLinear or DequantizeLinear as those of the quantised tensor that it
// writes or reads, if a tensor can have them.
#pragma once

#include "base/containers.hpp"
#include "tengine/ir.h"

namespace tengine {

struct LinearParameters
{
    Vector<float> scales;
    Vector<int> zero_points;

    bool operator==(const LinearParameters& other) const
    {
        return scales == other.scales && zero_points == other.zero_points;
    }
};

// False unless `bytes` are int8, uint8 or int32, the values fp32, and scales and zero points
// constant, for the whole tensor or for the slices of dimension 0; and each scale must be such that
// quantised elements keep their bits when they are dequantised and quantised.
bool read_linear_parameters(const node& linear, const struct tensor& bytes,
                            const struct tensor& values, LinearParameters* out_parameters);

// Whether the tensor can have these: it is not quantised yet, or has the same parameters.
bool can_have_parameters(const struct tensor& tensor, const LinearParameters& parameters);
int give_parameters(struct tensor& tensor, const LinearParameters& parameters);

}  // namespace tengine
