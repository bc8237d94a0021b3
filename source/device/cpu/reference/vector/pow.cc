// SPDX-License-Identifier: Apache-2.0
// Reference kernel of Pow (operator/onnx/binary_ops.c). The exponent may have another type.
#include <cmath>

#include "device/cpu/kernel_table.h"
#include "device/cpu/reference/vector/arithmetic.h"
#include "device/cpu/reference/vector/elementwise.h"

namespace tengine::cpu {
namespace {

using BaseTypes = TypeList<float, Half, BFloat16, double, int32_t, int64_t>;

// Computes a power by repeated squaring, modulo 2^bits. A negative exponent gives 0 except for the
// bases 1 and -1, as the division is rounded towards zero; base 0 gives 0 as well.
template <class T>
T integer_power(T base, int64_t exponent)
{
    if (exponent < 0 && base != 1 && base != -1) return 0;
    T result = 1;
    for (uint64_t rest = static_cast<uint64_t>(exponent); rest != 0; rest >>= 1) {
        if (rest & 1) result = wrap_multiply(result, base);
        base = wrap_multiply(base, base);
    }
    return result;
}

template <class Base, class Exponent>
Base power(Base base, Exponent exponent)
{
    using C = compute_t<Base>;
    if constexpr (is_float<Base>) {
        const C value = static_cast<C>(base);
        // A square is exact and much faster than pow(); normalisation layers use it often.
        if (exponent == Exponent(2)) return static_cast<Base>(value * value);
        return static_cast<Base>(std::pow(value, static_cast<C>(exponent)));
    } else if constexpr (is_float<Exponent>) {
        return saturate<Base>(std::pow(static_cast<double>(base), static_cast<double>(exponent)));
    } else {
        return integer_power(base, static_cast<int64_t>(exponent));
    }
}

template <class Base, class Exponent>
void run_types(const KernelContext& context)
{
    const Base* base = static_cast<const Base*>(context.input(0)->data);
    const Exponent* exponent = static_cast<const Exponent*>(context.input(1)->data);
    Base* output = static_cast<Base*>(context.output(0)->data);
    const tensor* const inputs[] = {context.input(0), context.input(1)};
    for_each_run(context, inputs, [=](const BroadcastRun& run) {
        const auto [position, count, offsets, strides] = run;
        for (int64_t i = 0; i < count; ++i) {
            output[position + i] =
                power(base[offsets[0] + i * strides[0]], exponent[offsets[1] + i * strides[1]]);
        }
    });
}

int run_pow(KernelContext& context)
{
    return dispatch_type(BaseTypes{}, context.input(0)->data_type, [&](auto base) {
        return dispatch_type(NumberTypes{}, context.input(1)->data_type, [&](auto exponent) {
            run_types<typename decltype(base)::type, typename decltype(exponent)::type>(context);
            return TENGINE_OK;
        });
    });
}

bool accepts_pow(const node& node)
{
    return accepts_input<BaseTypes, 0>(node) && accepts_input<NumberTypes, 1>(node);
}

constexpr Kernel pow_rows[] = {
    {.op = "Pow", .name = "reference", .accepts = accepts_pow, .run = run_pow, .in_place_input = 0},
};

}  // namespace

extern const KernelTable pow_reference;
const KernelTable pow_reference = make_table<pow_rows>();

}  // namespace tengine::cpu
