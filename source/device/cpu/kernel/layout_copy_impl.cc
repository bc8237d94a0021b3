// SPDX-License-Identifier: Apache-2.0
// N x C x H x W as N x H x W x C and back: a transposition of channels and pixels for each image.
// Four channels, or the three of a picture, are interleaved at once.
// Limits: stores of 16 bytes; memory bandwidth for three channels.
#include <algorithm>
#include <cstdint>

#include "device/cpu/parallel.h"
#include "device/cpu/plan/layout.h"

#ifdef TENGINE_HAVE_HIGHWAY
// clang-format off
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "device/cpu/kernel/layout_copy_impl.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace tengine::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Floats = hn::ScalableTag<float>;
using Vector = hn::Vec<Floats>;

constexpr int64_t kGroup = 4;  // channels

// Pixels begin..end-1 of `plane`.
void interleave(const float* planar, int64_t plane, int64_t channels, int64_t begin, int64_t end,
                float* last)
{
    const Floats d;
    const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
    HWY_ALIGN float groups[kGroup * HWY_MAX_BYTES / sizeof(float)];
    int64_t pixel = begin;
    for (; pixel + lanes <= end; pixel += lanes) {
        const float* from = planar + pixel;
        float* to = last + pixel * channels;
        if (channels == 3) {
            hn::StoreInterleaved3(hn::LoadU(d, from), hn::LoadU(d, from + plane),
                                  hn::LoadU(d, from + 2 * plane), d, to);
            continue;
        }
        int64_t channel = 0;
        for (; channel + kGroup <= channels; channel += kGroup) {
            const float* rows = from + channel * plane;
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

void separate(const float* last, int64_t plane, int64_t channels, int64_t begin, int64_t end,
              float* planar)
{
    const Floats d;
    const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
    HWY_ALIGN float groups[kGroup * HWY_MAX_BYTES / sizeof(float)];
    int64_t pixel = begin;
    for (; pixel + lanes <= end; pixel += lanes) {
        const float* from = last + pixel * channels;
        float* to = planar + pixel;
        int64_t channel = 0;
        for (; channel + kGroup <= channels; channel += kGroup) {
            for (int64_t i = 0; i < lanes; ++i)
                std::copy_n(from + i * channels + channel, kGroup, groups + i * kGroup);
            Vector a, b, c, e;
            hn::LoadInterleaved4(d, groups, a, b, c, e);
            float* rows = to + channel * plane;
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

}  // namespace tengine::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tengine::cpu {
namespace {

HWY_EXPORT(interleave);
HWY_EXPORT(separate);

constexpr int64_t kGrain = 16384;  // elements

template <class Transpose>
int copy(KernelContext& context, Transpose transpose)
{
    const tensor& from = *context.input(0);
    const int64_t channels = from.dims[1], plane = int64_t{from.dims[2]} * from.dims[3];
    const int64_t pixels = plane * from.dims[0];
    float* to = context.output(0)->f32;
    const auto work = [&](int64_t begin, int64_t end, int) {
        while (begin < end) {
            const int64_t image = begin / plane, first = begin % plane;
            const int64_t last = std::min(plane, first + end - begin);
            transpose(from.f32 + image * plane * channels, plane, channels, first, last,
                      to + image * plane * channels);
            begin += last - first;
        }
    };
    parallel_for(context.pool, pixels, std::max<int64_t>(kGrain / channels, 1), work);
    return TENGINE_OK;
}

int run_interleave(KernelContext& context)
{
    return copy(context, HWY_DYNAMIC_DISPATCH(interleave));
}

int run_separate(KernelContext& context)
{
    return copy(context, HWY_DYNAMIC_DISPATCH(separate));
}

int run_view(KernelContext& context)
{
    const float* from = context.input(0)->f32;
    float* to = context.output(0)->f32;
    if (from == to) return TENGINE_OK;
    parallel_for(
        context.pool, context.output(0)->elem_num, kGrain,
        [=](int64_t begin, int64_t end, int) { std::copy(from + begin, from + end, to + begin); });
    return TENGINE_OK;
}

}  // namespace

const Kernel* find_view_kernel()
{
    static constexpr Kernel kView = {"", "layout.view", nullptr, run_view, nullptr, 0};
    return &kView;
}

const Kernel* find_layout_kernel(Layout layout)
{
    static constexpr Kernel kInterleave = {"", "layout.channels_last", nullptr, run_interleave};
    static constexpr Kernel kSeparate = {"", "layout.planar", nullptr, run_separate};
    return layout == Layout::kChannelsLast ? &kInterleave : &kSeparate;
}

}  // namespace tengine::cpu
#endif  // HWY_ONCE
#else
namespace tengine::cpu {

// Nothing wants its channels last in a build without vectors.
const Kernel* find_layout_kernel(Layout)
{
    return nullptr;
}

const Kernel* find_view_kernel()
{
    return nullptr;
}

}  // namespace tengine::cpu
#endif  // TENGINE_HAVE_HIGHWAY
