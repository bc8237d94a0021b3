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
    Vector<Labels> terms;  // the labels of each operand, once
    Labels output;         // those of the result
    Vector<double> sizes;  // each label's
    int most_kept;         // labels that a product in between may have
};

// The axes that the product of two terms keeps, when `others` are still to come or wanted.
inline Labels keep_labels(Labels a, Labels b, Labels others)
{
    return (a | b) & others;
}

// The pairs in turn; the product of each is one more term. Up to eight operands they are those with
// the fewest multiply-accumulates in all, beyond that the cheapest pair at a time comes first.
// False when products in between have more labels than they may.
bool find_contraction_order(const Contraction& contraction, Vector<std::pair<int, int>>* out_pairs);

}  // namespace tengine
