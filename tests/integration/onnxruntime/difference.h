// SPDX-License-Identifier: Apache-2.0
// The distance of results from those of other kernels, which sum in another order.
#pragma once

#include "tensor_file/tensor.h"

namespace tengine::ort_host {

struct Difference
{
    double largest = 0;    // between two elements; infinite if only one is NaN or infinite
    double magnitude = 0;  // of the largest finite expected element
};

// Throws Failure if types or shapes differ.
Difference measure(const tools::Tensor& actual, const tools::Tensor& expected);

// Returns the part of the magnitude by which results of a type may differ: 0 for integers.
double default_tolerance(int data_type);

}  // namespace tengine::ort_host
