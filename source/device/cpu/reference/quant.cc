// SPDX-License-Identifier: Apache-2.0
// QuantizeLinear, DequantizeLinear, DynamicQuantizeLinear. Halves round to even.
#include <algorithm>

#include "device/cpu/kernel_table.h"
#include "device/cpu/parallel.h"
#include "device/cpu/reference/grain.h"
#include "device/cpu/reference/quantize.h"
#include "device/cpu/types.h"
#include "operator/onnx/quant_param.h"
#include "operator/onnx_type.h"

namespace tengine::cpu {
namespace {

constexpr int64_t kChunk = 1024;

// Which scale a stretch of elements has.
struct Slices
{
    int64_t size = kChunk;  // elements of a stretch
    int64_t number = 1;     // along the axis
    int64_t inner = 1;      // that lie side by side after the axis, each with a scale of its own
    int64_t block = 1;      // along the axis share a scale
    int64_t scales = 0;     // of each index before the axis; 0: all share theirs

    int64_t scale_of(int64_t stretch) const
    {
        const int64_t along = stretch / inner % number;
        return stretch / inner / number * scales + along / block * inner + stretch % inner;
    }
};

// With one scale for all the tensor is cut in chunks, so that threads can share it.
int find_slices(const KernelContext& context, Slices* out_slices)
{
    const quant_param& param = context.param<quant_param>();
    const tensor* input = context.input(0);
    if (context.input(1)->elem_num <= 1) return TENGINE_OK;
    int axis;
    TENGINE_RETURN_IF_ERROR(normalize_axis(context.node, param.axis, input->dim_num, &axis));
    const int64_t inner = multiply_dims(input, axis + 1, input->dim_num);
    const int64_t number = input->dims[axis];
    const int64_t block = param.block_size;
    *out_slices = block > 0 ? Slices{1, number, inner, block, (number + block - 1) / block * inner}
                            : Slices{inner, number};
    return TENGINE_OK;
}

// Calls body(begin, end, slice) for stretches of elements with one scale.
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

// The quotient as the type that is divided in has it.
template <class Compute>
Compute divide(Compute x, Compute divisor, int data_type)
{
    const auto divide_as = [=](auto type) {
        using T = typename decltype(type)::type;
        return static_cast<Compute>(T(T(static_cast<float>(x)) / T(static_cast<float>(divisor))));
    };
    if (data_type == TENGINE_DT_FP16) return divide_as(Type<Half>{});
    if (data_type == TENGINE_DT_BF16) return divide_as(Type<BFloat16>{});
    return x / divisor;
}

using QuantizedTypes = TypeList<uint8_t, int8_t, uint16_t, int16_t>;

int run_quantize(KernelContext& context)
{
    using InputTypes = TypeList<float, Half, BFloat16, double, int32_t>;
    const tensor* scale = context.input(1);
    const tensor* zero_point = context.input(2);
    const int precision = context.param<quant_param>().precision;
    const int type = precision ? get_data_type_of_onnx(precision) : scale->data_type;
    return dispatch_type(InputTypes{}, context.input(0)->data_type, [&](auto x_type) {
        using X = typename decltype(x_type)::type;
        using Compute = std::conditional_t<std::is_same_v<X, double>, double, float>;
        const X* x = static_cast<const X*>(context.input(0)->data);
        return dispatch_type(QuantizedTypes{}, context.output(0)->data_type, [&](auto y_type) {
            using Y = typename decltype(y_type)::type;
            Y* y = static_cast<Y*>(context.output(0)->data);
            return for_each_slice(context, [=](int64_t begin, int64_t end, int64_t slice) {
                const auto divisor = static_cast<Compute>(read_real(scale, slice));
                const int zero = read_zero_point(zero_point, slice);
                for (int64_t i = begin; i < end; ++i)
                    y[i] = static_cast<Y>(quantize(
                        divide(static_cast<Compute>(x[i]), divisor, type), zero, range_of<Y>()));
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

constexpr Kernel rows[] = {
    {"QuantizeLinear", "reference", nullptr, run_quantize},
    {"DequantizeLinear", "reference", nullptr, run_dequantize},
    {"DynamicQuantizeLinear", "reference", nullptr, run_dynamic_quantize},
};

}  // namespace

extern const KernelTable quant_reference;
const KernelTable quant_reference = make_table<rows>();

}  // namespace tengine::cpu
