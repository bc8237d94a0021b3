// SPDX-License-Identifier: Apache-2.0
// Copies of float and byte tensors between layouts, as kernels of steps of their own.
#pragma once

#include "device/cpu/kernel_table.h"

namespace tengine::cpu {

// Input 0, which lies in the other layout, as output 0 in this one: kPlanar or kChannelsLast.
const Kernel* find_layout_kernel(Layout layout);

// Input 0 as it lies, as output 0; where it may, in the same memory. Null in a build without
// vectors, as is the other.
const Kernel* find_view_kernel();

}  // namespace tengine::cpu
