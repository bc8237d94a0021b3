// SPDX-License-Identifier: Apache-2.0
// Reference kernel of DeformConv (operator/onnx/deform_conv_ops.c). The samples of an output
// position's taps are read once, for all output channels. Everything is computed in double.
#include <cmath>

#include "device/cpu/kernel_table.h"
#include "device/cpu/parallel.h"
#include "device/cpu/shared/grain.h"
#include "device/cpu/shared/types.h"
#include "operator/onnx/deform_conv_param.h"

namespace tengine::cpu {
namespace {

template <class T>
class DeformConv
{
  public:
    explicit DeformConv(const KernelContext& context)
        : context_(context), param_(context.param<deform_conv_param>())
    {
    }

    int resolve()
    {
        TENGINE_RETURN_IF_ERROR(resolve_deform_window(context_.node, &window_));
        taps_ = multiply_window_kernel(&window_);
        positions_ = multiply_dims(context_.output(0), 2, context_.output(0)->dim_num);
        size_ = multiply_dims(context_.input(DEFORM_INPUT), 2, window_.axis_num + 2);
        return TENGINE_OK;
    }

    // Computes all channels of one position of one batch. `samples`: taps of all input channels.
    void convolve(int64_t item, double* samples) const
    {
        const int64_t n = item / positions_, position = item % positions_;
        const tensor* weight = context_.input(DEFORM_WEIGHT);
        const int64_t channels = context_.input(DEFORM_INPUT)->dims[1];
        const int64_t of_group = channels / param_.offset_group;
        for (int64_t channel = 0; channel < channels; ++channel)
            for (int64_t tap = 0; tap < taps_; ++tap)
                samples[channel * taps_ + tap] =
                    sample(n, channel, (n * param_.offset_group + channel / of_group) * taps_ + tap,
                           tap, position);
        const int64_t row = weight->dims[1] * taps_;
        for (int64_t output = 0; output < weight->dims[0]; ++output) {
            const int64_t group = output / (weight->dims[0] / param_.group);
            const T* weights = data_of(DEFORM_WEIGHT) + output * row;
            double sum =
                context_.input(DEFORM_BIAS) ? static_cast<double>(data_of(DEFORM_BIAS)[output]) : 0;
            for (int64_t i = 0; i < row; ++i)
                sum += static_cast<double>(weights[i]) * samples[group * row + i];
            static_cast<T*>(
                context_.output(0)->data)[(n * weight->dims[0] + output) * positions_ + position] =
                static_cast<T>(sum);
        }
    }

    int64_t item_num() const { return context_.output(0)->dims[0] * positions_; }
    int64_t work() const { return context_.input(DEFORM_WEIGHT)->elem_num; }
    int64_t sample_num() const { return context_.input(DEFORM_INPUT)->dims[1] * taps_; }

  private:
    const T* data_of(int index) const { return static_cast<const T*>(context_.input(index)->data); }

    // `place` is the tap's index in all batches and groups.
    double sample(int64_t n, int64_t channel, int64_t place, int64_t tap, int64_t position) const
    {
        double at[WINDOW_MAX_AXES];
        const T* offsets =
            data_of(DEFORM_OFFSET) + place * window_.axis_num * positions_ + position;
        int64_t rest = position;
        for (int i = window_.axis_num - 1; i >= 0; --i) {
            const window_axis& axis = window_.axes[i];
            const int64_t start = rest % axis.output * axis.stride - axis.pad_begin +
                                  tap % axis.kernel * axis.dilation;
            at[i] = static_cast<double>(start) + static_cast<double>(offsets[i * positions_]);
            rest /= axis.output;
            tap /= axis.kernel;
        }
        const int64_t channels = context_.input(DEFORM_INPUT)->dims[1];
        const double value =
            interpolate(data_of(DEFORM_INPUT) + (n * channels + channel) * size_, at);
        if (!context_.input(DEFORM_MASK)) return value;
        return value * static_cast<double>(data_of(DEFORM_MASK)[place * positions_ + position]);
    }

    // Interpolates between the corners around a position; those outside the plane are 0.
    double interpolate(const T* plane, const double at[]) const
    {
        double sum = 0;
        for (unsigned corner = 0; corner < 1u << window_.axis_num; ++corner) {
            double weight = 1;
            int64_t element = 0;
            for (int i = 0; i < window_.axis_num && weight != 0; ++i) {
                const double low = std::floor(at[i]);
                const bool is_high = corner >> i & 1u;
                const double index = is_high ? low + 1 : low;
                const int size = window_.axes[i].input;
                const bool is_inside = index >= 0 && index < size;
                weight *= !is_inside ? 0 : is_high ? at[i] - low : low + 1 - at[i];
                element = element * size + (is_inside ? static_cast<int64_t>(index) : 0);
            }
            if (weight != 0) sum += weight * static_cast<double>(plane[element]);
        }
        return sum;
    }

    const KernelContext& context_;
    const deform_conv_param& param_;
    window window_ = {};
    int64_t taps_ = 0, positions_ = 0, size_ = 0;
};

int prepare(KernelContext& context)
{
    window window;
    TENGINE_RETURN_IF_ERROR(resolve_deform_window(context.node, &window));
    context.scratch_size = sizeof(double) *
                           static_cast<uint64_t>(context.input(DEFORM_INPUT)->dims[1]) *
                           static_cast<uint64_t>(multiply_window_kernel(&window)) *
                           static_cast<uint64_t>(get_thread_pool_size(context.pool));
    return TENGINE_OK;
}

int run(KernelContext& context)
{
    return dispatch_type(
        FloatTypes{}, context.input(DEFORM_INPUT)->data_type, [&](auto type) -> int {
            DeformConv<typename decltype(type)::type> conv(context);
            TENGINE_RETURN_IF_ERROR(conv.resolve());
            parallel_for(context.pool, conv.item_num(), grain_for(conv.work()),
                         [&](int64_t begin, int64_t end, int worker) {
                             double* samples =
                                 static_cast<double*>(context.scratch) + worker * conv.sample_num();
                             for (int64_t item = begin; item < end; ++item)
                                 conv.convolve(item, samples);
                         });
            return TENGINE_OK;
        });
}

constexpr Kernel deform_conv_rows[] = {
    {"DeformConv", "reference", nullptr, run, prepare},
};

}  // namespace

extern const KernelTable deform_conv_reference;
const KernelTable deform_conv_reference = make_table<deform_conv_rows>();

}  // namespace tengine::cpu
