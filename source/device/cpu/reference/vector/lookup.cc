// SPDX-License-Identifier: Apache-2.0
// Lookup: replaces each 8-bit element by an entry of a table of 256.
#include "device/cpu/kernel_table.h"
#include "device/cpu/parallel.h"
#include "device/cpu/shared/grain.h"

namespace tengine::cpu {
namespace {

int run_lookup(KernelContext& context)
{
    const uint8_t* input = context.input(0)->u8;
    const uint8_t* table = context.input(1)->u8;
    uint8_t* output = context.output(0)->u8;
    parallel_for(context.pool, context.output(0)->elem_num, grain_for(1),
                 [=](int64_t begin, int64_t end, int) {
                     for (int64_t i = begin; i < end; ++i)
                         output[i] = table[input[i]];
                 });
    return TENGINE_OK;
}

constexpr Kernel lookup_rows[] = {
    {.op = "tengine.Lookup", .name = "reference", .run = run_lookup, .in_place_input = 0},
};

}  // namespace

extern const KernelTable lookup_reference;
const KernelTable lookup_reference = make_table<lookup_rows>();

}  // namespace tengine::cpu
