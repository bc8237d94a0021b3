// SPDX-License-Identifier: Apache-2.0
// Reference kernel of operator/onnx/rotary_ops.c.
#include "device/cpu/kernel_table.h"
#include "device/cpu/parallel.h"
#include "device/cpu/shared/grain.h"
#include "device/cpu/shared/rotary_table.h"
#include "device/cpu/shared/types.h"

namespace tengine::cpu {
namespace {

// Rotates the pairs of a head, and copies elements outside any pair. `y` may be `x`.
template <class T>
void rotate(const rotary_form& form, bool interleaved, const T* x, const T* cosines, const T* sines,
            T* y)
{
    using C = compute_t<T>;
    for (int i = 0; i < form.half; ++i) {
        const int first = interleaved ? 2 * i : i;
        const int second = interleaved ? 2 * i + 1 : i + form.half;
        const C a = x[first], b = x[second], cosine = cosines[i], sine = sines[i];
        y[first] = static_cast<T>(a * cosine - b * sine);
        y[second] = static_cast<T>(a * sine + b * cosine);
    }
    for (int i = 2 * form.half; i < form.head_size; ++i)
        y[i] = x[i];
}

int run(KernelContext& context)
{
    rotary_form form;
    TENGINE_RETURN_IF_ERROR(read_rotary(context.node, &form));
    const RotaryTable table(context, form);
    TENGINE_RETURN_IF_ERROR(table.check(context.node));
    const tensor* input = context.input(0);
    if (input->elem_num == 0) return TENGINE_OK;
    const bool interleaved = context.param<rotary_param>().interleaved != 0;
    return dispatch_type(FloatTypes{}, input->data_type, [&](auto type) {
        using T = typename decltype(type)::type;
        const T* x = static_cast<const T*>(input->data);
        const T* cosines = static_cast<const T*>(context.input(form.cosine_input)->data);
        const T* sines = static_cast<const T*>(context.input(form.sine_input)->data);
        T* y = static_cast<T*>(context.output(0)->data);
        const int64_t size = form.head_size;
        parallel_for(context.pool, input->elem_num / size, grain_for(size),
                     [&](int64_t begin, int64_t end, int) {
                         for (int64_t head = begin; head < end; ++head) {
                             const int64_t row = table.offset_of(head);
                             rotate(form, interleaved, x + head * size, cosines + row, sines + row,
                                    y + head * size);
                         }
                     });
        return TENGINE_OK;
    });
}

constexpr Kernel rotary_rows[] = {
    {.op = "RotaryEmbedding", .name = "reference", .run = run, .in_place_input = 0},
    {.op = "com.microsoft.RotaryEmbedding", .name = "reference", .run = run, .in_place_input = 0},
};

}  // namespace

extern const KernelTable rotary_reference;
const KernelTable rotary_reference = make_table<rotary_rows>();

}  // namespace tengine::cpu
