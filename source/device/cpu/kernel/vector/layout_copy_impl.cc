// SPDX-License-Identifier: Apache-2.0
// NCHW to NHWC and back: a transposition of channels and positions for each image. Four channels,
// or the three of a picture, are interleaved at once. Limits: stores of 16 bytes; memory bandwidth
// for three channels.
#include <algorithm>
#include <cstdint>

#include "device/cpu/kernel/vector/layout_copy.h"
#include "device/cpu/kernel_table.h"
#include "device/cpu/parallel.h"
#include "device/cpu/plan/layout.h"

// clang-format off
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "device/cpu/kernel/vector/layout_copy_impl.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace tengine::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

constexpr int64_t kGroup = 4;  // channels

// Positions begin..end-1 of `plane`.
template <class T>
void interleave(const T* planar, int64_t plane, int64_t channels, int64_t begin, int64_t end,
                T* last)
{
    const hn::ScalableTag<T> d;
    const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
    HWY_ALIGN T groups[kGroup * HWY_MAX_BYTES / sizeof(T)];
    int64_t pixel = begin;
    for (; pixel + lanes <= end; pixel += lanes) {
        const T* from = planar + pixel;
        T* to = last + pixel * channels;
        if (channels == 3) {
            hn::StoreInterleaved3(hn::LoadU(d, from), hn::LoadU(d, from + plane),
                                  hn::LoadU(d, from + 2 * plane), d, to);
            continue;
        }
        int64_t channel = 0;
        for (; channel + kGroup <= channels; channel += kGroup) {
            const T* rows = from + channel * plane;
            hn::StoreInterleaved4(hn::LoadU(d, rows), hn::LoadU(d, rows + plane),
                                  hn::LoadU(d, rows + 2 * plane), hn::LoadU(d, rows + 3 * plane), d,
                                  groups);
            for (int64_t i = 0; i < lanes; ++i)
                std::copy_n(groups + i * kGroup, kGroup, to + i * channels + channel);
        }
        for (; channel < channels; ++channel)
            for (int64_t i = 0; i < lanes; ++i)
                to[i * channels + channel] = from[channel * plane + i];
    }
    for (; pixel < end; ++pixel)
        for (int64_t channel = 0; channel < channels; ++channel)
            last[pixel * channels + channel] = planar[channel * plane + pixel];
}

template <class T>
void separate(const T* last, int64_t plane, int64_t channels, int64_t begin, int64_t end, T* planar)
{
    const hn::ScalableTag<T> d;
    const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
    HWY_ALIGN T groups[kGroup * HWY_MAX_BYTES / sizeof(T)];
    int64_t pixel = begin;
    for (; pixel + lanes <= end; pixel += lanes) {
        const T* from = last + pixel * channels;
        T* to = planar + pixel;
        int64_t channel = 0;
        for (; channel + kGroup <= channels; channel += kGroup) {
            for (int64_t i = 0; i < lanes; ++i)
                std::copy_n(from + i * channels + channel, kGroup, groups + i * kGroup);
            hn::Vec<decltype(d)> a, b, c, e;
            hn::LoadInterleaved4(d, groups, a, b, c, e);
            T* rows = to + channel * plane;
            hn::StoreU(a, d, rows);
            hn::StoreU(b, d, rows + plane);
            hn::StoreU(c, d, rows + 2 * plane);
            hn::StoreU(e, d, rows + 3 * plane);
        }
        for (; channel < channels; ++channel)
            for (int64_t i = 0; i < lanes; ++i)
                to[channel * plane + i] = from[i * channels + channel];
    }
    for (; pixel < end; ++pixel)
        for (int64_t channel = 0; channel < channels; ++channel)
            planar[channel * plane + pixel] = last[pixel * channels + channel];
}

void interleave_floats(const float* planar, int64_t plane, int64_t channels, int64_t begin,
                       int64_t end, float* last)
{
    interleave(planar, plane, channels, begin, end, last);
}

void interleave_halves(const uint16_t* planar, int64_t plane, int64_t channels, int64_t begin,
                       int64_t end, uint16_t* last)
{
    interleave(planar, plane, channels, begin, end, last);
}

void interleave_bytes(const uint8_t* planar, int64_t plane, int64_t channels, int64_t begin,
                      int64_t end, uint8_t* last)
{
    interleave(planar, plane, channels, begin, end, last);
}

void separate_floats(const float* last, int64_t plane, int64_t channels, int64_t begin, int64_t end,
                     float* planar)
{
    separate(last, plane, channels, begin, end, planar);
}

void separate_halves(const uint16_t* last, int64_t plane, int64_t channels, int64_t begin,
                     int64_t end, uint16_t* planar)
{
    separate(last, plane, channels, begin, end, planar);
}

void separate_bytes(const uint8_t* last, int64_t plane, int64_t channels, int64_t begin,
                    int64_t end, uint8_t* planar)
{
    separate(last, plane, channels, begin, end, planar);
}

}  // namespace tengine::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tengine::cpu {
namespace {

HWY_EXPORT(interleave_floats);
HWY_EXPORT(interleave_halves);
HWY_EXPORT(interleave_bytes);
HWY_EXPORT(separate_floats);
HWY_EXPORT(separate_halves);
HWY_EXPORT(separate_bytes);

constexpr int64_t kGrain = 16384;  // elements

template <class T, class Transpose>
int copy(KernelContext& context, Transpose transpose)
{
    const tensor& input = *context.input(0);
    const int64_t channels = input.dims[1], plane = int64_t{input.dims[2]} * input.dims[3];
    const int64_t pixels = plane * input.dims[0];
    const T* from = static_cast<const T*>(input.data);
    T* to = static_cast<T*>(context.output(0)->data);
    const auto work = [&](int64_t begin, int64_t end, int) {
        while (begin < end) {
            const int64_t image = begin / plane, first = begin % plane;
            const int64_t last = std::min(plane, first + end - begin);
            transpose(from + image * plane * channels, plane, channels, first, last,
                      to + image * plane * channels);
            begin += last - first;
        }
    };
    parallel_for(context.pool, pixels, std::max<int64_t>(kGrain / channels, 1), work);
    return TENGINE_OK;
}

#ifdef TENGINE_FP32_ONLY
constexpr bool kHasHalves = false;
#else
constexpr bool kHasHalves = true;
#endif

int run_interleave(KernelContext& context)
{
    const int size = context.input(0)->elem_size;
    if (size == 1) return copy<uint8_t>(context, HWY_DYNAMIC_DISPATCH(interleave_bytes));
    if (kHasHalves && size == 2)
        return copy<uint16_t>(context, HWY_DYNAMIC_DISPATCH(interleave_halves));
    return copy<float>(context, HWY_DYNAMIC_DISPATCH(interleave_floats));
}

int run_separate(KernelContext& context)
{
    const int size = context.input(0)->elem_size;
    if (size == 1) return copy<uint8_t>(context, HWY_DYNAMIC_DISPATCH(separate_bytes));
    if (kHasHalves && size == 2)
        return copy<uint16_t>(context, HWY_DYNAMIC_DISPATCH(separate_halves));
    return copy<float>(context, HWY_DYNAMIC_DISPATCH(separate_floats));
}

int run_view(KernelContext& context)
{
    const uint8_t* from = context.input(0)->u8;
    uint8_t* to = context.output(0)->u8;
    if (from == to) return TENGINE_OK;
    const int64_t bytes = context.output(0)->elem_num * context.output(0)->elem_size;
    parallel_for(context.pool, bytes, kGrain, [=](int64_t begin, int64_t end, int) {
        std::copy(from + begin, from + end, to + begin);
    });
    return TENGINE_OK;
}

}  // namespace

void copy_pixels_last(const float* planar, int64_t plane, int64_t channels, int64_t begin,
                      int64_t end, float* last)
{
    HWY_DYNAMIC_DISPATCH(interleave_floats)(planar, plane, channels, begin, end, last);
}

void copy_pixels_planar(const float* last, int64_t plane, int64_t channels, int64_t begin,
                        int64_t end, float* planar)
{
    HWY_DYNAMIC_DISPATCH(separate_floats)(last, plane, channels, begin, end, planar);
}

const Kernel* find_view_kernel()
{
    static constexpr Kernel kView = {"", "layout.x.view", nullptr, run_view, nullptr, 0};
    return &kView;
}

const Kernel* find_layout_kernel(Layout layout)
{
    static constexpr Kernel kInterleave = {"", "layout.x.nhwc", nullptr, run_interleave};
    static constexpr Kernel kSeparate = {"", "layout.x.nchw", nullptr, run_separate};
    return layout == Layout::kChannelsLast ? &kInterleave : &kSeparate;
}

}  // namespace tengine::cpu
#endif  // HWY_ONCE
