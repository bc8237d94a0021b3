// SPDX-License-Identifier: Apache-2.0
// The cost of a node on the CPU device, before it is compiled.
#pragma once

#include "device/cpu/kernel_list.h"

namespace tengine::cpu {

// Returns the time of one run of the node in ms with the threads that its graph requests; 0 if its
// shapes are known only at run time. The first call measures the machine, which takes some
// milliseconds. Any thread.
double estimate_ms(const KernelList& kernels, const node& node);

}  // namespace tengine::cpu
