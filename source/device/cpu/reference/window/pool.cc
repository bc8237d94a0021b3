// SPDX-License-Identifier: Apache-2.0
// MaxPool, AveragePool, LpPool over windows, and the same over all positions of a channel. Averages
// of quantised tensors are in qlinear_pool.cc, MaxUnpool in unpool.cc.
#include <cmath>
#include <limits>

#include "device/cpu/kernel_table.h"
#include "device/cpu/reference/window/window_pool.h"
#include "device/cpu/shared/types.h"

namespace tengine::cpu {
namespace {

// The reduction of a window's values: accumulators begin with start(), add() includes a value,
// finish() returns the result of `count` values.
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
    // A window entirely in the padding has the mean 0.
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

// Converts a row-major position within a channel to one that counts along the first axis fastest.
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

// The maximum and its index; the first of equal ones. Indices count from `base`.
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

template <class T>
void max_pool_with_indices(const KernelContext& context, const window& shape)
{
    const bool transposed = context.param<pool_param>().storage_order == 1;
    int64_t* indices = context.output(1)->i64;
    const Planes planes = count_planes(context, input_plane_size(shape),
                                       output_row_num(shape) * last_axis(shape).output);
    const int64_t work = planes.output_size * most_taps(shape);
    for_each_plane<T, T>(context, planes, work, [&](const T* input, T* output, int64_t plane) {
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
            pool_windows<T, T>(context, shape, Maximum<T>{});
        return TENGINE_OK;
    });
}

template <class Reduction>
int run_pool(KernelContext& context, const Reduction& reduction)
{
    window shape;
    TENGINE_RETURN_IF_ERROR(resolve_pool_window(context.node, &shape));
    return dispatch_type(FloatTypes{}, context.input(0)->data_type, [&](auto type) {
        using T = typename decltype(type)::type;
        pool_windows<T, T>(context, shape, reduction);
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

int run_global_max_pool(KernelContext& context)
{
    return dispatch_type(FloatTypes{}, context.input(0)->data_type, [&](auto type) {
        using T = typename decltype(type)::type;
        pool_channels<T, T>(context, Maximum<T>{});
        return TENGINE_OK;
    });
}

template <class Reduction>
int run_global_pool(KernelContext& context, const Reduction& reduction)
{
    return dispatch_type(FloatTypes{}, context.input(0)->data_type, [&](auto type) {
        using T = typename decltype(type)::type;
        pool_channels<T, T>(context, reduction);
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

constexpr Kernel pool_rows[] = {
    {"MaxPool", "reference", nullptr, run_max_pool},
    {"AveragePool", "reference", nullptr, run_average_pool},
    {"LpPool", "reference", nullptr, run_lp_pool},
    {"GlobalMaxPool", "reference", nullptr, run_global_max_pool},
    {"GlobalAveragePool", "reference", nullptr, run_global_average_pool},
    {"GlobalLpPool", "reference", nullptr, run_global_lp_pool},
};

}  // namespace

extern const KernelTable pool_reference;
const KernelTable pool_reference = make_table<pool_rows>();

}  // namespace tengine::cpu
