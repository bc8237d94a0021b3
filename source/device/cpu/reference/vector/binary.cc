// SPDX-License-Identifier: Apache-2.0
// Reference kernels of element-wise arithmetic with two inputs, and of Min Max Sum Mean with any
// number (operator/onnx/binary_ops.c). Neighbours: comparison.cc, pow.cc, where.cc.
#include <cmath>
#include <cstring>

#include "device/cpu/kernel_table.h"
#include "device/cpu/reference/vector/arithmetic.h"
#include "device/cpu/reference/vector/elementwise.h"
#include "operator/onnx/binary_param.h"

namespace tengine::cpu {
namespace {

#define FUNCTION(name, expression)   \
    struct name                      \
    {                                \
        template <class T>           \
        T operator()(T a, T b) const \
        {                            \
            return expression;       \
        }                            \
    };

FUNCTION(Add, wrap_add(a, b))
FUNCTION(Sub, wrap_subtract(a, b))
FUNCTION(Mul, wrap_multiply(a, b))
FUNCTION(Div, wrap_divide(a, b))
FUNCTION(Min, smaller(a, b))
FUNCTION(Max, larger(a, b))
FUNCTION(BitwiseAnd, a& b)
FUNCTION(BitwiseOr, a | b)
FUNCTION(BitwiseXor, a ^ b)
// Shifts by the width or more give 0.
FUNCTION(ShiftLeft, static_cast<T>(b < 8 * sizeof(T) ? static_cast<uint64_t>(a) << b : 0))
FUNCTION(ShiftRight, static_cast<T>(b < 8 * sizeof(T) ? a >> b : 0))
#undef FUNCTION

// The remainder has the sign of the dividend, as in C; 0 if an integer divisor is 0.
struct Remainder
{
    template <class T>
    T operator()(T a, T b) const
    {
        if constexpr (std::is_floating_point_v<T>) {
            return std::fmod(a, b);
        } else {
            const bool minus_one = std::is_signed_v<T> && b == static_cast<T>(-1);
            return b == 0 || minus_one ? T(0) : static_cast<T>(a % b);
        }
    }
};

// The remainder has the sign of the divisor, as in Python.
struct Modulo
{
    template <class T>
    T operator()(T a, T b) const
    {
        const T remainder = Remainder{}(a, b);
        const bool other_side = remainder != 0 && (remainder < 0) != (b < 0);
        return other_side ? static_cast<T>(remainder + b) : remainder;
    }
};

template <class Types, class Function>
int run_binary(KernelContext& context)
{
    return dispatch_type(Types{}, context.input(0)->data_type, [&](auto type) {
        using T = typename decltype(type)::type;
        combine_broadcast<T, T>(context, context.input(0), context.input(1), Function{});
        return TENGINE_OK;
    });
}

template <class Function>
int run_bitwise(KernelContext& context)
{
    return dispatch_size(context.input(0)->elem_size, [&](auto type) {
        using T = typename decltype(type)::type;
        combine_broadcast<T, T>(context, context.input(0), context.input(1), Function{});
        return TENGINE_OK;
    });
}

using ShiftTypes = TypeList<uint8_t, uint16_t, uint32_t, uint64_t>;

int run_bit_shift(KernelContext& context)
{
    const bool left = std::strcmp(context.param<bit_shift_param>().direction, "LEFT") == 0;
    return left ? run_binary<ShiftTypes, ShiftLeft>(context)
                : run_binary<ShiftTypes, ShiftRight>(context);
}

int run_mod(KernelContext& context)
{
    return context.param<mod_param>().fmod ? run_binary<NumberTypes, Remainder>(context)
                                           : run_binary<IntegerTypes, Modulo>(context);
}

// The output holds the running result: output = input 0, then output = output op input i.
template <class T, class Function>
void fold_inputs(const KernelContext& context, const Function& function)
{
    const tensor* output = context.output(0);
    const tensor* first = context.input(0);
    combine_broadcast<T, T>(
        context, first, context.input_num() > 1 ? context.input(1) : first,
        [&](auto a, auto b) { return context.input_num() > 1 ? function(a, b) : a; });
    for (int i = 2; i < context.input_num(); ++i) {
        combine_broadcast<T, T>(context, output, context.input(i), function);
    }
}

template <class Types, class Function>
int run_variadic(KernelContext& context)
{
    return dispatch_type(Types{}, context.input(0)->data_type, [&](auto type) {
        fold_inputs<typename decltype(type)::type>(context, Function{});
        return TENGINE_OK;
    });
}

int run_mean(KernelContext& context)
{
    return dispatch_type(FloatTypes{}, context.input(0)->data_type, [&](auto type) {
        using T = typename decltype(type)::type;
        fold_inputs<T>(context, Add{});
        T* output = static_cast<T*>(context.output(0)->data);
        const compute_t<T> num = static_cast<compute_t<T>>(context.input_num());
        for (int64_t i = 0; i < context.output(0)->elem_num; ++i) {
            output[i] = static_cast<T>(static_cast<compute_t<T>>(output[i]) / num);
        }
        return TENGINE_OK;
    });
}

#define BINARY(Function, Types)                                                                   \
    {                                                                                             \
#Function, "reference", accepts_input < Types>, run_binary < Types, Function>, nullptr, 0 \
    }
#define BITWISE(Function)                                                                          \
    {                                                                                              \
#Function, "reference", accepts_input < IntegerTypes>, run_bitwise < Function>, nullptr, 0 \
    }

constexpr Kernel binary_rows[] = {
    BINARY(Add, NumberTypes),
    BINARY(Sub, NumberTypes),
    BINARY(Mul, NumberTypes),
    BINARY(Div, NumberTypes),
    BITWISE(BitwiseAnd),
    BITWISE(BitwiseOr),
    BITWISE(BitwiseXor),
    {"BitShift", "reference", accepts_input<ShiftTypes>, run_bit_shift, nullptr, 0},
    {"Mod", "reference", accepts_input<NumberTypes>, run_mod, nullptr, 0},
    {"Max", "reference", accepts_input<NumberTypes>, run_variadic<NumberTypes, Max>},
    {"Min", "reference", accepts_input<NumberTypes>, run_variadic<NumberTypes, Min>},
    {"Sum", "reference", accepts_input<FloatTypes>, run_variadic<FloatTypes, Add>},
    {"Mean", "reference", accepts_input<FloatTypes>, run_mean},
};

}  // namespace

extern const KernelTable binary_reference;
const KernelTable binary_reference = make_table<binary_rows>();

}  // namespace tengine::cpu
