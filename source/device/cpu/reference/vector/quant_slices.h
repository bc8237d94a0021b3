// SPDX-License-Identifier: Apache-2.0
// The scale of each element of QuantizeLinear and DequantizeLinear, and the type of the division.
#pragma once

#include "device/cpu/kernel_context.h"
#include "device/cpu/shared/types.h"
#include "operator/onnx/quant_param.h"
#include "operator/onnx_type.h"

namespace tengine::cpu {

constexpr int64_t kChunk = 1024;

// The scale of each run of elements with one scale.
struct Slices
{
    int64_t size = kChunk;  // elements of a run
    int64_t number = 1;     // slices along the axis
    int64_t inner = 1;      // adjacent elements after the axis, each with its own scale
    int64_t block = 1;      // elements along the axis that share a scale
    int64_t scales = 0;     // scales of each index before the axis; 0: all indices share them

    int64_t scale_of(int64_t stretch) const
    {
        const int64_t along = stretch / inner % number;
        return stretch / inner / number * scales + along / block * inner + stretch % inner;
    }
};

// A tensor with one scale is cut in chunks, so that threads can share it.
inline int find_slices(const KernelContext& context, Slices* out_slices)
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

// Returns the quotient, rounded to the type of the division.
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

// Returns the type of QuantizeLinear's division, which may be narrower than that of the
// computation.
inline int division_type(const KernelContext& context)
{
    const int precision = context.param<quant_param>().precision;
    return precision ? get_data_type_of_onnx(precision) : context.input(1)->data_type;
}

using QuantizeInputTypes = TypeList<float, Half, BFloat16, double, int32_t>;

}  // namespace tengine::cpu
