// SPDX-License-Identifier: Apache-2.0
// Which scale an element of QuantizeLinear and DequantizeLinear has, and the type it is divided in.
#pragma once

#include "device/cpu/kernel_context.h"
#include "device/cpu/shared/types.h"
#include "operator/onnx/quant_param.h"
#include "operator/onnx_type.h"

namespace tengine::cpu {

constexpr int64_t kChunk = 1024;

// The scale of each run of elements.
struct Slices
{
    int64_t size = kChunk;  // elements of a run
    int64_t number = 1;     // along the axis
    int64_t inner = 1;      // that lie side by side after the axis, each with a scale of its own
    int64_t block = 1;      // along the axis share a scale
    int64_t scales = 0;     // scales of each index before the axis; 0: all share theirs

    int64_t scale_of(int64_t stretch) const
    {
        const int64_t along = stretch / inner % number;
        return stretch / inner / number * scales + along / block * inner + stretch % inner;
    }
};

// With one scale for all the tensor is cut in chunks, so that threads can share it.
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

// The quotient as the type of the division has it.
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

// The type that QuantizeLinear divides in, which may be narrower than the one it computes in.
inline int division_type(const KernelContext& context)
{
    const int precision = context.param<quant_param>().precision;
    return precision ? get_data_type_of_onnx(precision) : context.input(1)->data_type;
}

using QuantizeInputTypes = TypeList<float, Half, BFloat16, double, int32_t>;

}  // namespace tengine::cpu
