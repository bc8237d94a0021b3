// SPDX-License-Identifier: Apache-2.0
// Conv, ConvTranspose, ConvInteger and QLinearConv, directly as sums of products.
//
// A block of one output row is accumulated together: for each kernel tap the part of the row that
// meets the input is found, then one loop over that part adds all input channels.
#include "device/cpu/kernel_table.h"
#include "device/cpu/parallel.h"
#include "device/cpu/reference/matmul/qlinear.h"
#include "device/cpu/reference/window/window_rows.h"
#include "device/cpu/shared/grain.h"
#include "device/cpu/shared/types.h"
#include "operator/onnx/conv_param.h"

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

    template <class Sum>
    Sum at(int64_t index) const
    {
        if constexpr (is_float<T>)
            return data[index];
        else
            return static_cast<Sum>(data[index]) - static_cast<Sum>(zero_point);
    }
};

// Adds tap k of one kernel row, for all channels, to the accumulators of outputs begin..end-1.
template <bool kTransposed, class Sum, class X, class W>
void add_tap(const Problem& p, int k, int begin, int end, Operand<X> x, Operand<W> weight,
             Sum* sums)
{
    const window_axis& axis = last_axis(p.shape);
    const int64_t stride = axis.stride;
    const int64_t shift = int64_t{k} * axis.dilation - axis.pad_begin;
    // Inputs if transposed (they are `stride` apart in the output), else outputs.
    Range range;
    if constexpr (kTransposed) {
        range = positions_within(begin, end, shift, stride, axis.input);
    } else {
        range = positions_within(0, axis.input, shift, stride, axis.output);
        range.begin = std::max<int64_t>(range.begin, begin);
        range.end = std::min<int64_t>(range.end, end);
    }
    for (int c = 0; c < p.input_channels; ++c) {
        const Sum w = weight.template at<Sum>(c * p.weight_input_stride);
        const int64_t row = c * p.input_plane;
        if constexpr (kTransposed) {
            for (int64_t i = range.begin; i < range.end; ++i)
                sums[i * stride + shift - begin] += w * x.template at<Sum>(row + i);
        } else if (stride == 1) {
            for (int64_t i = range.begin; i < range.end; ++i)
                sums[i - begin] += w * x.template at<Sum>(row + shift + i);
        } else {
            for (int64_t i = range.begin; i < range.end; ++i)
                sums[i - begin] += w * x.template at<Sum>(row + shift + i * stride);
        }
    }
}

// Computes one output channel of one image. Calls store(position in the plane, sum).
template <bool kTransposed, class Sum, class X, class W, class Store>
void convolve_plane(const Problem& p, const Operand<X>& x, const Operand<W>& weight,
                    const Store& store)
{
    const window_axis& axis = last_axis(p.shape);
    int position[WINDOW_MAX_AXES];
    Sum sums[kRowBlock];
    for (int64_t row = 0; row < p.output_rows; ++row) {
        locate_row(p.shape, row, position);
        for (int begin = 0; begin < axis.output; begin += kRowBlock) {
            const int end = std::min(axis.output, begin + kRowBlock);
            std::fill_n(sums, end - begin, Sum{0});
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

// Computes all channels of all images, with accumulators of a type without overflow. Calls
// store(position, channel, sum).
template <bool kTransposed, class Sum, class X, class W, class Store>
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
            convolve_plane<kTransposed, Sum>(p, input, weight, [&](int64_t index, Sum sum) {
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
        convolve<kTransposed, double>(
            context, problem, Operand<T>{data_of<T>(context.input(0))},
            data_of<T>(context.input(1)), nullptr, [=](int64_t index, int channel, double sum) {
                output[index] = static_cast<T>(bias ? sum + bias[channel] : sum);
            });
        return TENGINE_OK;
    });
}

// Calls `store` with the integer sums of a quantised convolution, whose inputs are at these
// indices.
template <class Store>
int run_int8(KernelContext& context, int weight_index, int zero_point_index,
             int weight_zero_point_index, const Store& store)
{
    Problem problem;
    TENGINE_RETURN_IF_ERROR(describe<false>(context, weight_index, &problem));
    const tensor* weight = context.input(weight_index);
    const int zero_point = read_zero_point(context.input(zero_point_index), 0);
    const int64_t products = multiply_dims(weight, 1, weight->dim_num);
    return dispatch_type(Int8Types{}, context.input(0)->data_type, [&](auto x_type) {
        using X = typename decltype(x_type)::type;
        return dispatch_type(Int8Types{}, weight->data_type, [&](auto w_type) {
            using W = typename decltype(w_type)::type;
            const Operand<X> x = {data_of<X>(context.input(0)), zero_point};
            const tensor* zero_points = context.input(weight_zero_point_index);
            if (products <= kMostNarrowProducts)
                convolve<false, int32_t>(context, problem, x, data_of<W>(weight), zero_points,
                                         store);
            else
                convolve<false, int64_t>(context, problem, x, data_of<W>(weight), zero_points,
                                         store);
            return TENGINE_OK;
        });
    });
}

int run_integer(KernelContext& context)
{
    int32_t* output = context.output(0)->i32;
    return run_int8(context, 1, 2, 3, [=](int64_t index, int, int64_t sum) {
        output[index] = static_cast<int32_t>(sum);
    });
}

int prepare_qlinear(KernelContext& context)
{
    context.scratch_size = sizeof(Multiplier) * static_cast<uint64_t>(context.input(4)->elem_num);
    return TENGINE_OK;
}

int run_qlinear(KernelContext& context)
{
    const tensor* weight_scale = context.input(4);
    const tensor* bias = context.input(8);
    const Quantization y(context, 6);
    auto* multipliers = static_cast<Multiplier*>(context.scratch);
    TENGINE_RETURN_IF_ERROR(make_weight_multipliers(context, 1, 6, multipliers));
    const Requantizer requantize(context.output(0)->data_type, y.zero_point,
                                 find_rounding(context));
    uint8_t* output = context.output(0)->u8;  // int8 results have the same bits
    return run_int8(context, 3, 2, 5, [=](int64_t index, int channel, int64_t sum) {
        if (bias) sum += bias->i32[channel];
        output[index] = requantize(sum, multipliers[slice_index(weight_scale, channel)]);
    });
}

constexpr Kernel conv_rows[] = {
    {"Conv", "reference", nullptr, run_float<false>},
    {"ConvTranspose", "reference", nullptr, run_float<true>},
    {"ConvInteger", "reference", nullptr, run_integer},
    {"QLinearConv", "reference", nullptr, run_qlinear, prepare_qlinear},
};

}  // namespace

extern const KernelTable conv_reference;
const KernelTable conv_reference = make_table<conv_rows>();

}  // namespace tengine::cpu
