// SPDX-License-Identifier: Apache-2.0
// BatchNormalization, InstanceNormalization, GroupNormalization, LayerNormalization,
// RMSNormalization (also under its older name) and LpNormalization. LRN is in lrn.cc. Statistics
// are computed in double, in two passes.
#include <cmath>

#include "device/cpu/kernel_table.h"
#include "device/cpu/parallel.h"
#include "device/cpu/reference/vector/quantize.h"
#include "device/cpu/shared/grain.h"
#include "device/cpu/shared/types.h"
#include "operator/onnx/norm_param.h"

namespace tengine::cpu {
namespace {

struct Moments
{
    double mean, variance;  // of the population
};

// Returns the moments of `pieces` runs of `count` values that are `stride` elements apart.
template <class T>
Moments moments_of(const T* x, int64_t pieces, int64_t stride, int64_t count)
{
    const double num = static_cast<double>(pieces) * static_cast<double>(count);
    double sum = 0;
    for (int64_t piece = 0; piece < pieces; ++piece)
        for (int64_t i = 0; i < count; ++i)
            sum += x[piece * stride + i];
    const double mean = sum / num;
    double squares = 0;
    for (int64_t piece = 0; piece < pieces; ++piece)
        for (int64_t i = 0; i < count; ++i) {
            const double distance = x[piece * stride + i] - mean;
            squares += distance * distance;
        }
    return {mean, squares / num};
}

// y = (x - mean) / sqrt(variance + epsilon) * scale + bias. Combined, the mean and the bias would
// be one constant, but far from 0 it and the product are large and cancel.
struct Line
{
    double mean, slope, bias;

    Line(const Moments& moments, double epsilon, double scale, double offset)
        : mean(moments.mean), slope(scale / std::sqrt(moments.variance + epsilon)), bias(offset)
    {
    }
};

// The bias includes the rounding error of the mean.
template <class T>
void apply(const Line& line, const T* x, int64_t count, T* y)
{
    using C = compute_t<T>;
    const auto mean = static_cast<C>(line.mean);
    const auto slope = static_cast<C>(line.slope);
    const double lost = std::isfinite(line.mean) ? line.mean - mean : 0;
    const auto bias = static_cast<C>(line.bias - lost * line.slope);
    for (int64_t i = 0; i < count; ++i)
        y[i] = static_cast<T>((x[i] - mean) * slope + bias);
}

void write_real(tensor* target, int64_t index, double value)
{
    dispatch_type(FloatTypes{}, target->data_type, [&](auto type) {
        using T = typename decltype(type)::type;
        static_cast<T*>(target->data)[index] = static_cast<T>(value);
        return TENGINE_OK;
    });
}

// N x C x rest; a list has one channel.
struct Channels
{
    int64_t batch, num, extent;

    explicit Channels(const tensor* tensor)
        : batch(tensor->dims[0]),
          num(tensor->dim_num > 1 ? tensor->dims[1] : 1),
          extent(tensor->dim_num > 2 ? multiply_dims(tensor, 2, tensor->dim_num) : 1)
    {
    }
};

// Returns the given statistics of a channel, or in training those of the batch, which also update
// the running ones.
template <class T>
Moments batch_moments(const KernelContext& context, const Channels& channels, int64_t c)
{
    const batch_norm_param& param = context.param<batch_norm_param>();
    const Moments given = {read_real(context.input(3), c), read_real(context.input(4), c)};
    if (!param.training_mode) return given;
    const T* x = static_cast<const T*>(context.input(0)->data) + c * channels.extent;
    const Moments batch =
        moments_of(x, channels.batch, channels.num * channels.extent, channels.extent);
    const double momentum = param.momentum;
    if (tensor* mean = context.output(1))
        write_real(mean, c, given.mean * momentum + batch.mean * (1 - momentum));
    if (tensor* variance = context.output(2))
        write_real(variance, c, given.variance * momentum + batch.variance * (1 - momentum));
    return batch;
}

template <class T>
void normalize_batch(const KernelContext& context)
{
    const double epsilon = context.param<batch_norm_param>().epsilon;
    const Channels channels(context.input(0));
    const T* x = static_cast<const T*>(context.input(0)->data);
    T* y = static_cast<T*>(context.output(0)->data);
    const auto normalize_channels = [&](int64_t begin, int64_t end, int) {
        for (int64_t c = begin; c < end; ++c) {
            const Line line(batch_moments<T>(context, channels, c), epsilon,
                            read_real(context.input(1), c), read_real(context.input(2), c));
            for (int64_t n = 0; n < channels.batch; ++n) {
                const int64_t plane = (n * channels.num + c) * channels.extent;
                apply(line, x + plane, channels.extent, y + plane);
            }
        }
    };
    parallel_for(context.pool, channels.num, grain_for(channels.batch * channels.extent),
                 normalize_channels);
}

int run_batch_norm(KernelContext& context)
{
    return dispatch_type(FloatTypes{}, context.input(0)->data_type, [&](auto type) {
        normalize_batch<typename decltype(type)::type>(context);
        return TENGINE_OK;
    });
}

// InstanceNormalization is GroupNormalization with one channel per group.
int normalize_groups(const KernelContext& context, int64_t groups, double epsilon)
{
    const tensor* scale = context.input(1);
    const tensor* bias = context.input(2);
    const Channels channels(context.input(0));
    if (context.input(0)->elem_num == 0) return TENGINE_OK;
    const int64_t group_channels = channels.num / groups;
    const int64_t group_size = group_channels * channels.extent;
    return dispatch_type(FloatTypes{}, context.input(0)->data_type, [&](auto type) {
        using T = typename decltype(type)::type;
        const T* input = static_cast<const T*>(context.input(0)->data);
        T* output = static_cast<T*>(context.output(0)->data);
        const auto normalize = [&](int64_t begin, int64_t end, int) {
            for (int64_t item = begin; item < end; ++item) {
                const T* x = input + item * group_size;
                T* y = output + item * group_size;
                const Moments moments = moments_of(x, 1, 0, group_size);
                for (int64_t c = 0; c < group_channels; ++c) {
                    const int64_t group = item % groups;
                    const int64_t channel = group * group_channels + c;
                    const Line line(moments, epsilon,
                                    read_real(scale, scale->elem_num == groups ? group : channel),
                                    read_real(bias, bias->elem_num == groups ? group : channel));
                    apply(line, x + c * channels.extent, channels.extent, y + c * channels.extent);
                }
            }
        };
        parallel_for(context.pool, channels.batch * groups, grain_for(group_size), normalize);
        return TENGINE_OK;
    });
}

int run_instance_norm(KernelContext& context)
{
    return normalize_groups(context, context.input(0)->dims[1],
                            context.param<instance_norm_param>().epsilon);
}

int run_group_norm(KernelContext& context)
{
    const group_norm_param& param = context.param<group_norm_param>();
    return normalize_groups(context, param.num_groups, param.epsilon);
}

// Scale or bias of LayerNormalization, which broadcasts to the shape of x. It mostly has exactly
// the normalised dimensions.
class Spread
{
  public:
    Spread(const tensor* values, const tensor* x, int axis) : values_(values), x_(x)
    {
        is_inner_ = values && values->elem_num == multiply_dims(x, axis, x->dim_num) &&
                    values->dim_num <= x->dim_num - axis;
    }

    // Returns the value for element `inner` of row `row` of rows of `size` elements.
    template <class T>
    compute_t<T> at(int64_t row, int64_t inner, int64_t size, compute_t<T> otherwise) const
    {
        if (!values_) return otherwise;
        const T* data = static_cast<const T*>(values_->data);
        return data[is_inner_ ? inner : find(row * size + inner)];
    }

  private:
    // Returns the offset of the value for element `position` of x.
    int64_t find(int64_t position) const
    {
        int64_t offset = 0, stride = 1;
        for (int i = 1; i <= values_->dim_num; ++i) {
            const int dim = values_->dims[values_->dim_num - i];
            const int x_dim = x_->dims[x_->dim_num - i];
            if (dim != 1) offset += position % x_dim * stride;
            position /= x_dim;
            stride *= dim;
        }
        return offset;
    }

    const tensor* values_;
    const tensor* x_;
    bool is_inner_;
};

// Returns the moments about 0 instead of the mean.
template <class T>
Moments moments_about_zero(const T* x, int64_t count)
{
    double squares = 0;
    for (int64_t i = 0; i < count; ++i)
        squares += static_cast<double>(x[i]) * x[i];
    return {0, squares / static_cast<double>(count)};
}

// T is the type of the input, V that of scale, bias and output. If they differ, the normalised
// values are rounded to the input's type before they are scaled.
template <class T, class V, bool kAboutMean>
void normalize_layers(const KernelContext& context, int axis)
{
    using Normal = std::conditional_t<std::is_same_v<T, V>, compute_t<T>, T>;
    const double epsilon = context.param<layer_norm_param>().epsilon;
    const tensor* input = context.input(0);
    const Spread scale(context.input(1), input, axis);
    const Spread bias(context.input(2), input, axis);
    tensor* means = kAboutMean ? context.output(1) : nullptr;
    tensor* inverses = context.output(kAboutMean ? 2 : 1);
    const int64_t row_num = multiply_dims(input, 0, axis);
    const int64_t size = multiply_dims(input, axis, input->dim_num);
    const auto normalize = [&](int64_t begin, int64_t end, int) {
        for (int64_t row = begin; row < end; ++row) {
            const T* x = static_cast<const T*>(input->data) + row * size;
            V* y = static_cast<V*>(context.output(0)->data) + row * size;
            const Moments moments =
                kAboutMean ? moments_of(x, 1, 0, size) : moments_about_zero(x, size);
            const double inverse = 1 / std::sqrt(moments.variance + epsilon);
            if (means) write_real(means, row, moments.mean);
            if (inverses) write_real(inverses, row, inverse);
            for (int64_t i = 0; i < size; ++i) {
                const auto normal = static_cast<Normal>((x[i] - moments.mean) * inverse);
                y[i] = static_cast<V>(static_cast<compute_t<V>>(normal) *
                                          scale.template at<V>(row, i, size, 1) +
                                      bias.template at<V>(row, i, size, 0));
            }
        }
    };
    parallel_for(context.pool, row_num, grain_for(size), normalize);
}

int run_layer_norm(KernelContext& context)
{
    int axis;
    TENGINE_RETURN_IF_ERROR(normalize_axis(context.node, context.param<layer_norm_param>().axis,
                                           context.input(0)->dim_num, &axis));
    return dispatch_type(FloatTypes{}, context.input(0)->data_type, [&](auto type) {
        using T = typename decltype(type)::type;
        normalize_layers<T, T, true>(context, axis);
        return TENGINE_OK;
    });
}

int run_rms_norm(KernelContext& context)
{
    int axis;
    TENGINE_RETURN_IF_ERROR(normalize_axis(context.node, context.param<layer_norm_param>().axis,
                                           context.input(0)->dim_num, &axis));
    return dispatch_type(FloatTypes{}, context.input(0)->data_type, [&](auto type) {
        return dispatch_type(FloatTypes{}, context.input(1)->data_type, [&](auto scale_type) {
            normalize_layers<typename decltype(type)::type, typename decltype(scale_type)::type,
                             false>(context, axis);
            return TENGINE_OK;
        });
    });
}

// Divides `count` values that are `stride` apart by their norm; zeros stay zeros.
template <class T>
void divide_by_norm(const T* x, int64_t count, int64_t stride, int p, T* y)
{
    double norm = 0;
    for (int64_t i = 0; i < count; ++i) {
        const double value = x[i * stride];
        norm += p == 1 ? std::fabs(value) : value * value;
    }
    if (p == 2) norm = std::sqrt(norm);
    for (int64_t i = 0; i < count; ++i)
        y[i * stride] = norm == 0 ? T(0) : static_cast<T>(x[i * stride] / norm);
}

int run_lp_norm(KernelContext& context)
{
    const lp_norm_param& param = context.param<lp_norm_param>();
    const tensor* input = context.input(0);
    int axis;
    TENGINE_RETURN_IF_ERROR(normalize_axis(context.node, param.axis, input->dim_num, &axis));
    const int64_t count = input->dims[axis];
    const int64_t stride = multiply_dims(input, axis + 1, input->dim_num);
    const int64_t outer = multiply_dims(input, 0, axis);
    return dispatch_type(FloatTypes{}, input->data_type, [&](auto type) {
        using T = typename decltype(type)::type;
        const T* x = static_cast<const T*>(input->data);
        T* y = static_cast<T*>(context.output(0)->data);
        const auto normalize = [&](int64_t begin, int64_t end, int) {
            for (int64_t item = begin; item < end; ++item) {
                const int64_t start = item / stride * count * stride + item % stride;
                divide_by_norm(x + start, count, stride, param.p, y + start);
            }
        };
        parallel_for(context.pool, outer * stride, grain_for(count), normalize);
        return TENGINE_OK;
    });
}

constexpr Kernel norm_rows[] = {
    {.op = "BatchNormalization", .name = "reference", .run = run_batch_norm, .in_place_input = 0},
    {.op = "InstanceNormalization",
     .name = "reference",
     .run = run_instance_norm,
     .in_place_input = 0},
    {.op = "GroupNormalization", .name = "reference", .run = run_group_norm, .in_place_input = 0},
    {.op = "LayerNormalization", .name = "reference", .run = run_layer_norm, .in_place_input = 0},
    {.op = "RMSNormalization", .name = "reference", .run = run_rms_norm, .in_place_input = 0},
    {.op = "SimplifiedLayerNormalization",
     .name = "reference",
     .run = run_rms_norm,
     .in_place_input = 0},
    {.op = "LpNormalization", .name = "reference", .run = run_lp_norm, .in_place_input = 0},
};

}  // namespace

extern const KernelTable norm_reference;
const KernelTable norm_reference = make_table<norm_rows>();

}  // namespace tengine::cpu
