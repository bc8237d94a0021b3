// SPDX-License-Identifier: Apache-2.0
// Instruction sets with special kernels besides the vectors, for tests of these kernels.
#pragma once

#include <cstdint>
#include <vector>

#include "base/cpu.h"

namespace tengine::cpu {

struct SpecialInstructions
{
    const char* word;
    const char* kernel;  // its name
    uint64_t feature;    // of base/cpu.h; all are required
    bool is_compiled;
    // Whether this processor has them, which was found by running them. The operating system may
    // not report them, as Linux for 32-bit Arm before version 6.2.
    bool runs;
};

// In the order in which their kernels are asked.
const std::vector<SpecialInstructions>& list_special_instructions();

// Returns the features of get_cpu_features(), and those that run.
uint64_t find_runnable_features();

// Makes the processor report these features and no others during its lifetime.
class ForcedFeatures
{
  public:
    explicit ForcedFeatures(uint64_t features) { force_cpu_features(&features); }
    ~ForcedFeatures() { force_cpu_features(nullptr); }
    ForcedFeatures(const ForcedFeatures&) = delete;
    ForcedFeatures& operator=(const ForcedFeatures&) = delete;
};

}  // namespace tengine::cpu
