// SPDX-License-Identifier: Apache-2.0
// Reference kernel of GatherBlockQuantized (operator/onnx/block_gather_ops.c).
#include "device/cpu/kernel_table.h"
#include "device/cpu/parallel.h"
#include "device/cpu/reference/matmul/nbits.h"
#include "device/cpu/reference/movement/index_input.h"
#include "device/cpu/shared/grain.h"
#include "device/cpu/shared/types.h"
#include "operator/onnx/block_gather_param.h"
#include "operator/onnx/quantized_product_param.h"

namespace tengine::cpu {
namespace {

template <class T>
void gather(const KernelContext& context, const block_gather_form& form)
{
    const auto& param = context.param<block_gather_param>();
    const tensor* indices = context.input(1);
    const tensor* zero_points = context.input(3);
    const uint8_t* data = context.input(0)->u8;
    const T* scales = static_cast<const T*>(context.input(2)->data);
    T* output = static_cast<T*>(context.output(0)->data);
    const auto dequantize = [&](int64_t begin, int64_t end, int) {
        for (int64_t item = begin; item < end; ++item) {
            const int64_t slice = read_index(indices, item / form.rows, form.slices);
            const int64_t row = slice * form.rows + item % form.rows;
            for (int64_t i = 0; i < form.elements; ++i) {
                const int64_t block = i / param.block_size;
                const int zero = zero_points
                                     ? read_nbits(zero_points->u8 + row * form.zero_point_bytes,
                                                  block, param.bits)
                                     : 1 << (param.bits - 1);
                const int value = read_nbits(data + row * form.row_bytes, i, param.bits);
                output[item * form.elements + i] =
                    static_cast<T>(static_cast<float>(value - zero) *
                                   static_cast<float>(scales[row * form.blocks + block]));
            }
        }
    };
    parallel_for(context.pool, indices->elem_num * form.rows, grain_for(4 * form.elements),
                 dequantize);
}

int run(KernelContext& context)
{
    block_gather_form form;
    resolve_block_gather(context.node, &form);
    TENGINE_RETURN_IF_ERROR(check_indices(context.node, context.input(1), form.slices));
    return dispatch_type(FloatTypes{}, context.output(0)->data_type, [&](auto type) {
        gather<typename decltype(type)::type>(context, form);
        return TENGINE_OK;
    });
}

constexpr Kernel block_gather_rows[] = {
    {"com.microsoft.GatherBlockQuantized", "reference", nullptr, run},
};

}  // namespace

extern const KernelTable block_gather_reference;
const KernelTable block_gather_reference = make_table<block_gather_rows>();

}  // namespace tengine::cpu
