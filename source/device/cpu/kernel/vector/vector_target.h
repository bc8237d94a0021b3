// SPDX-License-Identifier: Apache-2.0
// The instruction sets that the Highway kernels are compiled for and that this processor has.
#pragma once

namespace tengine::cpu {

// The number of instruction sets; 0 in a build without Highway.
int get_vector_target_num();

// Highway's name ("AVX3", "NEON"), best first: kernels use number 0. NULL out of range.
const char* get_vector_target_name(int index);

// Makes kernels use the best one. To be called before the first kernel.
void choose_vector_target();

// For tests: kernels use this one from now on, in all threads; -1 is the best again. No kernel may
// be running.
void force_vector_target(int index);

}  // namespace tengine::cpu
