// SPDX-License-Identifier: Apache-2.0
// LRN across channels (Krizhevsky et al., 2012):
// y[c] = x[c] / (bias + alpha / size * sum of x[k]^2 over the `size` channels around c)^beta.
#include <algorithm>
#include <cmath>

#include "device/cpu/kernel_table.h"
#include "device/cpu/parallel.h"
#include "device/cpu/shared/grain.h"
#include "device/cpu/shared/types.h"
#include "operator/onnx/norm_param.h"

namespace tengine::cpu {
namespace {

// Positions of a channel with accumulators on the stack.
constexpr int kBlock = 128;

// Computes one channel of one image; `image` is its channel 0.
template <class T>
void normalize_channel(const lrn_param& param, const T* image, int channel, int channels,
                       int64_t extent, T* y)
{
    const int first = std::max(0, channel - (param.size - 1) / 2);
    const int last =
        static_cast<int>(std::min<int64_t>(channels, int64_t{channel} + param.size / 2 + 1));
    const double factor = double{param.alpha} / param.size;
    const T* x = image + channel * extent;
    double squares[kBlock];
    for (int64_t begin = 0; begin < extent; begin += kBlock) {
        const int64_t count = std::min<int64_t>(kBlock, extent - begin);
        std::fill_n(squares, count, 0.0);
        for (int k = first; k < last; ++k) {
            const T* neighbour = image + k * extent + begin;
            for (int64_t i = 0; i < count; ++i) {
                const double value = neighbour[i];
                squares[i] += value * value;
            }
        }
        for (int64_t i = 0; i < count; ++i)
            y[begin + i] = static_cast<T>(
                x[begin + i] * std::pow(param.bias + factor * squares[i], -double{param.beta}));
    }
}

int run_lrn(KernelContext& context)
{
    const lrn_param& param = context.param<lrn_param>();
    const tensor* input = context.input(0);
    const int channels = input->dims[1];
    const int64_t extent = multiply_dims(input, 2, input->dim_num);
    return dispatch_type(FloatTypes{}, input->data_type, [&](auto type) {
        using T = typename decltype(type)::type;
        const T* x = static_cast<const T*>(input->data);
        T* y = static_cast<T*>(context.output(0)->data);
        const auto normalize = [&](int64_t begin, int64_t end, int) {
            for (int64_t plane = begin; plane < end; ++plane) {
                const T* image = x + plane / channels * channels * extent;
                normalize_channel(param, image, static_cast<int>(plane % channels), channels,
                                  extent, y + plane * extent);
            }
        };
        parallel_for(context.pool, int64_t{input->dims[0]} * channels, grain_for(extent),
                     normalize);
        return TENGINE_OK;
    });
}

constexpr Kernel lrn_rows[] = {
    {"LRN", "reference", nullptr, run_lrn},
};

}  // namespace

extern const KernelTable lrn_reference;
const KernelTable lrn_reference = make_table<lrn_rows>();

}  // namespace tengine::cpu
