// SPDX-License-Identifier: Apache-2.0
// QLinearSoftmax: exponentials of the distances to the largest element, and their shares in the
// sum.
#include <limits>

#include "device/cpu/kernel_table.h"
#include "device/cpu/parallel.h"
#include "device/cpu/reference/norm/byte_softmax.h"
#include "device/cpu/shared/grain.h"
#include "device/cpu/shared/types.h"
#include "operator/onnx/qlinear_param.h"

namespace tengine::cpu {
namespace {

// Computes a row of n elements, `stride` apart.
template <class T>
void share_row(const T* x, int64_t n, int64_t stride, const Int8Exponentials& powers,
               Int8Share share, uint8_t* y)
{
    T largest = x[0];
    for (int64_t i = 1; i < n; ++i)
        largest = std::max(largest, x[i * stride]);
    const auto power = [&](int64_t i) {
        return powers[static_cast<size_t>(largest - x[i * stride])];
    };
    uint64_t sum = 0;
    for (int64_t i = 0; i < n; ++i)
        sum += power(i);
    share.set_sum(sum);
    for (int64_t i = 0; i < n; ++i)
        y[i * stride] = share(power(i));
}

// ERANGE for a scale that is known only at run time and outside the operator's range.
int check_scale(const KernelContext& context, int index)
{
    const float scale = context.input(index)->f32[0];
    if (scale >= 0 && scale <= std::numeric_limits<float>::max()) return TENGINE_OK;
    return fail_node(context.node, TENGINE_ERANGE,
                     "scale '%s' is %g, expected a number of 0 or more", context.input(index)->name,
                     double{scale});
}

int run_softmax(KernelContext& context)
{
    const tensor& x = *context.input(0);
    const int axis = context.param<qlinear_softmax_param>().axis;
    const int at = axis < 0 ? axis + x.dim_num : axis;
    const int64_t n = x.dims[at], inner = multiply_dims(&x, at + 1, x.dim_num);
    if (x.elem_num == 0) return TENGINE_OK;
    TENGINE_RETURN_IF_ERROR(check_scale(context, 1));
    TENGINE_RETURN_IF_ERROR(check_scale(context, 3));
    const Int8Exponentials powers = find_int8_exponentials(context.input(1)->f32[0]);
    const Int8Share share(context);
    uint8_t* output = context.output(0)->u8;
    return dispatch_type(Int8Types{}, x.data_type, [&](auto type) {
        using T = typename decltype(type)::type;
        const T* input = static_cast<const T*>(x.data);
        parallel_for(context.pool, x.elem_num / n, grain_for(4 * n),
                     [&](int64_t begin, int64_t end, int) {
                         for (int64_t i = begin; i < end; ++i) {
                             const int64_t offset = i / inner * n * inner + i % inner;
                             share_row(input + offset, n, inner, powers, share, output + offset);
                         }
                     });
        return TENGINE_OK;
    });
}

constexpr Kernel qlinear_softmax_rows[] = {
    {.op = "com.microsoft.QLinearSoftmax",
     .name = "reference",
     .run = run_softmax,
     .in_place_input = 0},
};

}  // namespace

extern const KernelTable qlinear_softmax_reference;
const KernelTable qlinear_softmax_reference = make_table<qlinear_softmax_rows>();

}  // namespace tengine::cpu
