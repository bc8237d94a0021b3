// SPDX-License-Identifier: Apache-2.0
// The description of the instruction set that the fast kernels use.
#pragma once

namespace tengine::cpu {

// "SVE2 i8mm dotprod fhm": the vectors (vector_target.h; "plain C++" in a build without), then the
// extensions with kernels of their own, which minimal builds do not list. Constant.
const char* get_instruction_set_text();

}  // namespace tengine::cpu
