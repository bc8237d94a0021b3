// SPDX-License-Identifier: Apache-2.0
// Reference kernels of ArgMax and ArgMin (operator/onnx/reduce_ops.c).
#include <functional>

#include "device/cpu/kernel_table.h"
#include "device/cpu/reference/vector/elementwise.h"
#include "operator/onnx/reduce_param.h"

namespace tengine::cpu {
namespace {

// Returns the position of the element that is better than all others; of equal ones, the first or
// the last.
template <class T, class Better>
int64_t find_extreme(const T* data, int64_t n, int64_t stride, bool last, const Better& better)
{
    using C = compute_t<T>;
    int64_t best = 0;
    for (int64_t i = 1; i < n; ++i) {
        const C value = static_cast<C>(data[i * stride]);
        const C record = static_cast<C>(data[best * stride]);
        if (better(value, record) || (last && value == record)) best = i;
    }
    return best;
}

template <class Better>
int run_arg(KernelContext& context)
{
    const auto& param = context.param<arg_param>();
    const tensor* input = context.input(0);
    const int axis = param.axis < 0 ? param.axis + input->dim_num : param.axis;
    const int64_t n = input->dims[axis];
    const int64_t inner = multiply_dims(input, axis + 1, input->dim_num);
    const bool last = param.select_last_index != 0;
    int64_t* output = static_cast<int64_t*>(context.output(0)->data);
    return dispatch_type(NumberTypes{}, input->data_type, [&](auto type) {
        using T = typename decltype(type)::type;
        const T* data = static_cast<const T*>(input->data);
        parallel_for(context.pool, context.output(0)->elem_num, kElementGrain / 8,
                     [=](int64_t begin, int64_t end, int) {
                         for (int64_t i = begin; i < end; ++i) {
                             const T* first = data + i / inner * n * inner + i % inner;
                             output[i] = find_extreme(first, n, inner, last, Better{});
                         }
                     });
        return TENGINE_OK;
    });
}

constexpr Kernel arg_extreme_rows[] = {
    {"ArgMax", "reference", accepts_input<NumberTypes>, run_arg<std::greater<>>},
    {"ArgMin", "reference", accepts_input<NumberTypes>, run_arg<std::less<>>},
};

}  // namespace

extern const KernelTable arg_extreme_reference;
const KernelTable arg_extreme_reference = make_table<arg_extreme_rows>();

}  // namespace tengine::cpu
