// SPDX-License-Identifier: Apache-2.0
// DFT and STFT of operator/onnx/signal_ops.c, by the definition: every frequency is a sum over all
// samples, in double. The windows and MelWeightMatrix are in spectrum.cc.
#include <algorithm>
#include <cmath>

#include "device/cpu/kernel_table.h"
#include "device/cpu/parallel.h"
#include "device/cpu/reference/vector/elementwise.h"
#include "device/cpu/shared/types.h"
#include "operator/onnx/signal_param.h"

namespace tengine::cpu {
namespace {

struct Complex
{
    double real, imaginary;
};

// A transform of `length` points, of which the first `bins` results are computed.
struct Transform
{
    const Complex* roots;  // exp(∓2πi·k/length) for k in [0, length)
    int64_t length;
    int64_t bins;
    double scale;
    int components;  // numbers of a result: 2, or 1 for the real part only
};

// Requests the roots, and a line of samples for each worker.
void request_scratch(KernelContext& context, int64_t length)
{
    const int64_t lines = 1 + int64_t{get_thread_pool_size(context.pool)};
    context.scratch_size = static_cast<uint64_t>(length * lines) * sizeof(Complex);
}

Transform make_transform(const KernelContext& context, const dft_size& size, bool inverse)
{
    const int64_t length = size.length;
    constexpr double kTwoPi = 6.283185307179586;
    Complex* roots = static_cast<Complex*>(context.scratch);
    const double step = (inverse ? kTwoPi : -kTwoPi) / static_cast<double>(length);
    for (int64_t k = 0; k < length; ++k) {
        const double angle = step * static_cast<double>(k);
        roots[k] = {std::cos(angle), std::sin(angle)};
    }
    const double scale = inverse ? 1.0 / static_cast<double>(length) : 1.0;
    return {roots, length, size.bins, scale, size.components};
}

// Returns worker `worker`'s line of samples.
Complex* get_line(const KernelContext& context, int64_t length, int worker)
{
    return static_cast<Complex*>(context.scratch) + (1 + int64_t{worker}) * length;
}

// `components` is 1 for real and 2 for complex samples.
template <class T>
Complex read_sample(const T* data, int components)
{
    return {static_cast<double>(data[0]), components == 2 ? static_cast<double>(data[1]) : 0.0};
}

// Transforms `count` samples followed by zeros. Results are `stride` elements apart.
template <class T>
void transform_line(const Transform& transform, const Complex* line, int64_t count, T* out,
                    int64_t stride)
{
    for (int64_t bin = 0; bin < transform.bins; ++bin) {
        Complex sum = {0, 0};
        int64_t power = 0;  // bin * i modulo length
        for (int64_t i = 0; i < count; ++i) {
            const Complex root = transform.roots[power];
            sum.real += line[i].real * root.real - line[i].imaginary * root.imaginary;
            sum.imaginary += line[i].real * root.imaginary + line[i].imaginary * root.real;
            power += bin;
            if (power >= transform.length) power -= transform.length;
        }
        out[bin * stride] = static_cast<T>(static_cast<compute_t<T>>(sum.real * transform.scale));
        if (transform.components == 1) continue;
        out[bin * stride + 1] =
            static_cast<T>(static_cast<compute_t<T>>(sum.imaginary * transform.scale));
    }
}

// ---- DFT ----

int prepare_dft(KernelContext& context)
{
    dft_size size = {};
    TENGINE_RETURN_IF_ERROR(read_dft_size(context.node, &size));
    request_scratch(context, size.length);
    return TENGINE_OK;
}

// Completes a line of `length` samples, the first `given` of which are set: the others mirror them.
void mirror_spectrum(Complex* samples, int64_t given, int64_t length)
{
    std::fill(samples + given, samples + length, Complex{0, 0});
    for (int64_t i = 1; i < given && 2 * i < length; ++i)
        samples[length - i] = {samples[i].real, -samples[i].imaginary};
}

template <class T>
void transform_axis(const KernelContext& context, const dft_size& size)
{
    const tensor* input = context.input(0);
    const int last = input->dim_num - 1;
    const int components = input->dims[last];
    const int64_t dimension = input->dims[size.axis];
    const int64_t inner = multiply_dims(input, size.axis + 1, last);
    const int64_t lines = multiply_dims(input, 0, size.axis) * inner;
    const bool to_real = size.components == 1;
    const int64_t count = std::min(dimension, to_real ? size.length / 2 + 1 : size.length);
    const bool inverse = context.param<dft_param>().inverse != 0;
    const Transform transform = make_transform(context, size, inverse);
    const T* data = static_cast<const T*>(input->data);
    T* out = static_cast<T*>(context.output(0)->data);
    parallel_for(context.pool, lines, 1, [&](int64_t begin, int64_t end, int worker) {
        Complex* samples = get_line(context, size.length, worker);
        for (int64_t line = begin; line < end; ++line) {
            const int64_t before = line / inner;
            const int64_t after = line % inner;
            const T* from = data + (before * dimension * inner + after) * components;
            for (int64_t i = 0; i < count; ++i)
                samples[i] = read_sample(from + i * inner * components, components);
            if (to_real) mirror_spectrum(samples, count, size.length);
            transform_line(transform, samples, to_real ? size.length : count,
                           out + (before * size.bins * inner + after) * size.components,
                           inner * size.components);
        }
    });
}

int run_dft(KernelContext& context)
{
    dft_size size = {};
    TENGINE_RETURN_IF_ERROR(read_dft_size(context.node, &size));
    return dispatch_type(FloatTypes{}, context.input(0)->data_type, [&](auto type) {
        transform_axis<typename decltype(type)::type>(context, size);
        return TENGINE_OK;
    });
}

// ---- STFT ----

int prepare_stft(KernelContext& context)
{
    stft_size size = {};
    TENGINE_RETURN_IF_ERROR(read_stft_size(context.node, &size));
    request_scratch(context, size.length);
    return TENGINE_OK;
}

template <class T>
void transform_frames(const KernelContext& context, const stft_size& size)
{
    const tensor* signal = context.input(0);
    const int components = size.components;
    const Transform transform = make_transform(context, {1, size.length, size.bins, 2}, false);
    const T* data = static_cast<const T*>(signal->data);
    const T* window = context.input(2) ? static_cast<const T*>(context.input(2)->data) : nullptr;
    T* out = static_cast<T*>(context.output(0)->data);
    const int64_t lines = signal->dims[0] * size.frames;
    parallel_for(context.pool, lines, 1, [&](int64_t begin, int64_t end, int worker) {
        Complex* samples = get_line(context, size.length, worker);
        for (int64_t line = begin; line < end; ++line) {
            const int64_t start =
                line / size.frames * signal->dims[1] + line % size.frames * size.step;
            for (int64_t i = 0; i < size.length; ++i) {
                const Complex sample = read_sample(data + (start + i) * components, components);
                const double weight = window ? static_cast<double>(window[i]) : 1.0;
                samples[i] = {sample.real * weight, sample.imaginary * weight};
            }
            transform_line(transform, samples, size.length, out + line * size.bins * 2, 2);
        }
    });
}

int run_stft(KernelContext& context)
{
    stft_size size = {};
    TENGINE_RETURN_IF_ERROR(read_stft_size(context.node, &size));
    return dispatch_type(FloatTypes{}, context.input(0)->data_type, [&](auto type) {
        transform_frames<typename decltype(type)::type>(context, size);
        return TENGINE_OK;
    });
}

constexpr Kernel signal_rows[] = {
    {"DFT", "reference", accepts_input<FloatTypes>, run_dft, prepare_dft},
    {"STFT", "reference", accepts_input<FloatTypes>, run_stft, prepare_stft},
};

}  // namespace

extern const KernelTable signal_reference;
const KernelTable signal_reference = make_table<signal_rows>();

}  // namespace tengine::cpu
