// SPDX-License-Identifier: Apache-2.0
// MaxPool and AveragePool of two axes, GlobalAveragePool and GlobalMaxPool of floats in NHWC: every
// result is one vector operation for each value in its window, along the channels, in fp32, and
// rounded once. Limits: loads; the bandwidth of the L2 cache. Accuracy: maxima are exact. The mean
// of n values is within (n + 1) eps of the mean of their magnitudes; over whole channels within
// (height + width + 1) eps, since lines are summed first.
#include <algorithm>
#include <cstdint>

#include "device/cpu/kernel/product/kept_problem.h"
#include "device/cpu/kernel/vector/float_rows.h"
#include "device/cpu/kernel_table.h"
#include "device/cpu/parallel.h"
#include "device/cpu/shared/grain.h"
#include "device/cpu/shared/window_range.h"
#include "operator/onnx/pool_param.h"

#ifndef TENGINE_CPU_POOL_PIXELS
#define TENGINE_CPU_POOL_PIXELS
namespace tengine::cpu {

// The window that is reduced to one pixel: `lines` lines of `pixels` pixels, whose vectors lie
// these steps apart.
struct PixelWindow
{
    const void* input;
    int64_t lines, line_step;  // in elements
    int64_t pixels, pixel_step;
    int64_t channels;
    float factor;  // of means
    void* output;
};

}  // namespace tengine::cpu
#endif

// clang-format off
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "device/cpu/kernel/window/pool_pixels.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include "device/cpu/kernel/vector/elements-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tengine::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// NaN is ignored, as in the reference.
struct Largest
{
    template <class D, class V>
    static HWY_INLINE V add(D, V sum, V value)
    {
        return hn::IfThenElse(hn::Gt(value, sum), value, sum);
    }
    static float start() { return -std::numeric_limits<float>::infinity(); }
    template <class D, class V>
    static HWY_INLINE V finish(D, V sum, float)
    {
        return sum;
    }
};

struct Mean
{
    template <class D, class V>
    static HWY_INLINE V add(D, V sum, V value)
    {
        return hn::Add(sum, value);
    }
    static float start() { return 0; }
    template <class D, class V>
    static HWY_INLINE V finish(D d, V sum, float factor)
    {
        return hn::Mul(sum, hn::Set(d, factor));
    }
};

// One vector of channels.
template <class Reduction, class T, class D>
HWY_INLINE void reduce_vector(D d, const PixelWindow& window, int64_t channel)
{
    const auto start = hn::Set(d, Reduction::start());
    auto sum = start;
    for (int64_t line = 0; line < window.lines; ++line) {
        const T* input = static_cast<const T*>(window.input) + line * window.line_step + channel;
        auto line_sum = start;
        for (int64_t i = 0; i < window.pixels; ++i)
            line_sum = Reduction::add(d, line_sum, load_elements(d, input + i * window.pixel_step));
        sum = Reduction::add(d, sum, line_sum);
    }
    store_elements(d, Reduction::finish(d, sum, window.factor),
                   static_cast<T*>(window.output) + channel);
}

template <class Reduction, class T>
HWY_INLINE void reduce(const PixelWindow& window, int64_t first, int64_t last)
{
    const hn::ScalableTag<float> d;
    const hn::CappedTag<float, 1> one;
    const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
    int64_t channel = first;
    for (; channel + lanes <= last; channel += lanes)
        reduce_vector<Reduction, T>(d, window, channel);
    for (; channel < last; ++channel)
        reduce_vector<Reduction, T>(one, window, channel);
}

// Channels [first, last).
#define TENGINE_REDUCE(name, Reduction, T)                            \
    void name(const PixelWindow& window, int64_t first, int64_t last) \
    {                                                                 \
        reduce<Reduction, T>(window, first, last);                    \
    }
TENGINE_REDUCE(find_largest, Largest, float)
TENGINE_REDUCE(find_largest_fp16, Largest, Half)
TENGINE_REDUCE(find_largest_bf16, Largest, BFloat16)
TENGINE_REDUCE(find_mean, Mean, float)
TENGINE_REDUCE(find_mean_fp16, Mean, Half)
TENGINE_REDUCE(find_mean_bf16, Mean, BFloat16)
#undef TENGINE_REDUCE

}  // namespace tengine::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tengine::cpu {
namespace {

HWY_EXPORT(find_largest);
HWY_EXPORT(find_largest_fp16);
HWY_EXPORT(find_largest_bf16);
HWY_EXPORT(find_mean);
HWY_EXPORT(find_mean_fp16);
HWY_EXPORT(find_mean_bf16);

using Reduce = void (*)(const PixelWindow&, int64_t, int64_t);

int prepare(KernelContext& context)
{
    window shape;
    TENGINE_RETURN_IF_ERROR(resolve_pool_window(context.node, &shape));
    return keep_problem(context, shape);
}

Reduce find_largest_of(const tensor& input)
{
    if (!has_float16(input)) return HWY_DYNAMIC_DISPATCH(find_largest);
    return input.data_type == TENGINE_DT_FP16 ? HWY_DYNAMIC_DISPATCH(find_largest_fp16)
                                              : HWY_DYNAMIC_DISPATCH(find_largest_bf16);
}

Reduce find_mean_of(const tensor& input)
{
    if (!has_float16(input)) return HWY_DYNAMIC_DISPATCH(find_mean);
    return input.data_type == TENGINE_DT_FP16 ? HWY_DYNAMIC_DISPATCH(find_mean_fp16)
                                              : HWY_DYNAMIC_DISPATCH(find_mean_bf16);
}

// The element `index` places after the first.
void* at(const tensor& values, int64_t index)
{
    return values.u8 + index * values.elem_size;
}

float invert(int64_t count)
{
    return count > 0 ? 1.0f / static_cast<float>(count) : 0.0f;
}

int pool(KernelContext& context, Reduce reduce, bool count_padding)
{
    const auto& shape = kept_problem<window>(context);
    const window_axis &y = shape.axes[0], &x = shape.axes[1];
    const int64_t channels = context.input(0)->dims[1], step = context.input_step(0);
    const tensor &input = *context.input(0), &output = *context.output(0);
    const auto work = [&](int64_t begin, int64_t end, int) {
        for (int64_t item = begin; item < end; ++item) {
            const int line = static_cast<int>(item % y.output);
            const int64_t image = item / y.output * y.input * x.input * step;
            int first_y, last_y, first_x, last_x;
            clip_window_taps(&y, line, &first_y, &last_y);
            const int64_t top =
                int64_t{line} * y.stride - y.pad_begin + int64_t{first_y} * y.dilation;
            PixelWindow window = {};
            window.lines = last_y - first_y;
            window.line_step = int64_t{y.dilation} * x.input * step;
            window.pixel_step = x.dilation * step;
            window.channels = channels;
            for (int column = 0; column < x.output; ++column) {
                clip_window_taps(&x, column, &first_x, &last_x);
                const int64_t left =
                    int64_t{column} * x.stride - x.pad_begin + int64_t{first_x} * x.dilation;
                window.pixels = last_x - first_x;
                window.input = at(input, image + (top * x.input + left) * step);
                window.factor = invert(count_taps(y, line, count_padding) *
                                       count_taps(x, column, count_padding));
                window.output = at(output, (item * x.output + column) * context.output_step());
                reduce(window, 0, channels);
            }
        }
    };
    parallel_for(context.pool, context.input(0)->dims[0] * int64_t{y.output},
                 grain_for(most_taps(shape) * x.output * channels), work);
    return TENGINE_OK;
}

int run_max_pool(KernelContext& context)
{
    return pool(context, find_largest_of(*context.input(0)), false);
}

int run_average_pool(KernelContext& context)
{
    return pool(context, find_mean_of(*context.input(0)),
                context.param<pool_param>().count_include_pad != 0);
}

int pool_globally(KernelContext& context, Reduce reduce)
{
    const tensor& input = *context.input(0);
    const int64_t channels = input.dims[1], plane = int64_t{input.dims[2]} * input.dims[3];
    constexpr int64_t kUnit = 64;  // channels that workers take at once
    const int64_t units = (channels + kUnit - 1) / kUnit;
    const auto work = [&](int64_t begin, int64_t end, int) {
        for (int64_t item = begin; item < end; ++item) {
            const int64_t image = item / units, first = item % units * kUnit;
            PixelWindow window = {};
            window.input = at(input, image * plane * channels);
            window.lines = input.dims[2];
            window.line_step = input.dims[3] * channels;
            window.pixels = input.dims[3];
            window.pixel_step = channels;
            window.channels = channels;
            window.factor = invert(plane);
            window.output = at(*context.output(0), image * channels);
            reduce(window, first, std::min(first + kUnit, channels));
        }
    };
    parallel_for(context.pool, input.dims[0] * units, grain_for(kUnit * plane), work);
    return TENGINE_OK;
}

int run_global_average(KernelContext& context)
{
    return pool_globally(context, find_mean_of(*context.input(0)));
}

int run_global_max(KernelContext& context)
{
    return pool_globally(context, find_largest_of(*context.input(0)));
}

bool is_picture(const node& node)
{
    const tensor& input = *get_ir_node_input(&node, 0);
    return is_fast_float(input.data_type) && input.dim_num == 4 && input.elem_num > 0;
}

bool accepts(const node& node)
{
    window shape;
    return is_picture(node) && !get_ir_node_output(&node, 1) &&
           resolve_pool_window(&node, &shape) == TENGINE_OK;
}

constexpr Kernel pool_pixels_rows[] = {
    {.op = "MaxPool",
     .name = "max_pool.fp.nhwc",
     .accepts = accepts,
     .run = run_max_pool,
     .prepare = prepare,
     .layout = Layout::kChannelsLast,
     .takes_steps = kTakesSteps},
    {.op = "AveragePool",
     .name = "average_pool.fp.nhwc",
     .accepts = accepts,
     .run = run_average_pool,
     .prepare = prepare,
     .layout = Layout::kChannelsLast,
     .takes_steps = kTakesSteps},
    {.op = "GlobalAveragePool",
     .name = "global_average_pool.fp.nhwc",
     .accepts = is_picture,
     .run = run_global_average,
     .layout = Layout::kChannelsLast},
    {.op = "GlobalMaxPool",
     .name = "global_max_pool.fp.nhwc",
     .accepts = is_picture,
     .run = run_global_max,
     .layout = Layout::kChannelsLast},
};

}  // namespace

extern const KernelTable pool_pixels_kernels;
const KernelTable pool_pixels_kernels = make_table<pool_pixels_rows>();

}  // namespace tengine::cpu
#endif  // HWY_ONCE
