// SPDX-License-Identifier: Apache-2.0
// Reference kernel of Where (operator/onnx/binary_ops.c): data movement, by element size.
#include "device/cpu/kernel_table.h"
#include "device/cpu/reference/vector/elementwise.h"
#include "device/cpu/reference/vector/wide_element.h"

namespace tengine::cpu {
namespace {

int run_where(KernelContext& context)
{
    return dispatch_moved_size(context.output(0)->elem_size, [&](auto type) {
        using T = typename decltype(type)::type;
        const uint8_t* condition = static_cast<const uint8_t*>(context.input(0)->data);
        const T* chosen = static_cast<const T*>(context.input(1)->data);
        const T* otherwise = static_cast<const T*>(context.input(2)->data);
        T* output = static_cast<T*>(context.output(0)->data);
        const tensor* const inputs[] = {context.input(0), context.input(1), context.input(2)};
        for_each_run(context, inputs, [=](const BroadcastRun& run) {
            const auto [position, count, offsets, strides] = run;
            for (int64_t i = 0; i < count; ++i) {
                output[position + i] = condition[offsets[0] + i * strides[0]]
                                           ? chosen[offsets[1] + i * strides[1]]
                                           : otherwise[offsets[2] + i * strides[2]];
            }
        });
        return TENGINE_OK;
    });
}

constexpr Kernel where_rows[] = {{"Where", "reference", nullptr, run_where}};

}  // namespace

extern const KernelTable where_reference;
const KernelTable where_reference = make_table<where_rows>();

}  // namespace tengine::cpu
