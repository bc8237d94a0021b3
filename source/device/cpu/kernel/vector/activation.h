// SPDX-License-Identifier: Apache-2.0
// Activations that kernels fuse: they are applied to results that have just been stored.
#pragma once

#include <cstdint>

#include "device/cpu/kernel_context.h"

namespace tengine::cpu {

// Applies fusion.activation in place to `rows` rows of `count` floats, `step` floats apart.
void activate(const Fusion& fusion, float* data, int64_t rows, int64_t step, int64_t count);

// Whether a kernel that clips its results (Bounds of lanes-inl.h) has to call activate().
inline bool needs_activation_pass(const Fusion& fusion)
{
    return fusion.activation != Activation::kNone && fusion.activation != Activation::kClip;
}

}  // namespace tengine::cpu
