// SPDX-License-Identifier: Apache-2.0
// Reference kernels of activation functions with parameters (operator/onnx/activation_ops.c). The
// parameters are floats, which are not converted to the type of double and integer elements.
#include <cmath>
#include <cstring>
#include <limits>

#include "device/cpu/kernel_table.h"
#include "device/cpu/reference/vector/arithmetic.h"
#include "device/cpu/reference/vector/elementwise.h"
#include "operator/onnx/activation_param.h"

namespace tengine::cpu {
namespace {

int run_leaky_relu(KernelContext& context)
{
    const float alpha = context.param<alpha_param>().alpha;
    return map_same_type<FloatTypes>(context, [=](auto x) { return x < 0 ? alpha * x : x; });
}

int run_elu(KernelContext& context)
{
    const float alpha = context.param<alpha_param>().alpha;
    return map_same_type<FloatTypes>(context,
                                     [=](auto x) { return x < 0 ? alpha * std::expm1(x) : x; });
}

int run_celu(KernelContext& context)
{
    const float alpha = context.param<alpha_param>().alpha;
    return map_same_type<FloatTypes>(
        context, [=](auto x) { return x < 0 ? alpha * std::expm1(x / alpha) : x; });
}

int run_selu(KernelContext& context)
{
    const auto [alpha, gamma] = context.param<selu_param>();
    const float scale = alpha * gamma;
    const float slope = gamma;
    return map_same_type<FloatTypes>(
        context, [=](auto x) { return x < 0 ? scale * std::expm1(x) : slope * x; });
}

int run_swish(KernelContext& context)
{
    const float alpha = context.param<alpha_param>().alpha;
    return map_same_type<FloatTypes>(context,
                                     [=](auto x) { return x / (1 + std::exp(-alpha * x)); });
}

int run_thresholded_relu(KernelContext& context)
{
    const float alpha = context.param<alpha_param>().alpha;
    return map_same_type<FloatTypes>(context,
                                     [=](auto x) { return x > alpha ? x : decltype(x)(0); });
}

int run_hard_sigmoid(KernelContext& context)
{
    const hard_sigmoid_param param = context.param<hard_sigmoid_param>();
    return map_same_type<FloatTypes>(context, [=](auto x) {
        using T = decltype(x);
        const T y = param.alpha * x + param.beta;
        return y < 0 ? T(0) : y > 1 ? T(1) : y;
    });
}

int run_shrink(KernelContext& context)
{
    const shrink_param param = context.param<shrink_param>();
    return map_same_type<NumberTypes>(context, [=](auto x) {
        using T = decltype(x);
        const double value = static_cast<double>(x);
        if (value < -param.lambd) return from_double<T>(value + param.bias);
        if (value > param.lambd) return from_double<T>(value - param.bias);
        return T(0);
    });
}

int run_gelu(KernelContext& context)
{
    if (std::strcmp(context.param<gelu_param>().approximate, "tanh") == 0) {
        return map_same_type<FloatTypes>(context, [](auto x) {
            using T = decltype(x);
            constexpr T kSqrtOfTwoOverPi = T(0.79788456080286535588);
            return T(0.5) * x *
                   (T(1) + std::tanh(kSqrtOfTwoOverPi * (x + T(0.044715) * x * x * x)));
        });
    }
    return map_same_type<FloatTypes>(context, [](auto x) {
        using T = decltype(x);
        constexpr T kSqrtOfHalf = T(0.70710678118654752440);
        return T(0.5) * x * (T(1) + std::erf(x * kSqrtOfHalf));
    });
}

// Returns the value of an optional scalar input.
template <class T>
compute_t<T> read_bound(const tensor* bound, compute_t<T> otherwise)
{
    return bound ? static_cast<compute_t<T>>(*static_cast<const T*>(bound->data)) : otherwise;
}

int run_clip(KernelContext& context)
{
    return dispatch_type(NumberTypes{}, context.input(0)->data_type, [&](auto type) {
        using T = typename decltype(type)::type;
        using C = compute_t<T>;
        using Limits = std::numeric_limits<C>;
        // Without a bound infinities are not clipped either.
        constexpr C kLow = Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
        constexpr C kHigh = Limits::has_infinity ? Limits::infinity() : Limits::max();
        const C low = read_bound<T>(context.input(1), kLow);
        const C high = read_bound<T>(context.input(2), kHigh);
        return map_elements<T, T>(context, [=](C x) {
            const C raised = x < low ? low : x;
            return raised > high ? high : raised;
        });
    });
}

using PReluTypes = TypeList<float, Half, BFloat16, double, int32_t, uint32_t, int64_t, uint64_t>;

int run_prelu(KernelContext& context)
{
    return dispatch_type(PReluTypes{}, context.input(0)->data_type, [&](auto type) {
        using T = typename decltype(type)::type;
        combine_broadcast<T, T>(
            context, context.input(0), context.input(1),
            [](auto x, auto slope) { return x < 0 ? wrap_multiply(x, slope) : x; });
        return TENGINE_OK;
    });
}

constexpr Kernel activation_rows[] = {
    {.op = "Celu",
     .name = "reference",
     .accepts = accepts_input<FloatTypes>,
     .run = run_celu,
     .in_place_input = 0},
    {.op = "Clip",
     .name = "reference",
     .accepts = accepts_input<NumberTypes>,
     .run = run_clip,
     .in_place_input = 0},
    {.op = "Elu",
     .name = "reference",
     .accepts = accepts_input<FloatTypes>,
     .run = run_elu,
     .in_place_input = 0},
    {.op = "Gelu",
     .name = "reference",
     .accepts = accepts_input<FloatTypes>,
     .run = run_gelu,
     .in_place_input = 0},
    {.op = "HardSigmoid",
     .name = "reference",
     .accepts = accepts_input<FloatTypes>,
     .run = run_hard_sigmoid,
     .in_place_input = 0},
    {.op = "LeakyRelu",
     .name = "reference",
     .accepts = accepts_input<FloatTypes>,
     .run = run_leaky_relu,
     .in_place_input = 0},
    {.op = "PRelu",
     .name = "reference",
     .accepts = accepts_input<PReluTypes>,
     .run = run_prelu,
     .in_place_input = 0},
    {.op = "Selu",
     .name = "reference",
     .accepts = accepts_input<FloatTypes>,
     .run = run_selu,
     .in_place_input = 0},
    {.op = "Shrink",
     .name = "reference",
     .accepts = accepts_input<NumberTypes>,
     .run = run_shrink,
     .in_place_input = 0},
    {.op = "Swish",
     .name = "reference",
     .accepts = accepts_input<FloatTypes>,
     .run = run_swish,
     .in_place_input = 0},
    {.op = "ThresholdedRelu",
     .name = "reference",
     .accepts = accepts_input<FloatTypes>,
     .run = run_thresholded_relu,
     .in_place_input = 0},
};

}  // namespace

extern const KernelTable activation_reference;
const KernelTable activation_reference = make_table<activation_rows>();

}  // namespace tengine::cpu
