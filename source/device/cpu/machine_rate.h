// SPDX-License-Identifier: Apache-2.0
// How fast this machine runs kernels of this device, for estimate.cc.
#pragma once

#include "device/cpu/kernel_list.h"

namespace tengine::cpu {

// Work per second of one thread, and the kernels it was measured with.
struct MachineRates
{
    double product;  // multiply-accumulates of a matrix product as Conv makes it
    const Kernel* product_kernel;
    double depthwise;  // multiply-accumulates of a depthwise Conv
    const Kernel* depthwise_kernel;
    double step;  // elements of a plain loop: the taps of an average pool
};

// Measured with a node for each rate at the first call, which takes some milliseconds; then the
// same for the life of the process. Any thread.
const MachineRates& measure_machine(const KernelList& kernels);

}  // namespace tengine::cpu
