// SPDX-License-Identifier: Apache-2.0
// Conv, ConvTranspose, ConvInteger and QLinearConv, directly as sums of products.
//
// A block of one output row is summed at once: for each kernel tap the part of the row that meets
// the input is found, then all input channels are added to it with one loop over that part.
#include <iterator>

#include "device/cpu/kernel_table.h"
#include "device/cpu/parallel.h"
#include "device/cpu/reference/grain.h"
#include "device/cpu/reference/quantize.h"
#include "device/cpu/reference/window_rows.h"
#include "device/cpu/types.h"
#include "operator/conv_param.h"

namespace tengine::cpu {
namespace {

// Sizes in elements. Channels are counted within a group.
struct Problem
{
    window shape;
    int batch, groups;
    int input_channels, output_channels;
    int64_t input_plane, output_rows;
    int64_t weight_input_stride, weight_output_stride, weight_group_stride;
};

template <bool kTransposed>
int describe(const KernelContext& context, int weight_index, Problem* out_problem)
{
    Problem& p = *out_problem;
    const tensor* input = context.input(0);
    TENGINE_RETURN_IF_ERROR(kTransposed
                                ? resolve_conv_transpose_window(context.node, &p.shape)
                                : resolve_conv_window(context.node, weight_index, &p.shape));
    p.batch = input->dims[0];
    p.groups = context.param<conv_param>().group;
    p.input_channels = input->dims[1] / p.groups;
    p.output_channels = context.output(0)->dims[1] / p.groups;
    p.input_plane = input_plane_size(p.shape);
    p.output_rows = output_row_num(p.shape);
    const int64_t taps = multiply_window_kernel(&p.shape);
    p.weight_input_stride = kTransposed ? taps * p.output_channels : taps;
    p.weight_output_stride = kTransposed ? taps : taps * p.input_channels;
    p.weight_group_stride = taps * p.input_channels * p.output_channels;
    return TENGINE_OK;
}

// A tensor with its zero point; float types have none.
template <class T>
struct Operand
{
    const T* data;
    int64_t zero_point = 0;

    sum_t<T> at(int64_t index) const
    {
        if constexpr (is_float<T>)
            return data[index];
        else
            return data[index] - zero_point;
    }
};

// Adds tap k of one kernel row, for all channels, to the sums of outputs begin..end-1.
template <bool kTransposed, class X, class W>
void add_tap(const Problem& p, int k, int begin, int end, Operand<X> x, Operand<W> weight,
             sum_t<X>* sums)
{
    const window_axis& axis = last_axis(p.shape);
    const int64_t stride = axis.stride;
    const int64_t shift = int64_t{k} * axis.dilation - axis.pad_begin;
    // Of inputs when transposed (they lie `stride` apart in the output), else of outputs.
    Range range;
    if constexpr (kTransposed) {
        range = positions_within(begin, end, shift, stride, axis.input);
    } else {
        range = positions_within(0, axis.input, shift, stride, axis.output);
        range.begin = std::max<int64_t>(range.begin, begin);
        range.end = std::min<int64_t>(range.end, end);
    }
    for (int c = 0; c < p.input_channels; ++c) {
        const sum_t<X> w = weight.at(c * p.weight_input_stride);
        const int64_t row = c * p.input_plane;
        if constexpr (kTransposed) {
            for (int64_t i = range.begin; i < range.end; ++i)
                sums[i * stride + shift - begin] += w * x.at(row + i);
        } else if (stride == 1) {
            for (int64_t i = range.begin; i < range.end; ++i)
                sums[i - begin] += w * x.at(row + shift + i);
        } else {
            for (int64_t i = range.begin; i < range.end; ++i)
                sums[i - begin] += w * x.at(row + shift + i * stride);
        }
    }
}

// One output channel of one image. store(position in the plane, sum).
template <bool kTransposed, class X, class W, class Store>
void convolve_plane(const Problem& p, const Operand<X>& x, const Operand<W>& weight,
                    const Store& store)
{
    const window_axis& axis = last_axis(p.shape);
    int position[WINDOW_MAX_AXES];
    sum_t<X> sums[kRowBlock];
    for (int64_t row = 0; row < p.output_rows; ++row) {
        locate_row(p.shape, row, position);
        for (int begin = 0; begin < axis.output; begin += kRowBlock) {
            const int end = std::min(axis.output, begin + kRowBlock);
            std::fill_n(sums, end - begin, sum_t<X>{0});
            for_each_kernel_row<kTransposed>(
                p.shape, position, [&](int64_t input_offset, int64_t tap_offset) {
                    for (int k = 0; k < axis.kernel; ++k)
                        add_tap<kTransposed>(
                            p, k, begin, end, Operand<X>{x.data + input_offset, x.zero_point},
                            Operand<W>{weight.data + tap_offset + k, weight.zero_point}, sums);
                });
            for (int o = begin; o < end; ++o)
                store(row * axis.output + o, sums[o - begin]);
        }
    }
}

// All channels of all images. store(plane, channel, position, sum).
template <bool kTransposed, class X, class W, class Store>
void convolve(const KernelContext& context, const Problem& p, const Operand<X>& x, const W* weights,
              const tensor* weight_zero_point, const Store& store)
{
    const int channels = p.groups * p.output_channels;
    const int64_t work = p.output_rows * last_axis(p.shape).output * p.weight_group_stride /
                         std::max(1, p.output_channels);
    const auto run_planes = [&](int64_t first, int64_t last, int) {
        for (int64_t plane = first; plane < last; ++plane) {
            const int channel = static_cast<int>(plane % channels);
            const int group = channel / p.output_channels;
            const int64_t image = plane / channels;
            const Operand<X> input = {
                x.data + (image * p.groups + group) * p.input_channels * p.input_plane,
                x.zero_point};
            const Operand<W> weight = {
                weights + group * p.weight_group_stride +
                    channel % p.output_channels * p.weight_output_stride,
                read_zero_point(weight_zero_point, slice_index(weight_zero_point, channel))};
            convolve_plane<kTransposed>(p, input, weight, [&](int64_t index, sum_t<X> sum) {
                store(plane * p.output_rows * last_axis(p.shape).output + index, channel, sum);
            });
        }
    };
    parallel_for(context.pool, int64_t{p.batch} * channels, grain_for(work), run_planes);
}

template <class T>
const T* data_of(const tensor* tensor)
{
    return static_cast<const T*>(tensor->data);
}

template <bool kTransposed>
int run_float(KernelContext& context)
{
    Problem problem;
    TENGINE_RETURN_IF_ERROR(describe<kTransposed>(context, 1, &problem));
    return dispatch_type(FloatTypes{}, context.input(0)->data_type, [&](auto type) {
        using T = typename decltype(type)::type;
        const T* bias = context.input(2) ? data_of<T>(context.input(2)) : nullptr;
        T* output = static_cast<T*>(context.output(0)->data);
        convolve<kTransposed>(context, problem, Operand<T>{data_of<T>(context.input(0))},
                              data_of<T>(context.input(1)), nullptr,
                              [=](int64_t index, int channel, double sum) {
                                  output[index] = static_cast<T>(bias ? sum + bias[channel] : sum);
                              });
        return TENGINE_OK;
    });
}

using ByteTypes = TypeList<int8_t, uint8_t>;

// Calls `store` with the integer sums of a quantised convolution. Its inputs are at these indices.
template <class Store>
int run_bytes(KernelContext& context, int weight_index, int zero_point_index,
              int weight_zero_point_index, const Store& store)
{
    Problem problem;
    TENGINE_RETURN_IF_ERROR(describe<false>(context, weight_index, &problem));
    const tensor* weight = context.input(weight_index);
    const int zero_point = read_zero_point(context.input(zero_point_index), 0);
    return dispatch_type(ByteTypes{}, context.input(0)->data_type, [&](auto x_type) {
        using X = typename decltype(x_type)::type;
        return dispatch_type(ByteTypes{}, weight->data_type, [&](auto w_type) {
            using W = typename decltype(w_type)::type;
            convolve<false>(context, problem, Operand<X>{data_of<X>(context.input(0)), zero_point},
                            data_of<W>(weight), context.input(weight_zero_point_index), store);
            return TENGINE_OK;
        });
    });
}

int run_integer(KernelContext& context)
{
    int32_t* output = context.output(0)->i32;
    return run_bytes(context, 1, 2, 3, [=](int64_t index, int, int64_t sum) {
        output[index] = static_cast<int32_t>(sum);
    });
}

int run_qlinear(KernelContext& context)
{
    const tensor* weight_scale = context.input(4);
    const tensor* bias = context.input(8);
    const double ratio = double{context.input(1)->f32[0]} / context.input(6)->f32[0];
    const int zero_point = read_zero_point(context.input(7), 0);
    const QuantizedRange range = byte_range(context.output(0)->data_type);
    uint8_t* output = context.output(0)->u8;  // int8 has the same bits
    return run_bytes(context, 3, 2, 5, [=](int64_t index, int channel, int64_t sum) {
        const double scale = ratio * weight_scale->f32[slice_index(weight_scale, channel)];
        if (bias) sum += bias->i32[channel];
        output[index] =
            static_cast<uint8_t>(quantize(static_cast<double>(sum) * scale, zero_point, range));
    });
}

const Kernel rows[] = {
    {"Conv", "reference", nullptr, run_float<false>},
    {"ConvTranspose", "reference", nullptr, run_float<true>},
    {"ConvInteger", "reference", nullptr, run_integer},
    {"QLinearConv", "reference", nullptr, run_qlinear},
};

}  // namespace

extern const KernelTable conv_reference;
const KernelTable conv_reference = {rows, std::size(rows)};

}  // namespace tengine::cpu
