// SPDX-License-Identifier: Apache-2.0
// The inputs of a case as tensors.
#pragma once

#include <cstdint>
#include <vector>

#include "cases/case.h"
#include "tensor_file/tensor.h"

namespace tengine::tools {

// Seeded values of the inputs in a type, in the order of the case; those that are absent are empty.
// Floats are numbers that `value_type` holds exactly: that of a run in another precision, else the
// same type. Throws Failure.
std::vector<Tensor> make_inputs(const Case& of, int data_type, int value_type, uint64_t seed);

}  // namespace tengine::tools
