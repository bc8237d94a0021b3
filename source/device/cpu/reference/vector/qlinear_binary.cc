// SPDX-License-Identifier: Apache-2.0
// QLinearAdd and QLinearMul. Inputs: a, its scale and zero point, b, its scale and zero point, the
// scale and zero point of y.
#include <algorithm>

#include "device/cpu/kernel_table.h"
#include "device/cpu/reference/matmul/qlinear.h"
#include "device/cpu/shared/broadcast.h"

namespace tengine::cpu {
namespace {

// Computes output[i] = function(a[..] - its zero point, b[..] - its zero point).
template <class A, class B, class Function>
void combine(const KernelContext& context, const Function& function)
{
    const tensor* const inputs[] = {context.input(0), context.input(3)};
    const int a_zero = read_zero_point(context.input(2), 0);
    const int b_zero = read_zero_point(context.input(5), 0);
    for_each_run(context, inputs, [=, &context](const BroadcastRun& run) {
        const A* a = static_cast<const A*>(context.input(0)->data) + run.offsets[0];
        const B* b = static_cast<const B*>(context.input(3)->data) + run.offsets[1];
        uint8_t* output = context.output(0)->u8 + run.position;
        for (int64_t i = 0; i < run.count; ++i)
            output[i] = function(a[i * run.strides[0]] - a_zero, b[i * run.strides[1]] - b_zero);
    });
}

template <class Function>
int combine_bytes(const KernelContext& context, const Function& function)
{
    return dispatch_type(Int8Types{}, context.input(0)->data_type, [&](auto a_type) {
        using A = typename decltype(a_type)::type;
        return dispatch_type(Int8Types{}, context.input(3)->data_type, [&](auto b_type) {
            combine<A, typename decltype(b_type)::type>(context, function);
            return TENGINE_OK;
        });
    });
}

// IR_ROUNDING_TWICE: operands with 20 more bits are scaled to the larger of their scales, doubled,
// and the sum is scaled to that of the result.
int add_twice(KernelContext& context, const Quantization& a, const Quantization& b,
              const Quantization& y)
{
    constexpr int kMoreBits = 20;
    const double unit = 2 * std::max(a.scale, b.scale);
    const double reals[] = {a.scale / unit, b.scale / unit,
                            unit / ((int64_t{1} << kMoreBits) * y.scale)};
    Multiplier factors[3] = {};
    for (int i = 0; i < 3; ++i)
        TENGINE_RETURN_IF_ERROR(make_multipliers(context, &reals[i], 1, &factors[i]));
    const Requantizer requantize(context.output(0)->data_type, y.zero_point, IR_ROUNDING_TWICE);
    return combine_bytes(context, [=](int left, int right) {
        constexpr int64_t kUnit = int64_t{1} << kMoreBits;
        const int64_t sum =
            scale_twice(left * kUnit, factors[0]) + scale_twice(right * kUnit, factors[1]);
        return requantize(sum, factors[2]);
    });
}

// Both terms have one shift, so that the sum is rounded once.
int run_add(KernelContext& context)
{
    const Quantization a(context, 1), b(context, 4), y(context, 6);
    if (find_rounding(context) == IR_ROUNDING_TWICE) return add_twice(context, a, b, y);
    const double reals[] = {a.scale / y.scale, b.scale / y.scale};
    Multiplier multipliers[2] = {};
    TENGINE_RETURN_IF_ERROR(make_multipliers(context, reals, 2, multipliers));
    const int64_t a_factor = multipliers[0].factor, b_factor = multipliers[1].factor;
    const int shift = multipliers[0].shift;
    const Requantizer requantize(context.output(0)->data_type, y.zero_point);
    return combine_bytes(context, [=](int left, int right) {
        return requantize.saturate(divide_by_power(left * a_factor + right * b_factor, shift));
    });
}

int run_mul(KernelContext& context)
{
    const Quantization a(context, 1), b(context, 4), y(context, 6);
    const double real = find_product_scale(context, context.input(1)->f32[0],
                                           context.input(4)->f32[0], context.input(6)->f32[0]);
    Multiplier multiplier = {};
    TENGINE_RETURN_IF_ERROR(make_multipliers(context, &real, 1, &multiplier));
    const Requantizer requantize(context.output(0)->data_type, y.zero_point,
                                 find_rounding(context));
    return combine_bytes(context, [=](int left, int right) {
        return requantize(int64_t{left} * right, multiplier);
    });
}

constexpr Kernel qlinear_binary_rows[] = {
    {.op = "com.microsoft.QLinearAdd", .name = "reference", .run = run_add, .in_place_input = 0},
    {.op = "com.microsoft.QLinearMul", .name = "reference", .run = run_mul, .in_place_input = 0},
};

}  // namespace

extern const KernelTable qlinear_binary_reference;
const KernelTable qlinear_binary_reference = make_table<qlinear_binary_rows>();

}  // namespace tengine::cpu
