// SPDX-License-Identifier: Apache-2.0
// Pools as reductions: over windows and over all positions of a channel. The reduction is the
// kernel's own, in pool.cc and qlinear_pool.cc: a type with
//     Sum start(); Sum add(Sum sum, Sum value); Out finish(Sum sum, int64_t count);
// where count is that of the values, with the padding where that counts.
//
// A block of one output row is reduced at once: for each kernel tap one loop goes over the part of
// the row that meets the input, so the inner loops have neither bounds checks nor divisions.
#pragma once

#include <algorithm>
#include <cstdint>

#include "device/cpu/kernel_context.h"
#include "device/cpu/parallel.h"
#include "device/cpu/reference/window/window_rows.h"
#include "device/cpu/shared/grain.h"
#include "device/cpu/shared/types.h"
#include "operator/onnx/pool_param.h"

namespace tengine::cpu {

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

// Calls body(o, input position) for every output of [begin, end) and each of its taps on the input.
// For a kernel wider than the input the loop goes output by output, so that taps outside the input
// cost nothing.
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

// The reduction is passed by value, so that it may cache values for a count.
template <class In, class Out, class Reduction>
void pool_plane(const window& shape, bool count_padding, Reduction reduction, const In* input,
                Out* output)
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
                const In* values = input + input_row;
                for_each_meeting(axis, begin, end, [&](int64_t o, int64_t i) {
                    sums[o - begin] = reduction.add(sums[o - begin], static_cast<Sum>(values[i]));
                });
            });
            for (int o = begin; o < end; ++o)
                output[row * axis.output + o] = static_cast<Out>(reduction.finish(
                    sums[o - begin], multiply_counts(row_count, counts[o - begin])));
        }
    }
}

struct Planes
{
    int64_t num, input_size, output_size;
};

inline Planes count_planes(const KernelContext& context, int64_t input_size, int64_t output_size)
{
    const tensor* input = context.input(0);
    return {int64_t{input->dims[0]} * input->dims[1], input_size, output_size};
}

// Calls body(input plane, output plane, index of the plane) for every channel of every image.
template <class In, class Out, class Body>
void for_each_plane(const KernelContext& context, const Planes& planes, int64_t work,
                    const Body& body)
{
    const In* input = static_cast<const In*>(context.input(0)->data);
    Out* output = static_cast<Out*>(context.output(0)->data);
    parallel_for(context.pool, planes.num, grain_for(work), [&](int64_t begin, int64_t end, int) {
        for (int64_t i = begin; i < end; ++i)
            body(input + i * planes.input_size, output + i * planes.output_size, i);
    });
}

template <class In, class Out, class Reduction>
void pool_windows(const KernelContext& context, const window& shape, const Reduction& reduction)
{
    const bool count_padding = context.param<pool_param>().count_include_pad != 0;
    const Planes planes = count_planes(context, input_plane_size(shape),
                                       output_row_num(shape) * last_axis(shape).output);
    const int64_t work = planes.output_size * most_taps(shape);
    for_each_plane<In, Out>(context, planes, work, [&](const In* input, Out* output, int64_t) {
        pool_plane(shape, count_padding, reduction, input, output);
    });
}

template <class In, class Out, class Reduction>
void pool_channels(const KernelContext& context, const Reduction& reduction)
{
    using Sum = typename Reduction::Sum;
    const tensor* tensor = context.input(0);
    const Planes planes = count_planes(context, multiply_dims(tensor, 2, tensor->dim_num), 1);
    for_each_plane<In, Out>(context, planes, planes.input_size,
                            [&](const In* input, Out* output, int64_t) {
                                Reduction own = reduction;
                                Sum sum = Reduction::start();
                                for (int64_t i = 0; i < planes.input_size; ++i)
                                    sum = own.add(sum, static_cast<Sum>(input[i]));
                                *output = static_cast<Out>(own.finish(sum, planes.input_size));
                            });
}

}  // namespace tengine::cpu
