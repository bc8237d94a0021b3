// SPDX-License-Identifier: Apache-2.0
// HannWindow, HammingWindow, BlackmanWindow and MelWeightMatrix of operator/onnx/signal_ops.c; the
// transforms are in signal.cc.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/float_to_index.h"
#include "device/cpu/kernel_table.h"
#include "device/cpu/shared/types.h"
#include "operator/onnx/signal_param.h"

namespace tengine::cpu {
namespace {

// ---- windows ----

// w(i) = constant - first * cos(angle) + second * cos(2 * angle)
struct Cosines
{
    double constant, first, second;
};

// The angle goes from 0 to 2 pi over the window; a symmetric one ends at its first value.
double evaluate_window(const Cosines& cosines, int64_t i, int64_t size, bool periodic)
{
    constexpr double kTwoPi = 6.283185307179586;
    const int64_t period = periodic ? size : size - 1;
    if (period == 0) return 1.0;  // a symmetric window of one point is its peak
    const double angle = kTwoPi * static_cast<double>(i) / static_cast<double>(period);
    return cosines.constant - cosines.first * std::cos(angle) +
           cosines.second * std::cos(2 * angle);
}

int fill_window(const KernelContext& context, const Cosines& cosines)
{
    const tensor* output = context.output(0);
    const bool periodic = context.param<window_function_param>().periodic != 0;
    return dispatch_type(NumberTypes{}, output->data_type, [&](auto type) {
        using T = typename decltype(type)::type;
        T* to = static_cast<T*>(output->data);
        for (int64_t i = 0; i < output->elem_num; ++i) {
            const double value = evaluate_window(cosines, i, output->elem_num, periodic);
            to[i] = static_cast<T>(static_cast<compute_t<T>>(value));
        }
        return TENGINE_OK;
    });
}

int run_hann(KernelContext& context)
{
    return fill_window(context, {0.5, 0.5, 0.0});
}

int run_hamming(KernelContext& context)
{
    return fill_window(context, {25.0 / 46.0, 21.0 / 46.0, 0.0});
}

int run_blackman(KernelContext& context)
{
    return fill_window(context, {0.42, 0.5, 0.08});
}

// ---- MelWeightMatrix ----

double hertz_to_mel(double hertz)
{
    return 2595.0 * std::log10(1.0 + hertz / 700.0);
}

double mel_to_hertz(double mel)
{
    return 700.0 * (std::pow(10.0, mel / 2595.0) - 1.0);
}

// The corners of the triangles, spaced evenly on the mel scale: triangle i rises from corner i to
// corner i + 1 and falls to corner i + 2.
struct MelScale
{
    double low_mel = 0;
    double step = 0;
    double rows_per_hertz = 0;

    // Returns the row (frequency of the DFT) of a corner.
    double find_row(int64_t corner) const
    {
        const double hertz = mel_to_hertz(low_mel + step * static_cast<double>(corner));
        return std::floor(hertz * rows_per_hertz);
    }
};

int read_mel_scale(const KernelContext& context, MelScale* out_scale)
{
    int64_t dft_length = 0;
    int64_t sample_rate = 0;
    float low = 0;
    float high = 0;
    int num;
    TENGINE_RETURN_IF_ERROR(read_int_input(context.node, 1, &dft_length, 1, &num));
    TENGINE_RETURN_IF_ERROR(read_int_input(context.node, 2, &sample_rate, 1, &num));
    TENGINE_RETURN_IF_ERROR(read_float_input(context.node, 3, &low, 1, &num));
    TENGINE_RETURN_IF_ERROR(read_float_input(context.node, 4, &high, 1, &num));
    if (sample_rate < 1) {
        return fail_node(context.node, TENGINE_ERANGE,
                         "sample_rate is %lld, expected a positive number",
                         static_cast<long long>(sample_rate));
    }
    if (!(low >= 0 && low <= high && std::isfinite(high))) {
        return fail_node(context.node, TENGINE_ERANGE,
                         "the edges are %g and %g Hz, expected 0 <= lower <= upper",
                         static_cast<double>(low), static_cast<double>(high));
    }
    // The specification's example divides by the number of corners, not by the number of gaps.
    const double corners = static_cast<double>(context.output(0)->dims[1]) + 2;
    out_scale->low_mel = hertz_to_mel(low);
    out_scale->step = (hertz_to_mel(high) - out_scale->low_mel) / corners;
    out_scale->rows_per_hertz =
        (static_cast<double>(dft_length) + 1) / static_cast<double>(sample_rate);
    return TENGINE_OK;
}

// Writes one column of the matrix; its elements are `stride` apart and 0 before.
template <class T>
void draw_triangle(int64_t start, int64_t peak, int64_t end, T* column, int64_t stride)
{
    using C = compute_t<T>;
    const auto divide = [](int64_t part, int64_t whole) {
        return static_cast<T>(
            static_cast<C>(static_cast<double>(part) / static_cast<double>(whole)));
    };
    for (int64_t row = start; row < peak; ++row)
        column[row * stride] = divide(row - start, peak - start);
    column[peak * stride] = static_cast<T>(1);
    for (int64_t row = peak + 1; row < end; ++row)
        column[row * stride] = divide(end - row, end - peak);
}

// `last_row` is the row of the last corner; rounding must not move another corner beyond it.
template <class T>
void draw_triangles(const MelScale& scale, int64_t last_row, const tensor* output)
{
    T* to = static_cast<T*>(output->data);
    const int64_t columns = output->dims[1];
    const auto find_row = [&](int64_t corner) {
        return float_to_index(scale.find_row(corner), 0, last_row);
    };
    for (int64_t i = 0; i < columns; ++i)
        draw_triangle(find_row(i), find_row(i + 1), find_row(i + 2), to + i, columns);
}

int run_mel_weight_matrix(KernelContext& context)
{
    const tensor* output = context.output(0);
    MelScale scale;
    TENGINE_RETURN_IF_ERROR(read_mel_scale(context, &scale));
    if (output->elem_num == 0) return TENGINE_OK;
    const double last_row = scale.find_row(int64_t{output->dims[1]} + 1);
    if (!(last_row < output->dims[0])) {
        return fail_node(context.node, TENGINE_ERANGE,
                         "upper_edge_hertz is beyond half the sample rate: the DFT has %d "
                         "frequencies, the highest band ends at number %.0f",
                         output->dims[0], last_row);
    }
    std::memset(output->data, 0, get_ir_tensor_bytes(output));
    return dispatch_type(NumberTypes{}, output->data_type, [&](auto type) {
        draw_triangles<typename decltype(type)::type>(
            scale, float_to_index(last_row, 0, output->dims[0] - 1), output);
        return TENGINE_OK;
    });
}

constexpr Kernel spectrum_rows[] = {
    {"HannWindow", "reference", nullptr, run_hann},
    {"HammingWindow", "reference", nullptr, run_hamming},
    {"BlackmanWindow", "reference", nullptr, run_blackman},
    {"MelWeightMatrix", "reference", nullptr, run_mel_weight_matrix},
};

}  // namespace

extern const KernelTable spectrum_reference;
const KernelTable spectrum_reference = make_table<spectrum_rows>();

}  // namespace tengine::cpu
