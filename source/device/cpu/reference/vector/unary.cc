// SPDX-License-Identifier: Apache-2.0
// Reference kernels of element-wise operators with one input (operator/onnx/unary_ops.c).
#include <cmath>

#include "device/cpu/kernel_table.h"
#include "device/cpu/reference/norm/exponential.h"
#include "device/cpu/reference/vector/arithmetic.h"
#include "device/cpu/reference/vector/elementwise.h"
#include "device/cpu/reference/vector/small_elements.h"
#include "operator/onnx/unary_param.h"

namespace tengine::cpu {
namespace {

// A function of x, in float or double, or in the integer type of the elements.
#define FUNCTION(name, expression) \
    struct name                    \
    {                              \
        template <class T>         \
        T operator()(T x) const    \
        {                          \
            return expression;     \
        }                          \
    };

FUNCTION(Acos, std::acos(x))
FUNCTION(Acosh, std::acosh(x))
FUNCTION(Asin, std::asin(x))
FUNCTION(Asinh, std::asinh(x))
FUNCTION(Atan, std::atan(x))
FUNCTION(Atanh, std::atanh(x))
FUNCTION(Ceil, std::ceil(x))
FUNCTION(Cos, std::cos(x))
FUNCTION(Cosh, std::cosh(x))
FUNCTION(Exp, exponential(x))
FUNCTION(Floor, std::floor(x))
FUNCTION(Log, std::log(x))
FUNCTION(Reciprocal, T(1) / x)
FUNCTION(Round, std::nearbyint(x))  // ties to even, the default rounding mode
FUNCTION(Sigmoid, T(1) / (T(1) + exponential(-x)))
FUNCTION(Sin, std::sin(x))
FUNCTION(Sinh, std::sinh(x))
FUNCTION(Softsign, x / (T(1) + std::fabs(x)))
FUNCTION(Softplus, (x > 0 ? x : T(0)) + std::log1p(std::exp(-std::fabs(x))))
FUNCTION(Sqrt, std::sqrt(x))
FUNCTION(Tan, std::tan(x))
FUNCTION(Tanh, std::tanh(x))
FUNCTION(Relu, x < 0 ? T(0) : x)  // NaN is kept
FUNCTION(Sign, x > 0 ? T(1) : x < 0 ? T(-1) : x)
FUNCTION(Neg, wrap_negate(x))
#undef FUNCTION

struct Abs
{
    template <class T>
    T operator()(T x) const
    {
        if constexpr (std::is_floating_point_v<T>)
            return std::fabs(x);
        else
            return x < 0 ? wrap_negate(x) : x;
    }
};

// Integers are allowed here too.
struct Erf
{
    template <class T>
    T operator()(T x) const
    {
        if constexpr (std::is_floating_point_v<T>)
            return std::erf(x);
        else
            return static_cast<T>(std::erf(static_cast<double>(x)));
    }
};

struct HardSwish
{
    template <class T>
    T operator()(T x) const
    {
        const T gate = x / T(6) + T(0.5);
        return x * (gate < 0 ? T(0) : gate > 1 ? T(1) : gate);
    }
};

// Returns x tanh(ln(1 + e^x)) = x (y^2 - 1) / (y^2 + 1) with y = 1 + e^x. With e^-|x| nothing
// overflows, and without differences nothing cancels.
struct Mish
{
    template <class T>
    T operator()(T x) const
    {
        const T e = exponential(-std::fabs(x));
        const T square = e * e;
        const T numerator = T(2) * e + (x < 0 ? square : T(1));
        const T denominator = numerator + T(2) * (x < 0 ? T(1) : square);
        return x * (numerator / denominator);
    }
};

template <class Types, class Function>
int run_map(KernelContext& context)
{
    return map_same_type<Types>(context, Function{});
}

int run_not(KernelContext& context)
{
    return map_elements<uint8_t, bool>(context, [](uint8_t x) { return x == 0; });
}

int run_bitwise_not(KernelContext& context)
{
    return dispatch_size(context.input(0)->elem_size, [&](auto type) {
        using T = typename decltype(type)::type;
        return map_elements<T, T>(context, [](T x) { return static_cast<T>(~x); });
    });
}

bool accepts_predicate(const node& node)
{
    const int type = get_ir_node_input(&node, 0)->data_type;
    return has_type(FloatTypes{}, type) || is_small(type);
}

template <class Predicate>
int run_predicate(const KernelContext& context, const Predicate& predicate)
{
    if (is_small(context.input(0)->data_type)) {
        const SmallReader input(context.input(0));
        for (int64_t i = 0; i < context.output(0)->elem_num; ++i)
            context.output(0)->u8[i] = predicate(input[i]);
        return TENGINE_OK;
    }
    return dispatch_type(FloatTypes{}, context.input(0)->data_type, [&](auto type) {
        return map_elements<typename decltype(type)::type, bool>(context, predicate);
    });
}

int run_is_nan(KernelContext& context)
{
    return run_predicate(context, [](auto x) { return x != x; });
}

int run_is_inf(KernelContext& context)
{
    const auto& param = context.param<is_inf_param>();
    const bool positive = param.detect_positive != 0;
    const bool negative = param.detect_negative != 0;
    return run_predicate(context,
                         [=](auto x) { return std::isinf(x) && (x > 0 ? positive : negative); });
}

#define MAP(Function, Types)                                                                   \
    {                                                                                          \
#Function, "reference", accepts_input < Types>, run_map < Types, Function>, nullptr, 0 \
    }

constexpr Kernel unary_rows[] = {
    MAP(Abs, NumberTypes),
    MAP(Acos, FloatTypes),
    MAP(Acosh, FloatTypes),
    MAP(Asin, FloatTypes),
    MAP(Asinh, FloatTypes),
    MAP(Atan, FloatTypes),
    MAP(Atanh, FloatTypes),
    MAP(Ceil, FloatTypes),
    MAP(Cos, FloatTypes),
    MAP(Cosh, FloatTypes),
    MAP(Erf, NumberTypes),
    MAP(Exp, FloatTypes),
    MAP(Floor, FloatTypes),
    MAP(HardSwish, FloatTypes),
    MAP(Log, FloatTypes),
    MAP(Mish, FloatTypes),
    MAP(Neg, SignedTypes),
    MAP(Reciprocal, FloatTypes),
    MAP(Relu, SignedTypes),
    MAP(Round, FloatTypes),
    MAP(Sigmoid, FloatTypes),
    MAP(Sign, NumberTypes),
    MAP(Sin, FloatTypes),
    MAP(Sinh, FloatTypes),
    MAP(Softplus, FloatTypes),
    MAP(Softsign, FloatTypes),
    MAP(Sqrt, FloatTypes),
    MAP(Tan, FloatTypes),
    MAP(Tanh, FloatTypes),
    {"BitwiseNot", "reference", accepts_input<IntegerTypes>, run_bitwise_not, nullptr, 0},
    {"IsInf", "reference", accepts_predicate, run_is_inf},
    {"IsNaN", "reference", accepts_predicate, run_is_nan},
    {"Not", "reference", nullptr, run_not, nullptr, 0},
};

}  // namespace

extern const KernelTable unary_reference;
const KernelTable unary_reference = make_table<unary_rows>();

}  // namespace tengine::cpu
