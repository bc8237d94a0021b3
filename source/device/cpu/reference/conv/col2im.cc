// SPDX-License-Identifier: Apache-2.0
// Reference kernel of Col2Im (operator/onnx/col2im_ops.c). Each addition is rounded to the type;
// integers wrap.
#include <algorithm>

#include "device/cpu/kernel_table.h"
#include "device/cpu/parallel.h"
#include "device/cpu/reference/vector/arithmetic.h"
#include "device/cpu/shared/types.h"
#include "operator/onnx/col2im_param.h"

namespace tengine::cpu {
namespace {

// Returns the element of one channel's image under tap `tap` of window `window`; -1: it is padding.
int64_t find_element(const window& windows, int64_t tap, int64_t window)
{
    int64_t element = 0, step = 1;
    for (int i = windows.axis_num - 1; i >= 0; --i) {
        const window_axis& axis = windows.axes[i];
        const int64_t at =
            window % axis.output * axis.stride + tap % axis.kernel * axis.dilation - axis.pad_begin;
        if (at < 0 || at >= axis.input) return -1;
        element += at * step;
        step *= axis.input;
        window /= axis.output;
        tap /= axis.kernel;
    }
    return element;
}

template <class T>
void add_blocks(const KernelContext& context, const window& windows)
{
    using C = compute_t<T>;
    const tensor* input = context.input(0);
    const tensor* output = context.output(0);
    const int64_t taps = multiply_window_kernel(&windows), columns = input->dims[2];
    const int64_t planes = int64_t{output->dims[0]} * output->dims[1];
    const int64_t size = multiply_dims(output, 2, output->dim_num);
    const auto add = [&](int64_t begin, int64_t end, int) {
        for (int64_t plane = begin; plane < end; ++plane) {
            const T* from = static_cast<const T*>(input->data) + plane * taps * columns;
            T* to = static_cast<T*>(output->data) + plane * size;
            std::fill_n(to, size, T(0));
            for (int64_t tap = 0; tap < taps; ++tap)
                for (int64_t column = 0; column < columns; ++column) {
                    const int64_t element = find_element(windows, tap, column);
                    if (element >= 0)
                        to[element] = static_cast<T>(
                            wrap_add<C>(static_cast<C>(to[element]),
                                        static_cast<C>(from[tap * columns + column])));
                }
        }
    };
    parallel_for(context.pool, planes, 1, add);
}

int run(KernelContext& context)
{
    window windows;
    if (context.output(0)->elem_num == 0) return TENGINE_OK;
    TENGINE_RETURN_IF_ERROR(resolve_col2im(context.node, &windows));
    return dispatch_type(NumberTypes{}, context.input(0)->data_type, [&](auto type) {
        add_blocks<typename decltype(type)::type>(context, windows);
        return TENGINE_OK;
    });
}

constexpr Kernel col2im_rows[] = {
    {"Col2Im", "reference", nullptr, run},
};

}  // namespace

extern const KernelTable col2im_reference;
const KernelTable col2im_reference = make_table<col2im_rows>();

}  // namespace tengine::cpu
