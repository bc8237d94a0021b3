// SPDX-License-Identifier: Apache-2.0
// Compares with the largest element. The contract is in difference.h.
#include "difference.h"

#include <algorithm>
#include <cmath>

#include "tensor_file/failure.h"

namespace tengine::ort_host {

Difference measure(const tools::Tensor& actual, const tools::Tensor& expected)
{
    if (actual.data_type != expected.data_type)
        throw tools::Failure("'" + actual.name + "' has another type than expected");
    if (actual.shape != expected.shape)
        throw tools::Failure("'" + actual.name + "' is " + tools::shape_text(actual.shape) +
                             ", expected is " + tools::shape_text(expected.shape));
    Difference difference;
    for (size_t i = 0; i < expected.element_number(); ++i) {
        const double a = tools::get_element(actual, i), b = tools::get_element(expected, i);
        if (std::isfinite(b)) difference.magnitude = std::max(difference.magnitude, std::fabs(b));
        if (a == b || (std::isnan(a) && std::isnan(b))) continue;
        const double distance = std::fabs(a - b);
        difference.largest =
            std::isnan(distance) ? INFINITY : std::max(difference.largest, distance);
    }
    return difference;
}

// Returns a tolerance by the type. The error of a sum of n products in fp32 is about sqrt(n) * 6e-8
// of its terms: 4e-6 for the 4,608 of a 3x3 convolution of 512 channels. Fifty consecutive layers
// of this kind, with independent errors, make 3e-5, and layers that divide by small numbers three
// times that. A sum in fp16 or bf16 is rounded once, by 4.9e-4 and 3.9e-3; five consecutive nodes
// make twice as much.
double default_tolerance(int data_type)
{
    switch (data_type) {
        case TENGINE_DT_FP32:
        case TENGINE_DT_FP64:
            return 1e-4;
        case TENGINE_DT_FP16:
            return 1e-3;
        case TENGINE_DT_BF16:
            return 8e-3;
        default:
            return 0;
    }
}

}  // namespace tengine::ort_host
