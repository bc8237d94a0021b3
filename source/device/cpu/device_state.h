// SPDX-License-Identifier: Apache-2.0
// The state of the CPU device from init to release_device: device->privacy.
#pragma once

#include "device/cpu/kernel_list.h"
#ifndef TENGINE_MINIMAL
#include "device/cpu/plan/timing.h"
#endif
#include "tengine/device.h"

namespace tengine::cpu {

struct DeviceState : Allocated
{
    KernelList kernels;
#ifndef TENGINE_MINIMAL
    KernelList references;  // the kernels that remain with the option CPU.kernels=reference
    TimedKernels timed;
#endif
};

inline DeviceState& state_of(struct device* device)
{
    return *static_cast<DeviceState*>(device->privacy);
}

inline KernelList& kernels_of(struct device* device)
{
    return state_of(device).kernels;
}

// Returns the kernels that the options of a part's graph allow.
const KernelList& kernels_of(struct device* device, const graph& graph);

}  // namespace tengine::cpu
