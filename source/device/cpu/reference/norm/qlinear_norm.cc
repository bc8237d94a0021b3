// SPDX-License-Identifier: Apache-2.0
// tengine.QLinearLayerNormalization: two sums of a row, then its elements one by one.
#include "device/cpu/kernel_table.h"
#include "device/cpu/parallel.h"
#include "device/cpu/reference/norm/byte_layer_norm.h"
#include "device/cpu/shared/grain.h"
#include "device/cpu/shared/types.h"

namespace tengine::cpu {
namespace {

template <class T>
void normalize_row(const KernelContext& context, const Int8Norm& norm, const T* x, uint8_t* y)
{
    const float* scale = context.input(3)->f32;
    const tensor* bias = context.input(6);
    const float y_scale = context.input(4)->f32[0];
    int64_t sum = 0, squares = 0;
    for (int64_t i = 0; i < norm.n; ++i) {
        const int64_t centred = x[i] - norm.x_zero_point;
        sum += centred;
        squares += centred * centred;
    }
    const float factor = norm.find_factor(sum, squares);
    for (int64_t i = 0; i < norm.n; ++i) {
        const int64_t distance = norm.n * (x[i] - norm.x_zero_point) - sum;
        const int32_t offset = bias ? round_norm(scale_norm(bias->f32[i], y_scale)) : 0;
        y[i] = finish_norm(norm, static_cast<int32_t>(distance), factor,
                           scale_norm(scale[i], y_scale), offset);
    }
}

int run_layer_norm(KernelContext& context)
{
    const tensor& x = *context.input(0);
    const Int8Norm norm(context);
    uint8_t* output = context.output(0)->u8;
    if (x.elem_num == 0) return TENGINE_OK;
    return dispatch_type(Int8Types{}, x.data_type, [&](auto type) {
        using T = typename decltype(type)::type;
        const T* input = static_cast<const T*>(x.data);
        parallel_for(context.pool, x.elem_num / norm.n, grain_for(8 * norm.n),
                     [&](int64_t begin, int64_t end, int) {
                         for (int64_t row = begin; row < end; ++row)
                             normalize_row(context, norm, input + row * norm.n,
                                           output + row * norm.n);
                     });
        return TENGINE_OK;
    });
}

constexpr Kernel qlinear_norm_rows[] = {
    {.op = "tengine.QLinearLayerNormalization",
     .name = "reference",
     .run = run_layer_norm,
     .in_place_input = 0},
};

}  // namespace

extern const KernelTable qlinear_norm_reference;
const KernelTable qlinear_norm_reference = make_table<qlinear_norm_rows>();

}  // namespace tengine::cpu
