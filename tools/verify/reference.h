// SPDX-License-Identifier: Apache-2.0
// The results of a case, computed by the plain kernels of the CPU from the same values, in fp64
// where these kernels take it.
#pragma once

#include <vector>

#include "cases/case.h"
#include "verify/bound.h"

namespace tengine::tools {

// `inputs`: as the device gets them, in `data_type`. Throws Failure when the reference does not
// take the case.
Expected compute_reference(const Case& of, int data_type, const std::vector<Tensor>& inputs);

}  // namespace tengine::tools
