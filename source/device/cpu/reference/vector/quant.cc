// SPDX-License-Identifier: Apache-2.0
// QuantizeLinear, DequantizeLinear, DynamicQuantizeLinear. Ties round to even. With the rounding of
// LiteRT, the quotient of a byte is the product with 1 / scale. Small elements are in
// quant_small.h.
#include <algorithm>

#include "device/cpu/kernel_table.h"
#include "device/cpu/parallel.h"
#include "device/cpu/reference/vector/quant_slices.h"
#include "device/cpu/reference/vector/quant_small.h"
#include "device/cpu/reference/vector/quantize.h"
#include "device/cpu/reference/vector/small_elements.h"
#include "device/cpu/shared/grain.h"
#include "device/cpu/shared/types.h"

namespace tengine::cpu {
namespace {

// Calls body(begin, end, slice) for runs of elements with one scale.
template <class Body>
int for_each_slice(const KernelContext& context, const Body& body)
{
    const int64_t elements = context.input(0)->elem_num;
    Slices slices;
    TENGINE_RETURN_IF_ERROR(find_slices(context, &slices));
    if (elements == 0) return TENGINE_OK;
    const int64_t size = slices.size;
    const int64_t num = (elements + size - 1) / size;
    parallel_for(context.pool, num, grain_for(size), [&](int64_t first, int64_t last, int) {
        for (int64_t i = first; i < last; ++i)
            body(i * size, std::min((i + 1) * size, elements), slices.scale_of(i));
    });
    return TENGINE_OK;
}

using QuantizedTypes = TypeList<uint8_t, int8_t, uint16_t, int16_t>;

int run_quantize(KernelContext& context)
{
    const tensor* scale = context.input(1);
    const tensor* zero_point = context.input(2);
    const int type = division_type(context);
    if (is_small(context.output(0)->data_type)) return quantize_small(context);
    return dispatch_type(QuantizeInputTypes{}, context.input(0)->data_type, [&](auto x_type) {
        using X = typename decltype(x_type)::type;
        using Compute = std::conditional_t<std::is_same_v<X, double>, double, float>;
        const X* x = static_cast<const X*>(context.input(0)->data);
        return dispatch_type(QuantizedTypes{}, context.output(0)->data_type, [&](auto y_type) {
            using Y = typename decltype(y_type)::type;
            Y* y = static_cast<Y*>(context.output(0)->data);
            const bool is_product = sizeof(Y) == 1 && type == TENGINE_DT_FP32 &&
                                    context.node->graph->run_options->rounding == IR_ROUNDING_FLOAT;
            return for_each_slice(context, [=](int64_t begin, int64_t end, int64_t slice) {
                const auto divisor = static_cast<Compute>(read_real(scale, slice));
                const Compute factor = 1 / divisor;
                const int zero = read_zero_point(zero_point, slice);
                for (int64_t i = begin; i < end; ++i) {
                    const auto value = static_cast<Compute>(x[i]);
                    const Compute quotient =
                        is_product ? value * factor : divide(value, divisor, type);
                    y[i] = static_cast<Y>(quantize(quotient, zero, range_of<Y>()));
                }
            });
        });
    });
}

int run_dequantize(KernelContext& context)
{
    using InputTypes = TypeList<uint8_t, int8_t, uint16_t, int16_t, int32_t>;
    if (is_small(context.input(0)->data_type)) return dequantize_small(context);
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

int run_dynamic_quantize(KernelContext& context)
{
    const tensor* input = context.input(0);
    const DynamicRange range(input->f32, input->elem_num);
    *context.output(1)->f32 = range.scale;
    *context.output(2)->u8 = static_cast<uint8_t>(range.zero_point);
    uint8_t* output = context.output(0)->u8;
    parallel_for(context.pool, input->elem_num, grain_for(1), [=](int64_t begin, int64_t end, int) {
        for (int64_t i = begin; i < end; ++i)
            output[i] = range.quantize_value(input->f32[i]);
    });
    return TENGINE_OK;
}

constexpr Kernel quant_rows[] = {
    {"QuantizeLinear", "reference", nullptr, run_quantize},
    {"DequantizeLinear", "reference", nullptr, run_dequantize},
    {"DynamicQuantizeLinear", "reference", nullptr, run_dynamic_quantize},
};

}  // namespace

extern const KernelTable quant_reference;
const KernelTable quant_reference = make_table<quant_rows>();

}  // namespace tengine::cpu
