// SPDX-License-Identifier: Apache-2.0
// Cast between fp32, fp16 and bf16, in either layout; between fp16 and bf16 through fp32, which
// represents both exactly. Workers share large tensors. Limits: memory bandwidth. Accuracy: bit by
// bit that of the reference.
#include <algorithm>
#include <cstdint>

#include "device/cpu/kernel/vector/float_rows.h"
#include "device/cpu/kernel_table.h"
#include "device/cpu/parallel.h"

namespace tengine::cpu {
namespace {

constexpr int64_t kGrain = 16384;  // elements

void convert(const tensor& from, int64_t begin, int64_t count, const tensor& to)
{
    if (!has_float16(to))
        return find_float_rows(from.data_type).widen(from.f16 + begin, count, to.f32 + begin);
    const FloatRows rows = find_float_rows(to.data_type);
    if (!has_float16(from)) return rows.narrow(from.f32 + begin, count, to.f16 + begin);
    alignas(64) float block[kFloatBlock];
    find_float_rows(from.data_type).widen(from.f16 + begin, count, block);
    rows.narrow(block, count, to.f16 + begin);
}

int run(KernelContext& context)
{
    const tensor& input = *context.input(0);
    const tensor& output = *context.output(0);
    parallel_for(context.pool, output.elem_num, kGrain, [&](int64_t begin, int64_t end, int) {
        for (int64_t i = begin; i < end; i += kFloatBlock)
            convert(input, i, std::min(kFloatBlock, end - i), output);
    });
    return TENGINE_OK;
}

bool accepts(const node& node)
{
    const int from = get_ir_node_input(&node, 0)->data_type;
    const int to = get_ir_node_output(&node, 0)->data_type;
    return kHasHalves && from != to && is_fast_float(from) && is_fast_float(to);
}

constexpr Kernel cast_rows[] = {
    {.op = "Cast",
     .name = "cast.fp.vector",
     .accepts = accepts,
     .run = run,
     .layout = Layout::kAny},
};

}  // namespace

extern const KernelTable cast_kernels;
const KernelTable cast_kernels = make_table<cast_rows>();

}  // namespace tengine::cpu
