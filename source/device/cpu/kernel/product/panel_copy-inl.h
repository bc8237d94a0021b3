// SPDX-License-Identifier: Apache-2.0
// Panels of matrices that are packed in a run, as tiles of fp32 read them (pixels_f32.h): for each
// element of the depth those of `width` columns. Included once for each instruction set.
#include <algorithm>
#include <cstdint>

// clang-format off
#if defined(TENGINE_CPU_PANEL_COPY) == defined(HWY_TARGET_TOGGLE)
#ifdef TENGINE_CPU_PANEL_COPY
#undef TENGINE_CPU_PANEL_COPY
#else
#define TENGINE_CPU_PANEL_COPY
#endif
// clang-format on

#include <hwy/highway.h>

#include "device/cpu/kernel/vector/elements-inl.h"
#include "device/cpu/kernel/vector/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tengine::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Four lines in one piece as columns of a panel. Lines that are not there are those of the last.
template <class T>
HWY_INLINE void pack_four_lines(const T* lines, int64_t step, int64_t present, int64_t depth,
                                int64_t width, float* panel)
{
    const hn::CappedTag<float, 4> d;
    const T* rows[4];
    for (int64_t i = 0; i < 4; ++i)
        rows[i] = lines + std::min(i, present - 1) * step;
    int64_t k = 0;
    if (hn::Lanes(d) == 4)
        for (; k + 4 <= depth; k += 4) {
            HWY_ALIGN float columns[16];
            hn::StoreInterleaved4(load_elements(d, rows[0] + k), load_elements(d, rows[1] + k),
                                  load_elements(d, rows[2] + k), load_elements(d, rows[3] + k), d,
                                  columns);
            for (int64_t i = 0; i < 4; ++i)
                hn::StoreU(hn::Load(d, columns + 4 * i), d, panel + (k + i) * width);
        }
    for (; k < depth; ++k)
        for (int64_t i = 0; i < 4; ++i)
            panel[k * width + i] = rows[i][k];
}

// The transpose of `left` lines or more that are `line_step` apart, their elements `step`. Columns
// beyond the last are copies of it.
template <class T>
void pack_lines_across(const T* lines, int64_t line_step, int64_t step, int64_t left, int64_t depth,
                       int64_t width, float* panel)
{
    const auto line = [&](int64_t i) { return lines + std::min(i, left - 1) * line_step; };
    if (step == 1 && width % 4 == 0) {
        for (int64_t i = 0; i < width; i += 4)
            pack_four_lines(line(i), line_step, std::max<int64_t>(left - i, 1), depth, width,
                            panel + i);
        return;
    }
    for (int64_t k = 0; k < depth; ++k)
        for (int64_t i = 0; i < width; ++i)
            panel[k * width + i] = line(i)[k * step];
}

// `depth` lines of `left` elements or more; columns beyond the last are 0.
template <class T>
void pack_lines(const T* lines, int64_t step, int64_t left, int64_t depth, int64_t width,
                float* panel)
{
    const Floats d;
    const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
    for (int64_t k = 0; k < depth; ++k, panel += width, lines += step) {
        int64_t i = 0;
        for (; i + lanes <= std::min(left, width); i += lanes)
            hn::StoreU(load_elements(d, lines + i), d, panel + i);
        for (; i < width; i += lanes)
            hn::StoreU(i < left ? load_lanes(lines + i, left - i) : hn::Zero(d), d, panel + i);
    }
}

}  // namespace tengine::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif  // TENGINE_CPU_PANEL_COPY
