// SPDX-License-Identifier: Apache-2.0
// Affine functions of each channel, which BatchNormalization in inference and sums, differences,
// products and quotients with a constant compute. For the pass that merges them into convolutions
// (merge_affine.cc) and the rules that make a BatchNormalization an integer node (precision/).
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

// Whether it is a constant in fp32 whose values are in memory.
bool is_float_constant(const struct tensor* tensor);

// Whether scale, bias, mean and variance are constants in fp32 of one length.
bool has_constant_statistics(const node& norm);

// The function of each channel; the four inputs must be such constants.
Vector<ChannelAffine> read_batch_norm(const node& norm);

// The form of the factors: s / sqrt(v + epsilon), c, 1 / c, and a sign.
enum AffineForm
{
    kNormFactor,
    kConstantFactor,
    kQuotientFactor,
    kSignFactor,
    kAffineForms
};

// A node that computes such a function.
struct AffineNode
{
    Vector<ChannelAffine> channels;  // on axis 1
    // All that the factors depend on.
    AffineForm form = kSignFactor;
    const struct tensor* sources[2] = {};
    float epsilon = 0;
};

// Whether any factor is not 1, and any offset not 0.
bool has_factors(const Vector<ChannelAffine>& channels);
bool has_offsets(const Vector<ChannelAffine>& channels);

// The tensor x of a node that may compute such a function; null: it computes none.
struct tensor* find_affine_input(const node& node);

// Reads the function of such a node, whose result has `rank` dimensions and these channels; false:
// it computes none that is known to be finite.
bool read_affine_node(const node& node, int rank, int channels, AffineNode* out_affine);

}  // namespace tengine
