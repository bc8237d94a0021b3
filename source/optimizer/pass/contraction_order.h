// SPDX-License-Identifier: Apache-2.0
// The order in which the operands of an Einsum are multiplied, two at a time.
#pragma once

#include <cstdint>
#include <utility>

#include "base/containers.hpp"

namespace tengine {

// A set of labels: bit i is label i.
using Labels = uint64_t;

struct Contraction
{
    Vector<Labels> terms;  // labels of each operand, once
    Labels output;         // labels of the result
    Vector<double> sizes;  // of each label
    int most_kept;         // limit of labels of an intermediate product
};

// The labels that the product of two terms keeps, if `others` are those of later terms and the
// result.
inline Labels keep_labels(Labels a, Labels b, Labels others)
{
    return (a | b) & others;
}

// The pairs in order; each product is a further term. Up to eight operands they need the fewest
// multiply-accumulates, beyond that the cheapest pair is next. False when an intermediate product
// exceeds the limit of labels.
bool find_contraction_order(const Contraction& contraction, Vector<std::pair<int, int>>* out_pairs);

}  // namespace tengine
