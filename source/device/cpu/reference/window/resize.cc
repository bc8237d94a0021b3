// SPDX-License-Identifier: Apache-2.0
// Resize in modes linear and cubic, which are separable: one pass per resized axis, last axis
// first, each output position a weighted sum of a few taps. The tables of taps are computed in each
// run, as they are small compared to the image and scratch memory is shared. Mode nearest is in
// resize_nearest.cc, most linear ones of int8 and uint8 are in resize_bytes.cc.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/float_to_index.h"
#include "device/cpu/kernel_table.h"
#include "device/cpu/parallel.h"
#include "device/cpu/reference/window/resize_coordinate.h"
#include "device/cpu/reference/window/sample.h"
#include "device/cpu/shared/byte_resize.h"
#include "device/cpu/shared/types.h"

namespace tengine::cpu {
namespace {

// The least number of elements that is worth a thread.
constexpr int64_t kGrain = 16384;

bool is_mixed(const node& node)
{
    Int8Resize resize;
    resize_axis axes[MAX_SHAPE_DIM_NUM];
    return !is(static_cast<const resize_param*>(node.op.param_mem)->mode, "nearest") &&
           !describe_int8_resize(node, axes, &resize);
}

// Returns the factor of the filter's width: 1 / scale if antialias is on and the axis shrinks.
double filter_scale(const resize_param& param, const resize_axis& axis)
{
    return param.antialias ? std::min(axis.scale, 1.0) : 1.0;
}

// Taps are at distances -reach + 1 .. reach from the element before the source position. The scale
// of an axis that becomes empty may be 0.
int64_t filter_reach(const resize_param& param, const resize_axis& axis)
{
    const double reach = is(param.mode, "cubic") ? 2 : 1;
    return float_to_index(std::ceil(reach / filter_scale(param, axis)), 1, INT32_MAX);
}

int64_t tap_num(const resize_param& param, const resize_axis& axis)
{
    return 2 * filter_reach(param, axis);
}

// Output position i of an axis is the sum over t of weights[i * taps + t] times the element at
// positions[i * taps + t].
template <class C>
struct Taps
{
    int64_t taps;
    int64_t* positions;
    C* weights;
};

double filter_weight(const resize_param& param, double distance)
{
    if (is(param.mode, "cubic")) return cubic_weight(distance, param.cubic_coeff_a);
    return std::max(1 - distance, 0.0);
}

template <class C>
void fill_taps(const resize_param& param, const resize_axis& axis, int64_t input_size,
               Taps<C>& taps)
{
    const double shrink = filter_scale(param, axis);
    const int64_t reach = taps.taps / 2;
    for (int64_t i = 0; i < axis.size; ++i) {
        const double source = limit(find_source<double>(param, axis, input_size, i), input_size);
        const double before = std::floor(source);
        int64_t* positions = taps.positions + i * taps.taps;
        C* weights = taps.weights + i * taps.taps;
        double sum = 0;
        for (int64_t t = 0; t < taps.taps; ++t) {
            const int64_t position = static_cast<int64_t>(before) - reach + 1 + t;
            const bool inside = position >= 0 && position < input_size;
            const double distance = std::fabs(static_cast<double>(position) - source) * shrink;
            const double weight =
                inside || !param.exclude_outside ? filter_weight(param, distance) : 0;
            positions[t] = std::clamp<int64_t>(position, 0, input_size - 1);
            weights[t] = static_cast<C>(weight);
            sum += weight;
        }
        // The sum of the plain filters is exactly 1 already.
        if (shrink < 1 || param.exclude_outside)
            for (int64_t t = 0; t < taps.taps; ++t)
                weights[t] = static_cast<C>(weights[t] / (sum == 0 ? 1 : sum));
    }
}

// A tensor seen as [outer][size][inner] around the axis that is resized.
struct Pass
{
    int64_t outer, input_size, output_size, inner;
};

// Resizes along dense rows: each output element gathers its taps. kTaps is their number, 0: any.
template <int kTaps, class C>
void resize_row(const Taps<C>& taps, int64_t size, const C* from, C* to)
{
    const int64_t num = kTaps ? kTaps : taps.taps;
    for (int64_t i = 0; i < size; ++i) {
        C sum = 0;
        for (int64_t t = 0; t < num; ++t)
            sum += taps.weights[i * num + t] * from[taps.positions[i * num + t]];
        to[i] = sum;
    }
}

// Resizes across rows: each output row is a sum of whole input rows.
template <class C>
void mix_rows(const Taps<C>& taps, int64_t i, int64_t inner, const C* from, C* to)
{
    for (int64_t t = 0; t < taps.taps; ++t) {
        const C weight = taps.weights[i * taps.taps + t];
        const C* row = from + taps.positions[i * taps.taps + t] * inner;
        if (t == 0)
            for (int64_t k = 0; k < inner; ++k)
                to[k] = weight * row[k];
        else
            for (int64_t k = 0; k < inner; ++k)
                to[k] += weight * row[k];
    }
}

template <class C>
void run_pass(thread_pool_t* pool, const Pass& pass, const Taps<C>& taps, const C* from, C* to)
{
    if (pass.inner == 1) {
        const auto row = taps.taps == 2   ? resize_row<2, C>
                         : taps.taps == 4 ? resize_row<4, C>
                                          : resize_row<0, C>;
        const int64_t grain = std::max<int64_t>(kGrain / (pass.output_size * taps.taps), 1);
        parallel_for(pool, pass.outer, grain, [&](int64_t begin, int64_t end, int) {
            for (int64_t i = begin; i < end; ++i)
                row(taps, pass.output_size, from + i * pass.input_size, to + i * pass.output_size);
        });
        return;
    }
    const int64_t grain = std::max<int64_t>(kGrain / (pass.inner * taps.taps), 1);
    parallel_for(pool, pass.outer * pass.output_size, grain, [&](int64_t begin, int64_t end, int) {
        for (int64_t i = begin; i < end; ++i)
            mix_rows(taps, i % pass.output_size, pass.inner,
                     from + i / pass.output_size * pass.input_size * pass.inner,
                     to + i * pass.inner);
    });
}

// The layout of scratch memory: taps of the current axis, then two buffers that passes alternate
// between. Input and output serve as buffers if they have the type in which samples are mixed.
struct Layout
{
    int pass_num = 0;
    uint64_t weights_offset = 0;
    uint64_t buffer_offset[2] = {0, 0};
    uint64_t bytes = 0;

    Layout(const resize_param& param, const tensor* input, const resize_axis axes[],
           size_t sample_size, bool same_type)
    {
        int64_t most_taps = 0;
        int64_t elements = input->elem_num;
        int64_t largest = same_type ? 0 : elements;
        for (int i = 0; i < input->dim_num; ++i)
            pass_num += !axes[i].identity;
        for (int i = input->dim_num - 1, pass = 1; i >= 0; --i) {
            if (axes[i].identity) continue;
            most_taps = std::max(most_taps, axes[i].size * tap_num(param, axes[i]));
            elements = elements / std::max(input->dims[i], 1) * axes[i].size;
            if (!same_type || pass++ < pass_num) largest = std::max(largest, elements);
        }
        const int buffer_num = pass_num + (same_type ? -1 : 1);
        const uint64_t buffer_size = static_cast<uint64_t>(largest) * sample_size;
        weights_offset = static_cast<uint64_t>(most_taps) * sizeof(int64_t);
        buffer_offset[0] = weights_offset + static_cast<uint64_t>(most_taps) * sizeof(double);
        buffer_offset[1] = buffer_offset[0] + buffer_size;
        bytes = buffer_offset[1] + (buffer_num > 1 ? buffer_size : 0);
    }
};

// Handles tf_crop_and_resize: everything outside the input has one value.
template <class T>
void fill_outside(const resize_param& param, const resize_axis axes[], const tensor* input,
                  const tensor* output)
{
    const T value = from_sample<T>(param.extrapolation_value);
    for (int axis = 0; axis < output->dim_num; ++axis) {
        if (axes[axis].identity) continue;
        const int64_t outer = multiply_dims(output, 0, axis);
        const int64_t inner = multiply_dims(output, axis + 1, output->dim_num);
        for (int64_t i = 0; i < axes[axis].size; ++i) {
            const double source = find_source<double>(param, axes[axis], input->dims[axis], i);
            if (!is_outside(param, source, input->dims[axis])) continue;
            for (int64_t o = 0; o < outer; ++o)
                std::fill_n(static_cast<T*>(output->data) + (o * axes[axis].size + i) * inner,
                            inner, value);
        }
    }
}

template <class T>
Layout make_layout(const KernelContext& context, const resize_axis axes[])
{
    using C = sample_t<T>;
    return {context.param<resize_param>(), context.input(0), axes, sizeof(C), std::is_same_v<T, C>};
}

// Stores the result of the last pass, or the input if there is none.
template <class T, class C = sample_t<T>>
const C* run_passes(KernelContext& context, const resize_axis axes[])
{
    const auto& param = context.param<resize_param>();
    const tensor* input = context.input(0);
    char* const scratch = static_cast<char*>(context.scratch);
    const Layout layout = make_layout<T>(context, axes);
    C* const buffers[] = {reinterpret_cast<C*>(scratch + layout.buffer_offset[0]),
                          reinterpret_cast<C*>(scratch + layout.buffer_offset[1])};
    const C* from = buffers[0];
    C* last_target = nullptr;
    if constexpr (std::is_same_v<T, C>) {
        from = static_cast<const C*>(input->data);
        last_target = static_cast<C*>(context.output(0)->data);
    } else {
        std::copy_n(static_cast<const T*>(input->data), input->elem_num, buffers[0]);
    }
    Pass pass{input->elem_num, 1, 1, 1};
    for (int i = input->dim_num - 1, left = layout.pass_num; i >= 0; --i) {
        pass.outer /= input->dims[i];
        pass.input_size = input->dims[i];
        pass.output_size = axes[i].size;
        if (!axes[i].identity) {
            Taps<C> taps{tap_num(param, axes[i]), reinterpret_cast<int64_t*>(scratch),
                         reinterpret_cast<C*>(scratch + layout.weights_offset)};
            fill_taps(param, axes[i], input->dims[i], taps);
            C* to = from == buffers[0] ? buffers[1] : buffers[0];
            if (--left == 0 && last_target) to = last_target;
            run_pass(context.pool, pass, taps, from, to);
            from = to;
        }
        pass.inner *= pass.output_size;
    }
    return from;
}

template <class T>
int run_mixed(KernelContext& context, const resize_axis axes[])
{
    const tensor* output = context.output(0);
    const sample_t<T>* from = run_passes<T>(context, axes);
    if (static_cast<const void*>(from) != output->data)
        std::transform(from, from + output->elem_num, static_cast<T*>(output->data),
                       from_sample<T>);
    fill_outside<T>(context.param<resize_param>(), axes, context.input(0), output);
    return TENGINE_OK;
}

int run_resize(KernelContext& context)
{
    const tensor* input = context.input(0);
    if (context.output(0)->elem_num == 0) return TENGINE_OK;
    resize_axis axes[MAX_SHAPE_DIM_NUM];
    TENGINE_RETURN_IF_ERROR(resolve_resize(context.node, axes));
    return dispatch_type(NumberTypes{}, input->data_type, [&](auto type) {
        return run_mixed<typename decltype(type)::type>(context, axes);
    });
}

int prepare_resize(KernelContext& context)
{
    const tensor* input = context.input(0);
    resize_axis axes[MAX_SHAPE_DIM_NUM];
    TENGINE_RETURN_IF_ERROR(resolve_resize(context.node, axes));
    return dispatch_type(NumberTypes{}, input->data_type, [&](auto type) {
        context.scratch_size = make_layout<typename decltype(type)::type>(context, axes).bytes;
        return TENGINE_OK;
    });
}

constexpr Kernel resize_rows[] = {
    {"Resize", "reference", is_mixed, run_resize, prepare_resize},
};

}  // namespace

extern const KernelTable resize_reference;
const KernelTable resize_reference = make_table<resize_rows>();

}  // namespace tengine::cpu
