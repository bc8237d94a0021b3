// SPDX-License-Identifier: Apache-2.0
// Reference kernel of BitCast (operator/onnx/bit_cast_ops.c).
#include <cstring>

#include "device/cpu/kernel_table.h"

namespace tengine::cpu {
namespace {

int run(KernelContext& context)
{
    const tensor* input = context.input(0);
    const tensor* output = context.output(0);
    if (output->data != input->data)
        std::memcpy(output->data, input->data, get_ir_tensor_bytes(output));
    return TENGINE_OK;
}

constexpr Kernel bit_cast_rows[] = {
    {.op = "BitCast", .name = "reference", .run = run, .in_place_input = 0},
    {.op = "tengine.BitCast", .name = "reference", .run = run, .in_place_input = 0},
};

}  // namespace

extern const KernelTable bit_cast_reference;
const KernelTable bit_cast_reference = make_table<bit_cast_rows>();

}  // namespace tengine::cpu
