// SPDX-License-Identifier: Apache-2.0
// See activation.h. Accuracy: see elementwise.cc.
#include "device/cpu/kernel/vector/activation.h"
#include "device/cpu/kernel_table.h"

// clang-format off
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "device/cpu/kernel/vector/activation_impl.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include "device/cpu/kernel/vector/function-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tengine::cpu::HWY_NAMESPACE {

struct Rows
{
    const Fusion& fusion;
    float* data;
    int64_t row_num, step, count;

    // Operators that are not part of the build are not fused.
    template <class Function, bool kIsSelected>
    void map_all() const
    {
        if constexpr (kIsSelected)
            for (int64_t row = 0; row < row_num; ++row)
                map<Function>(data + row * step, data + row * step, count, fusion.parameters);
    }
};

void activate_rows(const Fusion& fusion, float* data, int64_t row_num, int64_t step, int64_t count)
{
    const Rows rows = {fusion, data, row_num, step, count};
    switch (fusion.activation) {
        case Activation::kNone:
            return;
        case Activation::kClip:
            return rows.map_all<ClipFunction, true>();
        case Activation::kLeakyRelu:
            return rows.map_all<LeakyReluFunction, is_selected("LeakyRelu")>();
        case Activation::kSigmoid:
            return rows.map_all<SigmoidFunction, is_selected("Sigmoid")>();
        case Activation::kSilu:
            return rows.map_all<SiluFunction, is_selected("Swish")>();
        case Activation::kHardSigmoid:
            return rows.map_all<HardSigmoidFunction, is_selected("HardSigmoid")>();
        case Activation::kHardSwish:
            return rows.map_all<HardSwishFunction, is_selected("HardSwish")>();
        case Activation::kTanh:
            return rows.map_all<TanhFunction, is_selected("Tanh")>();
        case Activation::kGelu:
            return rows.map_all<GeluFunction, is_selected("Gelu")>();
        case Activation::kGeluTanh:
            return rows.map_all<GeluTanhFunction, is_selected("Gelu")>();
        case Activation::kSwish:
            return rows.map_all<SwishFunction, is_selected("Swish")>();
    }
}

}  // namespace tengine::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tengine::cpu {

HWY_EXPORT(activate_rows);

void activate(const Fusion& fusion, float* data, int64_t rows, int64_t step, int64_t count)
{
    HWY_DYNAMIC_DISPATCH(activate_rows)(fusion, data, rows, step, count);
}

}  // namespace tengine::cpu
#endif  // HWY_ONCE
