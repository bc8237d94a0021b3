// SPDX-License-Identifier: Apache-2.0
// Compares outputs with expected ones.
#pragma once

#include <optional>
#include <string>

#include "tensor_file/tensor.h"

namespace tengine::tools {

// A number agrees with the expected one e when it differs by no more than absolute + relative *
// |e|, or when both are NaN or the same infinity.
struct Tolerance
{
    double relative = 0;
    double absolute = 0;
};

// The tolerance for a run in this precision (TENGINE_MODE_*) and an output of this type: none for
// integers, else the sum of the arithmetic's rounding errors in a deep network.
Tolerance usual_tolerance(int data_type, int precision);

// "0.001" or "0.001,0.00001": relative, absolute; one number is for both. Throws Failure.
Tolerance parse_tolerance(const std::string& text);

struct Match
{
    bool agrees = false;
    std::string text;  // how well they agree, or the largest difference and its place
};

// Element by element; real numbers of any types can be compared, others need the same type.
Match compare(const Tensor& output, const Tensor& expected, const Tolerance& tolerance);

}  // namespace tengine::tools
