// SPDX-License-Identifier: Apache-2.0
// The speed of this device's kernels on this machine, for estimate.cc.
#pragma once

#include "base/minimal.h"
#include "device/cpu/kernel_list.h"

namespace tengine::cpu {

// Minimal builds use the rate of fp32 for all products.
constexpr bool kMeasuresTypes = !IS_MINIMAL;

// The work per second of one thread, and the kernel that it was measured with.
struct MachineRate
{
    double per_second;
    const Kernel* kernel;
};

// The first call measures each rate with a node, which takes about a millisecond; later calls
// return the same. Any thread. `data_type` is TENGINE_DT_FP32, _FP16, _BF16, or _INT8, which stands
// for int8 and uint8.

// Measures multiply-accumulates of a matrix product, with Conv, or QLinearConv for int8.
const MachineRate& measure_product(const KernelList& kernels, int data_type);
// Measures multiply-accumulates of a depthwise Conv or QLinearConv.
const MachineRate& measure_depthwise(const KernelList& kernels, int data_type);
// Measures elements of a plain loop: the taps of an average pool of fp32.
const MachineRate& measure_step(const KernelList& kernels);

}  // namespace tengine::cpu
