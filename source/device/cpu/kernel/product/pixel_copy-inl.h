// SPDX-License-Identifier: Apache-2.0
// The copy of pixels that all element types have (PixelFunctions::copy). Included once for each
// instruction set.
#include <algorithm>
#include <cstdint>

#include "device/cpu/kernel/product/pixel_problem.h"

// clang-format off
#if defined(TENGINE_CPU_PIXEL_COPY) == defined(HWY_TARGET_TOGGLE)
#ifdef TENGINE_CPU_PIXEL_COPY
#undef TENGINE_CPU_PIXEL_COPY
#else
#define TENGINE_CPU_PIXEL_COPY
#endif
// clang-format on

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tengine::cpu::HWY_NAMESPACE {

// `convert` has the elements that it reads, how many, and where it writes them.
template <class From, class To, class Convert>
HWY_INLINE void copy_pixels(const PixelProblem& problem, const From* from, int64_t step,
                            int64_t pixels, To pad, To* to, const Convert& convert)
{
    const int64_t channels = problem.input_channels, to_step = problem.pixel_step;
    if (!from)
        std::fill_n(to, pixels * to_step, pad);
    else if (step == channels && to_step == channels)
        convert(from, pixels * channels, to);
    else
        for (int64_t i = 0; i < pixels; ++i)
            convert(from + i * step, channels, to + i * to_step);
}

}  // namespace tengine::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif  // TENGINE_CPU_PIXEL_COPY
