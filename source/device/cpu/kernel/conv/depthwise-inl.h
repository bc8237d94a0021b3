// SPDX-License-Identifier: Apache-2.0
// The accumulators of neighbouring pixels of a depthwise convolution, for all element formats.
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

// A value for each of kPixels pixels. Members stay in registers; the elements of an array would
// not.
template <class Value, int kPixels>
struct PixelValues
{
    PixelValues<Value, kPixels - 1> before;
    Value last;

    // GCC 12 does not compile an implicit constructor for the instruction set of the vectors.
    HWY_INLINE PixelValues() {}
    template <int kPixel>
    HWY_INLINE Value& at()
    {
        if constexpr (kPixel == kPixels - 1)
            return last;
        else
            return before.template at<kPixel>();
    }
    // Calls visit(pixel, value) for each value; `pixel` is a compile-time constant.
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
