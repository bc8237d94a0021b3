// SPDX-License-Identifier: Apache-2.0
// Copies of float and 8-bit tensors between layouts, as kernels of separate steps.
#pragma once

#include "device/cpu/kernel_context.h"

namespace tengine::cpu {

struct Kernel;

// Copies input 0, which has the other layout, to output 0 in this one: kPlanar or kChannelsLast.
const Kernel* find_layout_kernel(Layout layout);

// Passes input 0 unchanged to output 0, in the same memory if possible. Null in a build without
// vectors, as is the other.
const Kernel* find_view_kernel();

}  // namespace tengine::cpu
