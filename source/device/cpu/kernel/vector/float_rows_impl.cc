// SPDX-License-Identifier: Apache-2.0
// See float_rows.h.
// Limits: the bandwidth of L1.
// Accuracy: bit by bit that of base/half.h, except that a signalling NaN of bf16 stays one.
#include "device/cpu/kernel/vector/float_rows.h"

// clang-format off
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "device/cpu/kernel/vector/float_rows_impl.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include "device/cpu/kernel/vector/elements-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tengine::cpu::HWY_NAMESPACE {

void widen_fp16(const void* from, int64_t count, float* to)
{
    load_floats(static_cast<const Half*>(from), count, to);
}

void widen_bf16(const void* from, int64_t count, float* to)
{
    load_floats(static_cast<const BFloat16*>(from), count, to);
}

void narrow_fp16(const float* from, int64_t count, void* to)
{
    store_floats(from, count, static_cast<Half*>(to));
}

void narrow_bf16(const float* from, int64_t count, void* to)
{
    store_floats(from, count, static_cast<BFloat16*>(to));
}

}  // namespace tengine::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tengine::cpu {

HWY_EXPORT(widen_fp16);
HWY_EXPORT(widen_bf16);
HWY_EXPORT(narrow_fp16);
HWY_EXPORT(narrow_bf16);

FloatRows find_float_rows(int data_type)
{
    if (data_type == TENGINE_DT_FP16)
        return {HWY_DYNAMIC_DISPATCH(widen_fp16), HWY_DYNAMIC_DISPATCH(narrow_fp16)};
    return {HWY_DYNAMIC_DISPATCH(widen_bf16), HWY_DYNAMIC_DISPATCH(narrow_bf16)};
}

}  // namespace tengine::cpu
#endif  // HWY_ONCE
