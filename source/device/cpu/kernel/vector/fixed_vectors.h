// SPDX-License-Identifier: Apache-2.0
// For kernels that keep vectors in arrays and structures, which vectors without a fixed size do not
// allow; to be included before Highway's headers. Processors with such vectors use the target of
// the build, which is NEON on AArch64.
#pragma once

#ifndef HWY_DISABLED_TARGETS  // which the build sets on x86
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#endif
