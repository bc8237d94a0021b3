// SPDX-License-Identifier: Apache-2.0
// The affine function of a BatchNormalization in inference, for the pass that merges it into a Conv
// (merge.cc) and the rule that makes it an integer node (precision/).
#pragma once

#include "base/containers.hpp"
#include "tengine/ir.h"

namespace tengine {

// y = factor x + offset
struct ChannelAffine
{
    double factor;
    double offset;
};

// Whether scale, bias, mean and variance are constants in fp32 of one length.
bool has_constant_statistics(const node& norm);

// The function of each channel; the four inputs must be such constants.
Vector<ChannelAffine> read_batch_norm(const node& norm);

}  // namespace tengine
