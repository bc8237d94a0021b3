// SPDX-License-Identifier: Apache-2.0
// MaxPool, AveragePool, LpPool over windows, and the same over whole channels. MaxUnpool is in
// unpool.cc.
//
// A block of one output row is reduced at once: for each kernel tap one loop goes over the part of
// the row that meets the input, so the inner loops have neither bounds checks nor divisions.
#include <cmath>
#include <iterator>
#include <limits>

#include "device/cpu/kernel_table.h"
#include "device/cpu/parallel.h"
#include "device/cpu/reference/grain.h"
#include "device/cpu/reference/window_rows.h"
#include "device/cpu/types.h"
#include "operator/pool_param.h"

namespace tengine::cpu {
namespace {

// What becomes of the values of a window: sums start at start(), add() takes a value in, finish()
// makes the result of `count` values.
template <class T>
struct Maximum
{
    using Sum = compute_t<T>;
    static Sum start()
    {
        if constexpr (is_float<T>) return -std::numeric_limits<Sum>::infinity();
        return std::numeric_limits<Sum>::lowest();
    }
    Sum add(Sum sum, Sum value) const { return value > sum ? value : sum; }
    Sum finish(Sum sum, int64_t) const { return sum; }
};

struct Mean
{
    using Sum = double;
    static Sum start() { return 0; }
    Sum add(Sum sum, Sum value) const { return sum + value; }
    // A window that lies in the padding alone has the mean 0.
    Sum finish(Sum sum, int64_t count) const { return count > 0 ? sum / count : 0; }
};

struct Norm
{
    using Sum = double;
    int p;
    static Sum start() { return 0; }
    Sum add(Sum sum, Sum value) const
    {
        if (p == 2) return sum + value * value;
        return sum + (p == 1 ? std::fabs(value) : std::pow(std::fabs(value), p));
    }
    Sum finish(Sum sum, int64_t) const
    {
        if (p == 2) return std::sqrt(sum);
        return p == 1 ? sum : std::pow(sum, 1.0 / p);
    }
};

// Taps at output `position` that fall on the input, or on input and padding.
int64_t count_taps(const window_axis& axis, int position, bool with_padding)
{
    int first = 0, last;
    if (with_padding) {
        const int64_t room =
            int64_t{axis.pad_begin} + axis.input + axis.pad_end - int64_t{position} * axis.stride;
        return std::min<int64_t>(axis.kernel, (room + axis.dilation - 1) / axis.dilation);
    }
    clip_window_taps(&axis, position, &first, &last);
    return last - first;
}

// Calls body(o, input position) for the outputs of [begin, end) whose tap k falls on the input.
template <class Body>
void for_each_output(const window_axis& axis, int k, int begin, int end, const Body& body)
{
    const int64_t shift = int64_t{k} * axis.dilation - axis.pad_begin;
    const Range range = positions_within(0, axis.input, shift, axis.stride, axis.output);
    const int64_t first = std::max<int64_t>(range.begin, begin);
    const int64_t last = std::min<int64_t>(range.end, end);
    if (axis.stride == 1) {
        for (int64_t o = first; o < last; ++o)
            body(o, o + shift);
    } else {
        for (int64_t o = first; o < last; ++o)
            body(o, o * axis.stride + shift);
    }
}

// Calls body(o, input position) for every output of [begin, end) and tap that meet. A kernel wider
// than the input is walked output by output, so that taps that meet nothing cost nothing.
template <class Body>
void for_each_meeting(const window_axis& axis, int begin, int end, const Body& body)
{
    if (axis.kernel <= axis.input) {
        for (int k = 0; k < axis.kernel; ++k)
            for_each_output(axis, k, begin, end, body);
        return;
    }
    for (int o = begin; o < end; ++o) {
        int first, last;
        clip_window_taps(&axis, o, &first, &last);
        const int64_t start = int64_t{o} * axis.stride - axis.pad_begin;
        for (int k = first; k < last; ++k)
            body(o, start + int64_t{k} * axis.dilation);
    }
}

// Of more values than int64 can count the mean is as good as that of INT64_MAX.
int64_t multiply_counts(int64_t a, int64_t b)
{
    int64_t product;
    return __builtin_mul_overflow(a, b, &product) ? std::numeric_limits<int64_t>::max() : product;
}

template <class T, class Reduction>
void pool_plane(const window& shape, bool count_padding, const Reduction& reduction, const T* input,
                T* output)
{
    using Sum = typename Reduction::Sum;
    const window_axis& axis = last_axis(shape);
    const int64_t row_num = output_row_num(shape);
    int position[WINDOW_MAX_AXES];
    int64_t counts[kRowBlock];
    Sum sums[kRowBlock];
    for (int begin = 0; begin < axis.output; begin += kRowBlock) {
        const int end = std::min(axis.output, begin + kRowBlock);
        for (int o = begin; o < end; ++o)
            counts[o - begin] = count_taps(axis, o, count_padding);
        for (int64_t row = 0; row < row_num; ++row) {
            locate_row(shape, row, position);
            int64_t row_count = 1;
            for (int i = 0; i < shape.axis_num - 1; ++i)
                row_count = multiply_counts(row_count,
                                            count_taps(shape.axes[i], position[i], count_padding));
            std::fill_n(sums, end - begin, Reduction::start());
            for_each_kernel_row<false>(shape, position, [&](int64_t input_row, int64_t) {
                const T* values = input + input_row;
                for_each_meeting(axis, begin, end, [&](int64_t o, int64_t i) {
                    sums[o - begin] = reduction.add(sums[o - begin], static_cast<Sum>(values[i]));
                });
            });
            for (int o = begin; o < end; ++o)
                output[row * axis.output + o] = static_cast<T>(reduction.finish(
                    sums[o - begin], multiply_counts(row_count, counts[o - begin])));
        }
    }
}

// Row-major position within a channel to the one that counts along the first axis fastest.
int64_t transpose_position(const window& shape, int64_t position)
{
    int64_t transposed = 0;
    int64_t stride = input_plane_size(shape);
    for (int i = shape.axis_num - 1; i >= 0; --i) {
        stride /= shape.axes[i].input;
        transposed += position % shape.axes[i].input * stride;
        position /= shape.axes[i].input;
    }
    return transposed;
}

// Maximum and where it is; the first of equals. Indices count from `base`.
template <class T>
void max_plane_with_indices(const window& shape, bool transposed, int64_t base, const T* input,
                            T* output, int64_t* indices)
{
    const window_axis& axis = last_axis(shape);
    const int64_t row_num = output_row_num(shape);
    int position[WINDOW_MAX_AXES];
    for (int64_t row = 0; row < row_num; ++row) {
        locate_row(shape, row, position);
        T* best = output + row * axis.output;
        int64_t* where = indices + row * axis.output;
        std::fill_n(best, axis.output, static_cast<T>(Maximum<T>::start()));
        std::fill_n(where, axis.output, -1);
        for_each_kernel_row<false>(shape, position, [&](int64_t input_row, int64_t) {
            for_each_meeting(axis, 0, axis.output, [&](int64_t o, int64_t i) {
                const T value = input[input_row + i];
                if (where[o] >= 0 && !(value > best[o])) return;
                best[o] = value;
                where[o] = input_row + i;
            });
        });
        for (int o = 0; o < axis.output; ++o) {
            if (where[o] < 0) continue;
            where[o] = base + (transposed ? transpose_position(shape, where[o]) : where[o]);
        }
    }
}

// Elements that one window can meet: no more than there are.
int64_t most_taps(const window& shape)
{
    return std::min(multiply_window_kernel(&shape), input_plane_size(shape));
}

struct Planes
{
    int64_t num, input_size, output_size;
};

Planes count_planes(const KernelContext& context, int64_t input_size, int64_t output_size)
{
    const tensor* input = context.input(0);
    return {int64_t{input->dims[0]} * input->dims[1], input_size, output_size};
}

// Calls body(input plane, output plane, index of the plane) for every channel of every image.
template <class T, class Body>
void for_each_plane(const KernelContext& context, const Planes& planes, int64_t work,
                    const Body& body)
{
    const T* input = static_cast<const T*>(context.input(0)->data);
    T* output = static_cast<T*>(context.output(0)->data);
    parallel_for(context.pool, planes.num, grain_for(work), [&](int64_t begin, int64_t end, int) {
        for (int64_t i = begin; i < end; ++i)
            body(input + i * planes.input_size, output + i * planes.output_size, i);
    });
}

template <class T, class Reduction>
void pool_windows(const KernelContext& context, const window& shape, const Reduction& reduction)
{
    const bool count_padding = context.param<pool_param>().count_include_pad != 0;
    const Planes planes = count_planes(context, input_plane_size(shape),
                                       output_row_num(shape) * last_axis(shape).output);
    const int64_t work = planes.output_size * most_taps(shape);
    for_each_plane<T>(context, planes, work, [&](const T* input, T* output, int64_t) {
        pool_plane(shape, count_padding, reduction, input, output);
    });
}

template <class T>
void max_pool_with_indices(const KernelContext& context, const window& shape)
{
    const bool transposed = context.param<pool_param>().storage_order == 1;
    int64_t* indices = context.output(1)->i64;
    const Planes planes = count_planes(context, input_plane_size(shape),
                                       output_row_num(shape) * last_axis(shape).output);
    const int64_t work = planes.output_size * most_taps(shape);
    for_each_plane<T>(context, planes, work, [&](const T* input, T* output, int64_t plane) {
        max_plane_with_indices(shape, transposed, plane * planes.input_size, input, output,
                               indices + plane * planes.output_size);
    });
}

using MaxTypes = TypeList<float, Half, BFloat16, double, int8_t, uint8_t>;

int run_max_pool(KernelContext& context)
{
    window shape;
    TENGINE_RETURN_IF_ERROR(resolve_pool_window(context.node, &shape));
    return dispatch_type(MaxTypes{}, context.input(0)->data_type, [&](auto type) {
        using T = typename decltype(type)::type;
        if (context.output(1))
            max_pool_with_indices<T>(context, shape);
        else
            pool_windows<T>(context, shape, Maximum<T>{});
        return TENGINE_OK;
    });
}

template <class Reduction>
int run_pool(KernelContext& context, const Reduction& reduction)
{
    window shape;
    TENGINE_RETURN_IF_ERROR(resolve_pool_window(context.node, &shape));
    return dispatch_type(FloatTypes{}, context.input(0)->data_type, [&](auto type) {
        pool_windows<typename decltype(type)::type>(context, shape, reduction);
        return TENGINE_OK;
    });
}

int run_average_pool(KernelContext& context)
{
    return run_pool(context, Mean{});
}

int run_lp_pool(KernelContext& context)
{
    return run_pool(context, Norm{context.param<pool_param>().p});
}

template <class T, class Reduction>
void pool_channels(const KernelContext& context, const Reduction& reduction)
{
    using Sum = typename Reduction::Sum;
    const tensor* tensor = context.input(0);
    const Planes planes = count_planes(context, multiply_dims(tensor, 2, tensor->dim_num), 1);
    for_each_plane<T>(context, planes, planes.input_size, [&](const T* input, T* output, int64_t) {
        Sum sum = Reduction::start();
        for (int64_t i = 0; i < planes.input_size; ++i)
            sum = reduction.add(sum, static_cast<Sum>(input[i]));
        *output = static_cast<T>(reduction.finish(sum, planes.input_size));
    });
}

int run_global_max_pool(KernelContext& context)
{
    return dispatch_type(FloatTypes{}, context.input(0)->data_type, [&](auto type) {
        using T = typename decltype(type)::type;
        pool_channels<T>(context, Maximum<T>{});
        return TENGINE_OK;
    });
}

template <class Reduction>
int run_global_pool(KernelContext& context, const Reduction& reduction)
{
    return dispatch_type(FloatTypes{}, context.input(0)->data_type, [&](auto type) {
        pool_channels<typename decltype(type)::type>(context, reduction);
        return TENGINE_OK;
    });
}

int run_global_average_pool(KernelContext& context)
{
    return run_global_pool(context, Mean{});
}

int run_global_lp_pool(KernelContext& context)
{
    return run_global_pool(context, Norm{context.param<global_pool_param>().p});
}

const Kernel rows[] = {
    {"MaxPool", "reference", nullptr, run_max_pool},
    {"AveragePool", "reference", nullptr, run_average_pool},
    {"LpPool", "reference", nullptr, run_lp_pool},
    {"GlobalMaxPool", "reference", nullptr, run_global_max_pool},
    {"GlobalAveragePool", "reference", nullptr, run_global_average_pool},
    {"GlobalLpPool", "reference", nullptr, run_global_lp_pool},
};

}  // namespace

extern const KernelTable pool_reference;
const KernelTable pool_reference = {rows, std::size(rows)};

}  // namespace tengine::cpu
