// SPDX-License-Identifier: Apache-2.0
// QuantizeLinear, DequantizeLinear, DynamicQuantizeLinear. Halves round to even.
#include <algorithm>

#include "device/cpu/kernel_table.h"
#include "device/cpu/parallel.h"
#include "device/cpu/reference/grain.h"
#include "device/cpu/reference/quantize.h"
#include "device/cpu/types.h"
#include "operator/quant_param.h"

namespace tengine::cpu {
namespace {

constexpr int64_t kChunk = 1024;

// Calls body(begin, end, slice) for stretches of elements with one scale. With one scale for all
// the tensor is cut in chunks, so that threads can share it.
template <class Body>
int for_each_slice(const KernelContext& context, const Body& body)
{
    const tensor* input = context.input(0);
    int64_t slices = 1, size = kChunk;
    if (context.input(1)->elem_num > 1) {
        int axis;
        TENGINE_RETURN_IF_ERROR(
            normalize_axis(context.node, context.param<quant_param>().axis, input->dim_num, &axis));
        slices = input->dims[axis];
        size = multiply_dims(input, axis + 1, input->dim_num);
    }
    if (input->elem_num == 0) return TENGINE_OK;
    const int64_t num = (input->elem_num + size - 1) / size;
    parallel_for(context.pool, num, grain_for(size), [&](int64_t first, int64_t last, int) {
        for (int64_t i = first; i < last; ++i)
            body(i * size, std::min((i + 1) * size, input->elem_num), i % slices);
    });
    return TENGINE_OK;
}

using QuantizedTypes = TypeList<uint8_t, int8_t, uint16_t, int16_t>;

int run_quantize(KernelContext& context)
{
    using InputTypes = TypeList<float, Half, BFloat16, double, int32_t>;
    const tensor* scale = context.input(1);
    const tensor* zero_point = context.input(2);
    return dispatch_type(InputTypes{}, context.input(0)->data_type, [&](auto x_type) {
        using X = typename decltype(x_type)::type;
        using Compute = std::conditional_t<std::is_same_v<X, double>, double, float>;
        const X* x = static_cast<const X*>(context.input(0)->data);
        return dispatch_type(QuantizedTypes{}, context.output(0)->data_type, [&](auto y_type) {
            using Y = typename decltype(y_type)::type;
            Y* y = static_cast<Y*>(context.output(0)->data);
            return for_each_slice(context, [=](int64_t begin, int64_t end, int64_t slice) {
                // The quotient is rounded to the type of x first, as the specification's is.
                const auto divisor = static_cast<Compute>(read_real(scale, slice));
                const int zero = read_zero_point(zero_point, slice);
                for (int64_t i = begin; i < end; ++i)
                    y[i] = static_cast<Y>(
                        quantize(static_cast<Compute>(x[i]) / divisor, zero, range_of<Y>()));
            });
        });
    });
}

int run_dequantize(KernelContext& context)
{
    using InputTypes = TypeList<uint8_t, int8_t, uint16_t, int16_t, int32_t>;
    const tensor* scale = context.input(1);
    const tensor* zero_point = context.input(2);
    return dispatch_type(InputTypes{}, context.input(0)->data_type, [&](auto x_type) {
        using X = typename decltype(x_type)::type;
        const X* x = static_cast<const X*>(context.input(0)->data);
        return dispatch_type(FloatTypes{}, context.output(0)->data_type, [&](auto y_type) {
            using Y = typename decltype(y_type)::type;
            Y* y = static_cast<Y*>(context.output(0)->data);
            return for_each_slice(context, [=](int64_t begin, int64_t end, int64_t slice) {
                const auto factor = static_cast<compute_t<Y>>(read_real(scale, slice));
                const int64_t zero = read_zero_point(zero_point, slice);
                for (int64_t i = begin; i < end; ++i)
                    y[i] = static_cast<Y>(static_cast<compute_t<Y>>(x[i] - zero) * factor);
            });
        });
    });
}

// The range of x, widened to hold 0, becomes 0..255.
int run_dynamic_quantize(KernelContext& context)
{
    const tensor* input = context.input(0);
    float lowest = 0, highest = 0;
    for (int64_t i = 0; i < input->elem_num; ++i) {
        lowest = std::min(lowest, input->f32[i]);
        highest = std::max(highest, input->f32[i]);
    }
    const QuantizedRange range = range_of<uint8_t>();
    // All zero: any scale will do.
    const float scale = highest == lowest ? 1.0f : (highest - lowest) / 255.0f;
    const int zero = quantize(-lowest / scale, 0, range);
    *context.output(1)->f32 = scale;
    *context.output(2)->u8 = static_cast<uint8_t>(zero);
    uint8_t* output = context.output(0)->u8;
    parallel_for(context.pool, input->elem_num, grain_for(1), [=](int64_t begin, int64_t end, int) {
        for (int64_t i = begin; i < end; ++i)
            output[i] = static_cast<uint8_t>(quantize(input->f32[i] / scale, zero, range));
    });
    return TENGINE_OK;
}

constexpr Kernel rows[] = {
    {"QuantizeLinear", "reference", nullptr, run_quantize},
    {"DequantizeLinear", "reference", nullptr, run_dequantize},
    {"DynamicQuantizeLinear", "reference", nullptr, run_dynamic_quantize},
};

}  // namespace

extern const KernelTable quant_reference;
const KernelTable quant_reference = make_table<rows>();

}  // namespace tengine::cpu
