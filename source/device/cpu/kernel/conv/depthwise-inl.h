// SPDX-License-Identifier: Apache-2.0
// The accumulators of pixels side by side of a depthwise convolution, of any element format.
// Included once for each instruction set.
#include <type_traits>

// clang-format off
#if defined(TENGINE_CPU_DEPTHWISE_PARTS) == defined(HWY_TARGET_TOGGLE)
#ifdef TENGINE_CPU_DEPTHWISE_PARTS
#undef TENGINE_CPU_DEPTHWISE_PARTS
#else
#define TENGINE_CPU_DEPTHWISE_PARTS
#endif
// clang-format on

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tengine::cpu::HWY_NAMESPACE {

// A value for each of kPixels pixels, in registers, where the elements of an array would not be.
template <class Value, int kPixels>
struct PixelValues
{
    PixelValues<Value, kPixels - 1> before;
    Value last;

    // An implicit constructor is not compiled for the instruction set of the vectors (gcc 12).
    HWY_INLINE PixelValues() {}
    template <int kPixel>
    HWY_INLINE Value& at()
    {
        if constexpr (kPixel == kPixels - 1)
            return last;
        else
            return before.template at<kPixel>();
    }
    // Calls visit(pixel, value) for each of them, `pixel` being a constant.
    template <class Visit>
    HWY_INLINE void visit(const Visit& visit)
    {
        before.visit(visit);
        visit(std::integral_constant<int, kPixels - 1>(), last);
    }
};

template <class Value>
struct PixelValues<Value, 0>
{
    HWY_INLINE PixelValues() {}
    template <class Visit>
    HWY_INLINE void visit(const Visit&)
    {
    }
};

}  // namespace tengine::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif  // TENGINE_CPU_DEPTHWISE_PARTS
