// SPDX-License-Identifier: Apache-2.0
// Resize (linear) of int8 and uint8 along one or two axes, with the arithmetic of byte_resize.h:
// each result is computed from the four elements around it.
#include <algorithm>

#include "device/cpu/kernel_table.h"
#include "device/cpu/parallel.h"
#include "device/cpu/reference/matmul/qlinear.h"
#include "device/cpu/reference/window/byte_resize.h"
#include "device/cpu/shared/byte_resize.h"
#include "device/cpu/shared/grain.h"

namespace tengine::cpu {
namespace {

bool accepts(const node& node)
{
    Int8Resize resize;
    resize_axis axes[MAX_SHAPE_DIM_NUM];
    return describe_int8_resize(node, axes, &resize);
}

// XNNPACK rounds ties up.
int32_t round_mixed(int32_t value, bool ties_up)
{
    constexpr int kBits = 2 * kInt8TapBits;
    return static_cast<int32_t>(ties_up ? floor_by_power(value + (1 << (kBits - 1)), kBits)
                                        : divide_by_power(value, kBits));
}

// Computes a line of the output between two lines of the input.
template <class T>
void resize_line(const Int8Resize& resize, bool ties_up, const Int8Tap* taps, const Int8Tap& row,
                 const T* before, const T* after, T* to)
{
    for (int64_t i = 0; i < resize.columns[1]; ++i) {
        const Int8Tap& tap = taps[i];
        const int64_t left = tap.before * resize.inner, right = tap.after * resize.inner;
        for (int64_t k = 0; k < resize.inner; ++k) {
            const int32_t value =
                mix_bytes(mix_bytes(before[left + k], after[left + k], row),
                          mix_bytes(before[right + k], after[right + k], row), tap);
            *to++ = static_cast<T>(round_mixed(value, ties_up));
        }
    }
}

int prepare(KernelContext& context)
{
    const tensor& y = *context.output(0);
    Int8Resize resize;
    resize_axis axes[MAX_SHAPE_DIM_NUM];
    describe_int8_resize(*context.node, axes, &resize);  // accepts() has checked it
    context.scratch_size =
        y.elem_num == 0 ? 0 : static_cast<uint64_t>(resize.columns[1]) * sizeof(Int8Tap);
    return TENGINE_OK;
}

int run(KernelContext& context)
{
    const auto& param = context.param<resize_param>();
    const tensor &x = *context.input(0), &y = *context.output(0);
    Int8Resize resize;
    resize_axis axes[MAX_SHAPE_DIM_NUM];
    describe_int8_resize(*context.node, axes, &resize);
    if (y.elem_num == 0) return TENGINE_OK;
    auto* const taps = static_cast<Int8Tap*>(context.scratch);
    for (int64_t i = 0; i < resize.columns[1]; ++i)
        taps[i] = find_int8_tap(param, axes[resize.column_axis], resize.columns[0], i);
    const bool ties_up = find_rounding(context) == IR_ROUNDING_FLOAT;
    const int64_t line = resize.columns[0] * resize.inner;
    const int64_t lines = resize.outer * resize.rows[1] * resize.middle;
    return dispatch_type(Int8Types{}, x.data_type, [&](auto type) {
        using T = typename decltype(type)::type;
        const T* from = static_cast<const T*>(x.data);
        T* to = static_cast<T*>(y.data);
        const auto resize_lines = [&](int64_t begin, int64_t end, int) {
            for (int64_t i = begin; i < end; ++i) {
                const int64_t middle = i % resize.middle, plane = i / resize.middle;
                const int64_t row = plane % resize.rows[1];
                const T* image =
                    from + plane / resize.rows[1] * resize.rows[0] * resize.middle * line;
                Int8Tap tap = {0, 0, 0};
                if (resize.row_axis >= 0)
                    tap = find_int8_tap(param, axes[resize.row_axis], resize.rows[0], row);
                resize_line(resize, ties_up, taps, tap,
                            image + (tap.before * resize.middle + middle) * line,
                            image + (tap.after * resize.middle + middle) * line,
                            to + i * resize.columns[1] * resize.inner);
            }
        };
        parallel_for(context.pool, lines, grain_for(4 * resize.columns[1] * resize.inner),
                     resize_lines);
        return TENGINE_OK;
    });
}

constexpr Kernel resize_bytes_rows[] = {
    {"Resize", "reference.bytes", accepts, run, prepare},
};

}  // namespace

extern const KernelTable resize_bytes_reference;
const KernelTable resize_bytes_reference = make_table<resize_bytes_rows>();

}  // namespace tengine::cpu
