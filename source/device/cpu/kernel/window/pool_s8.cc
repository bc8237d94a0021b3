// SPDX-License-Identifier: Apache-2.0
// MaxPool of int8 and uint8, QLinearAveragePool and QLinearGlobalAveragePool of two axes in NHWC:
// every result is one vector operation for each value in its window, along the channels. Means are
// exact sums, scaled in integers (scale_s8-inl.h), so that the results equal those of the
// reference bit by bit. Limits: loads; the bandwidth of the L2 cache.
#include <algorithm>
#include <cstdint>
#include <limits>

#include "device/cpu/kernel/product/kept_problem.h"
#include "device/cpu/kernel/vector/fixed_vectors.h"
#include "device/cpu/kernel/vector/requantization.h"
#include "device/cpu/kernel_table.h"
#include "device/cpu/parallel.h"
#include "device/cpu/shared/grain.h"
#include "device/cpu/shared/window_range.h"
#include "operator/onnx/pool_param.h"

#ifndef TENGINE_CPU_POOL_BYTES
#define TENGINE_CPU_POOL_BYTES
namespace tengine::cpu {

// The window that is reduced to one position: `lines` lines of `pixels` positions, with these
// distances between vectors. The other members are for means: elements are treated as unsigned,
// int8 with the highest bit flipped, and zero points are those of flipped elements.
struct Int8Window
{
    const uint8_t* input;
    int64_t lines, line_step;
    int64_t pixels, pixel_step;
    uint8_t* output;
    uint8_t input_flip, output_flip;
    int input_zero, output_zero;
    ir_multiplier_t multiplier;
};

// Windows whose sums fit 16 bits.
constexpr int64_t kMostNarrowValues = UINT16_MAX / UINT8_MAX;

// Not inline, since code for other instruction sets calls them.
uint8_t finish_mean(const Int8Window& window, uint32_t sum);
void find_mean_exactly(const Int8Window& window, int64_t first, int64_t last);

}  // namespace tengine::cpu
#endif

// clang-format off
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "device/cpu/kernel/window/pool_s8.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include "device/cpu/kernel/product/scale_s8-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tengine::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Calls reduce(d, channel) for vectors that together are the channels [first, last); the last two
// may overlap. Returns false if there are fewer channels than a vector has.
template <class D, class Reduce>
HWY_INLINE bool for_each_vector(D d, int64_t first, int64_t last, const Reduce& reduce)
{
    const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
    if (last - first < lanes) return false;
    for (int64_t channel = first; channel < last; channel += lanes)
        reduce(d, HWY_MIN(channel, last - lanes));
    return true;
}

template <class T>
struct LargestBytes
{
    const Int8Window& window;

    template <class D>
    HWY_INLINE void operator()(D d, int64_t channel) const
    {
        auto largest = hn::Set(d, std::numeric_limits<T>::lowest());
        for (int64_t line = 0; line < window.lines; ++line) {
            const T* input =
                reinterpret_cast<const T*>(window.input) + line * window.line_step + channel;
            for (int64_t i = 0; i < window.pixels; ++i)
                largest = hn::Max(largest, hn::LoadU(d, input + i * window.pixel_step));
        }
        hn::StoreU(largest, d, reinterpret_cast<T*>(window.output) + channel);
    }
};

template <class T>
HWY_INLINE void find_largest(const Int8Window& window, int64_t first, int64_t last)
{
    const LargestBytes<T> reduce = {window};
    if (for_each_vector(hn::ScalableTag<T>(), first, last, reduce) ||
        for_each_vector(hn::CappedTag<T, 16>(), first, last, reduce))
        return;
    for_each_vector(hn::CappedTag<T, 1>(), first, last, reduce);
}

// Channels [first, last).
void find_largest_signed(const Int8Window& window, int64_t first, int64_t last)
{
    find_largest<int8_t>(window, first, last);
}

void find_largest_unsigned(const Int8Window& window, int64_t first, int64_t last)
{
    find_largest<uint8_t>(window, first, last);
}

#if HWY_TARGET == HWY_SCALAR

void find_mean(const Int8Window& window, int64_t first, int64_t last)
{
    find_mean_exactly(window, first, last);
}

#else

// Consecutive positions, whose sums fit 16 bits.
template <class D>
HWY_INLINE hn::Vec<D> add_pixels(D d, const Int8Window& window, const uint8_t* input, int64_t count,
                                 hn::Vec<D> sum)
{
    const hn::Rebind<uint8_t, D> bytes;
    const auto flip = hn::Set(bytes, window.input_flip);
    for (int64_t i = 0; i < count; ++i)
        sum = hn::Add(
            sum, hn::PromoteTo(d, hn::Xor(hn::LoadU(bytes, input + i * window.pixel_step), flip)));
    return sum;
}

// D: of uint16.
struct NarrowMean
{
    const Int8Window& window;

    template <class D>
    HWY_INLINE void operator()(D d, int64_t channel) const
    {
        const hn::RebindToSigned<D> shorts;
        const hn::Rebind<uint8_t, D> bytes;
        auto sum = hn::Zero(d);
        for (int64_t line = 0; line < window.lines; ++line)
            sum = add_pixels(d, window, window.input + line * window.line_step + channel,
                             window.pixels, sum);
        const auto zero =
            hn::Set(d, static_cast<uint16_t>(window.input_zero * window.lines * window.pixels));
        const auto below = hn::SaturatedSub(zero, sum);
        const auto magnitude = hn::Or(below, hn::SaturatedSub(sum, zero));
        const auto is_positive = hn::VecFromMask(d, hn::Eq(below, hn::Zero(d)));
        const MagnitudeScale<decltype(shorts)> scale(window.multiplier);
        const auto mean =
            scale(hn::BitCast(shorts, magnitude), hn::BitCast(shorts, hn::Not(is_positive)));
        const auto output_zero = hn::Set(shorts, static_cast<int16_t>(window.output_zero));
        hn::StoreU(hn::Xor(hn::DemoteTo(bytes, hn::SaturatedAdd(mean, output_zero)),
                           hn::Set(bytes, window.output_flip)),
                   bytes, window.output + channel);
    }
};

// The mean of any number of values, which is rarely needed.
struct WideMean
{
    const Int8Window& window;

    template <class D>
    HWY_INLINE void operator()(D d, int64_t channel) const
    {
        constexpr size_t kMostLanes = HWY_MAX_BYTES / sizeof(uint16_t);
        uint32_t sums[kMostLanes] = {};
        HWY_ALIGN uint16_t some[kMostLanes];
        const size_t lanes = hn::Lanes(d);
        for (int64_t line = 0; line < window.lines; ++line)
            for (int64_t pixel = 0; pixel < window.pixels; pixel += kMostNarrowValues) {
                const uint8_t* input =
                    window.input + line * window.line_step + pixel * window.pixel_step + channel;
                hn::Store(
                    add_pixels(d, window, input, HWY_MIN(kMostNarrowValues, window.pixels - pixel),
                               hn::Zero(d)),
                    d, some);
                for (size_t i = 0; i < lanes; ++i)
                    sums[i] += some[i];
            }
        for (size_t i = 0; i < lanes; ++i)
            window.output[channel + static_cast<int64_t>(i)] = finish_mean(window, sums[i]);
    }
};

template <class Mean>
HWY_INLINE void reduce_all(const Mean& reduce, int64_t first, int64_t last)
{
    if (!for_each_vector(hn::ScalableTag<uint16_t>(), first, last, reduce) &&
        !for_each_vector(hn::CappedTag<uint16_t, 8>(), first, last, reduce))
        find_mean_exactly(reduce.window, first, last);
}

void find_mean(const Int8Window& window, int64_t first, int64_t last)
{
    if (window.lines * window.pixels <= kMostNarrowValues)
        reduce_all(NarrowMean{window}, first, last);
    else
        reduce_all(WideMean{window}, first, last);
}

#endif  // HWY_TARGET == HWY_SCALAR

}  // namespace tengine::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tengine::cpu {
namespace {

HWY_EXPORT(find_largest_signed);
HWY_EXPORT(find_largest_unsigned);
HWY_EXPORT(find_mean);

using Reduce = void (*)(const Int8Window&, int64_t, int64_t);

// The constants of means that all windows share, and the multiplier for those with as many values
// as the previous one.
class Mean
{
  public:
    Mean() = default;
    explicit Mean(const KernelContext& context)
        : scale_(context.input(1)->f32[0]), output_scale_(context.input(3)->f32[0])
    {
        const auto find_flip = [](const tensor* tensor) {
            return static_cast<uint8_t>(tensor->data_type == TENGINE_DT_INT8 ? 0x80 : 0);
        };
        window_.input_flip = find_flip(context.input(0));
        window_.output_flip = find_flip(context.output(0));
        window_.input_zero = read_zero_point(context.input(2), 0) + window_.input_flip;
        window_.output_zero = read_zero_point(context.input(4), 0) + window_.output_flip;
    }

    const Int8Window& window() const { return window_; }

    // A window in the padding alone has the mean 0.
    void count(int64_t values, Int8Window* out_window)
    {
        if (values != values_) {
            values_ = values;
            const double factor = find_factor(std::max<int64_t>(values, 1));
            // Cannot fail: check() has made the multiplier for one value, which is the largest.
            if (make_ir_multipliers(&factor, 1, &multiplier_) != TENGINE_OK) multiplier_ = {};
        }
        out_window->multiplier = multiplier_;
    }

    int check(const KernelContext& context) const
    {
        const double largest = find_factor(1);
        ir_multiplier_t multiplier = {};
        return find_multipliers(context, &largest, 1, &multiplier);
    }

  private:
    double find_factor(int64_t values) const
    {
        return scale_ / (output_scale_ * static_cast<double>(values));
    }

    double scale_ = 0, output_scale_ = 1;
    Int8Window window_ = {};
    int64_t values_ = -1;
    ir_multiplier_t multiplier_ = {};
};

int prepare(KernelContext& context)
{
    window shape;
    TENGINE_RETURN_IF_ERROR(resolve_pool_window(context.node, &shape));
    return keep_problem(context, shape);
}

// `mean` is null for maxima.
int pool(KernelContext& context, Reduce reduce, const Mean* mean)
{
    const auto& shape = kept_problem<window>(context);
    const window_axis &y = shape.axes[0], &x = shape.axes[1];
    const int64_t channels = context.input(0)->dims[1], step = context.input_step(0);
    const bool count_padding = context.param<pool_param>().count_include_pad != 0;
    const uint8_t* input = context.input(0)->u8;
    uint8_t* output = context.output(0)->u8;
    const auto work = [&](int64_t begin, int64_t end, int) {
        Mean own = mean ? *mean : Mean();
        for (int64_t item = begin; item < end; ++item) {
            const int line = static_cast<int>(item % y.output);
            const uint8_t* image = input + item / y.output * y.input * x.input * step;
            int first_y, last_y, first_x, last_x;
            clip_window_taps(&y, line, &first_y, &last_y);
            const int64_t top =
                int64_t{line} * y.stride - y.pad_begin + int64_t{first_y} * y.dilation;
            const int64_t line_count = count_taps(y, line, count_padding);
            Int8Window window = own.window();
            window.lines = last_y - first_y;
            window.line_step = int64_t{y.dilation} * x.input * step;
            window.pixel_step = x.dilation * step;
            for (int column = 0; column < x.output; ++column) {
                clip_window_taps(&x, column, &first_x, &last_x);
                const int64_t left =
                    int64_t{column} * x.stride - x.pad_begin + int64_t{first_x} * x.dilation;
                window.pixels = last_x - first_x;
                window.input = image + (top * x.input + left) * step;
                window.output = output + (item * x.output + column) * context.output_step();
                if (mean)
                    own.count(multiply_counts(line_count, count_taps(x, column, count_padding)),
                              &window);
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
    const bool is_signed = context.input(0)->data_type == TENGINE_DT_INT8;
    return pool(context,
                is_signed ? HWY_DYNAMIC_DISPATCH(find_largest_signed)
                          : HWY_DYNAMIC_DISPATCH(find_largest_unsigned),
                nullptr);
}

int run_average_pool(KernelContext& context)
{
    const Mean mean(context);
    TENGINE_RETURN_IF_ERROR(mean.check(context));
    return pool(context, HWY_DYNAMIC_DISPATCH(find_mean), &mean);
}

int run_global_average(KernelContext& context)
{
    const tensor& input = *context.input(0);
    const int64_t channels = input.dims[1], plane = int64_t{input.dims[2]} * input.dims[3];
    Mean mean(context);
    TENGINE_RETURN_IF_ERROR(mean.check(context));
    Int8Window all = mean.window();
    mean.count(plane, &all);
    all.lines = 1;
    all.pixels = plane;
    all.pixel_step = channels;
    const Reduce reduce = HWY_DYNAMIC_DISPATCH(find_mean);
    // Channels that a worker takes at once, or a few more.
    constexpr int64_t kUnit = 64;
    const int64_t units = std::max<int64_t>(channels / kUnit, 1);
    const auto work = [&](int64_t begin, int64_t end, int) {
        for (int64_t item = begin; item < end; ++item) {
            const int64_t image = item / units, unit = item % units;
            Int8Window window = all;
            window.input = input.u8 + image * plane * channels;
            window.output = context.output(0)->u8 + image * channels;
            reduce(window, channels * unit / units, channels * (unit + 1) / units);
        }
    };
    parallel_for(context.pool, input.dims[0] * units, grain_for(kUnit * plane), work);
    return TENGINE_OK;
}

bool is_picture(const node& node)
{
    const tensor& input = *get_ir_node_input(&node, 0);
    return (input.data_type == TENGINE_DT_INT8 || input.data_type == TENGINE_DT_UINT8) &&
           input.dim_num == 4 && input.elem_num > 0;
}

bool accepts(const node& node)
{
    window shape;
    return is_picture(node) && !get_ir_node_output(&node, 1) &&
           resolve_pool_window(&node, &shape) == TENGINE_OK;
}

constexpr Kernel pool_s8_rows[] = {
    {.op = "MaxPool",
     .name = "max_pool.s8.nhwc",
     .accepts = accepts,
     .run = run_max_pool,
     .prepare = prepare,
     .layout = Layout::kChannelsLast,
     .leads = true,
     .takes_steps = kTakesSteps},
    {.op = "com.microsoft.QLinearAveragePool",
     .name = "average_pool.s8.nhwc",
     .accepts = accepts,
     .run = run_average_pool,
     .prepare = prepare,
     .layout = Layout::kChannelsLast,
     .leads = true,
     .takes_steps = kTakesSteps},
    {.op = "com.microsoft.QLinearGlobalAveragePool",
     .name = "global_average_pool.s8.nhwc",
     .accepts = is_picture,
     .run = run_global_average,
     .layout = Layout::kChannelsLast},
};

}  // namespace

uint8_t finish_mean(const Int8Window& window, uint32_t sum)
{
    const auto zero = static_cast<uint32_t>(window.input_zero * window.lines * window.pixels);
    const int32_t mean = requantize_ir_sum(static_cast<int32_t>(sum - zero), window.multiplier,
                                           window.output_zero, 0, UINT8_MAX);
    return static_cast<uint8_t>(mean) ^ window.output_flip;
}

void find_mean_exactly(const Int8Window& window, int64_t first, int64_t last)
{
    for (int64_t channel = first; channel < last; ++channel) {
        uint32_t sum = 0;
        for (int64_t line = 0; line < window.lines; ++line)
            for (int64_t i = 0; i < window.pixels; ++i)
                sum += window.input[line * window.line_step + i * window.pixel_step + channel] ^
                       window.input_flip;
        window.output[channel] = finish_mean(window, sum);
    }
}

extern const KernelTable pool_s8_kernels;
const KernelTable pool_s8_kernels = make_table<pool_s8_rows>();

}  // namespace tengine::cpu
#endif  // HWY_ONCE
