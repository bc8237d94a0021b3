// SPDX-License-Identifier: Apache-2.0
// Compares a result with the expected one and returns a message. For the conformance and the model
// tests.
#pragma once

#include <string>

#include "tensor_file/tensor.h"

namespace tengine::conformance {

// Element types and shapes must be the same; then integers and booleans must be equal, and
// |actual - expected| <= absolute + relative * |expected| must hold for floats, NaN equal to NaN:
//
//             relative  absolute
//     fp32    1e-3      1e-7      the ONNX suite's
//     fp16    1e-3      1e-7      the suite's; one rounding is 4.9e-4
//     bf16    1e-2      1e-7      the suite truncates, which costs 7.8e-3
//     fp64    1e-7      1e-14     tighter: the suite allows 1e-3
//
// Returns "" if all of that is so.
std::string compare(const tools::Tensor& actual, const tools::Tensor& expected);
// Compares element types and shapes only.
std::string compare_form(const tools::Tensor& actual, const tools::Tensor& expected);

}  // namespace tengine::conformance
