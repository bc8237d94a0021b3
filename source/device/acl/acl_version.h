// SPDX-License-Identifier: Apache-2.0
// The differences between versions of the Arm Compute Library, in one place. ACL_VERSION is 100
// times the first number and the second, 2008 for Debian's 20.08 and 5302 for 53.2; CMakeLists.txt
// reads it out of the library. Only 20.08 has been compiled; the rest is from the library's change
// log.
#pragma once

#include <arm_compute/core/CPP/ICPPKernel.h>
#include <arm_compute/core/Error.h>
#include <arm_compute/core/ITensor.h>
#include <arm_compute/core/ITensorPack.h>
#include <arm_compute/core/KernelDescriptors.h>
#include <arm_compute/core/TensorInfo.h>
#include <arm_compute/core/Types.h>
#include <arm_compute/core/Window.h>
#include <arm_compute/runtime/IFunction.h>
#include <arm_compute/runtime/IScheduler.h>
#include <arm_compute/runtime/Scheduler.h>
#include <arm_compute/runtime/Tensor.h>

// Later versions have a folder for the parameters of functions.
#if __has_include(<arm_compute/function_info/ActivationLayerInfo.h>)
#include <arm_compute/function_info/ActivationLayerInfo.h>
#include <arm_compute/function_info/FullyConnectedLayerInfo.h>
#include <arm_compute/function_info/GEMMInfo.h>
#endif

// 21.05 removed the functions for computer vision, and with them tables of 256 bytes.
#if __has_include(<arm_compute/runtime/NEON/functions/NETableLookup.h>)
#define ACL_HAS_TABLE_LOOKUP 1
#else
#define ACL_HAS_TABLE_LOOKUP 0
#endif

namespace tengine::acl {

// Since 21.05 functions may share a kernel, so the window is an argument of the call.
#if ACL_VERSION >= 2105
#define ACL_WINDOW_PARAMETER const arm_compute::Window &window,
#define ACL_WINDOW(kernel) window
#else
#define ACL_WINDOW_PARAMETER
#define ACL_WINDOW(kernel) (kernel)->window()
#endif

}  // namespace tengine::acl
