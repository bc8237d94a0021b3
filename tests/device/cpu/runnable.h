// SPDX-License-Identifier: Apache-2.0
// Instruction sets that have kernels of their own beside the vectors, for tests of these kernels.
#pragma once

#include <cstdint>
#include <vector>

#include "base/cpu.h"

namespace tengine::cpu {

struct SpecialInstructions
{
    const char* word;
    const char* kernel;  // the name of it
    uint64_t feature;    // of base/cpu.h; all of them are needed
    bool is_compiled;
    // This processor has them, which was found by running them. The operating system may know less,
    // as Linux for 32-bit Arm does before version 6.2.
    bool runs;
};

// In the order in which their kernels are asked.
const std::vector<SpecialInstructions>& list_special_instructions();

// The features of get_cpu_features(), and those that run.
uint64_t find_runnable_features();

// While it lives, the processor says to have these features and no others.
class ForcedFeatures
{
  public:
    explicit ForcedFeatures(uint64_t features) { force_cpu_features(&features); }
    ~ForcedFeatures() { force_cpu_features(nullptr); }
    ForcedFeatures(const ForcedFeatures&) = delete;
    ForcedFeatures& operator=(const ForcedFeatures&) = delete;
};

}  // namespace tengine::cpu
