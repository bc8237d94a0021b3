// SPDX-License-Identifier: Apache-2.0
// Cases of the table that tests and benchmarks of kernels have, benchmark/kernel_case.h.
#pragma once

#include <vector>

#include "benchmark/kernel_case.h"
#include "cases/case.h"

namespace tengine::tools {

// Input 0 is fed, the others are constants.
Case from_kernel_case(const KernelCase& of, const Types& types);

}  // namespace tengine::tools
