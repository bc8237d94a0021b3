// SPDX-License-Identifier: Apache-2.0
// Activations that kernels fuse, in place on a stretch that they have just written. Included once
// for each instruction set.
#include <cstdint>

#include "device/cpu/kernel_table.h"

// clang-format off
#if defined(TENGINE_CPU_ACTIVATION) == defined(HWY_TARGET_TOGGLE)
#ifdef TENGINE_CPU_ACTIVATION
#undef TENGINE_CPU_ACTIVATION
#else
#define TENGINE_CPU_ACTIVATION
#endif
// clang-format on

#include <hwy/highway.h>

#include "device/cpu/kernel/function-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tengine::cpu::HWY_NAMESPACE {

// What Fusion::activation says, on `count` floats.
inline void activate(const Fusion& fusion, float* data, int64_t count)
{
    switch (fusion.activation) {
        case Activation::kNone:
            return;
        case Activation::kClip:
            return map<ClipFunction>(data, data, count, fusion.parameters);
        case Activation::kLeakyRelu:
            return map<LeakyReluFunction>(data, data, count, fusion.parameters);
        case Activation::kSigmoid:
            return map<SigmoidFunction>(data, data, count, nullptr);
        case Activation::kSilu:
            return map<SiluFunction>(data, data, count, nullptr);
        case Activation::kHardSigmoid:
            return map<HardSigmoidFunction>(data, data, count, fusion.parameters);
        case Activation::kHardSwish:
            return map<HardSwishFunction>(data, data, count, nullptr);
        case Activation::kTanh:
            return map<TanhFunction>(data, data, count, nullptr);
        case Activation::kGelu:
            return map<GeluFunction>(data, data, count, nullptr);
    }
}

}  // namespace tengine::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif  // TENGINE_CPU_ACTIVATION
