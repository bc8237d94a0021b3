// SPDX-License-Identifier: Apache-2.0
// Lookup, with the vectors of table_s8-inl.h. Tensors may be NHWC. Limits: without AVX-512 VBMI,
// the 36 operations for a vector of bytes.
#include <cstdint>

#include "device/cpu/kernel_table.h"
#include "device/cpu/parallel.h"

// clang-format off
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "device/cpu/kernel/vector/lookup.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include "device/cpu/kernel/product/table_s8-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tengine::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

void look_up(const uint8_t* table, const uint8_t* input, int64_t count, uint8_t* output)
{
    int64_t i = 0;
#if HWY_TARGET != HWY_SCALAR
    const hn::ScalableTag<uint8_t> d;
    const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
    const Int8Table entries(table);
    for (; i + lanes <= count; i += lanes)
        hn::StoreU(entries(d, hn::LoadU(d, input + i)), d, output + i);
#endif
    for (; i < count; ++i)
        output[i] = table[input[i]];
}

}  // namespace tengine::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tengine::cpu {
namespace {

HWY_EXPORT(look_up);

// Smaller tensors are not worth a second thread.
constexpr int64_t kGrain = 32768;

int run_lookup(KernelContext& context)
{
    const uint8_t* input = context.input(0)->u8;
    const uint8_t* table = context.input(1)->u8;
    uint8_t* output = context.output(0)->u8;
    const auto look_up_bytes = HWY_DYNAMIC_DISPATCH(look_up);
    parallel_for(context.pool, context.output(0)->elem_num, kGrain,
                 [=](int64_t begin, int64_t end, int) {
                     look_up_bytes(table, input + begin, end - begin, output + begin);
                 });
    return TENGINE_OK;
}

constexpr Kernel lookup_rows[] = {
    {.op = "tengine.Lookup",
     .name = "lookup.s8.table",
     .run = run_lookup,
     .in_place_input = 0,
     .layout = Layout::kAny},
};

}  // namespace

extern const KernelTable lookup_kernels;
const KernelTable lookup_kernels = make_table<lookup_rows>();

}  // namespace tengine::cpu
#endif  // HWY_ONCE
