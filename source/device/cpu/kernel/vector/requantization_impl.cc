// SPDX-License-Identifier: Apache-2.0
#include "device/cpu/kernel/vector/requantization.h"

namespace tengine::cpu {

int find_multipliers(const KernelContext& context, const double* reals, int count,
                     ir_multiplier_t* out_multipliers)
{
    if (make_ir_multipliers(reals, count, out_multipliers) == TENGINE_OK) return TENGINE_OK;
    int wrong = 0;
    while (wrong < count - 1 && reals[wrong] >= 0 && reals[wrong] < 2147483647.0)
        ++wrong;
    return fail_node(context.node, TENGINE_ERANGE,
                     "its scales make a factor of %g, expected 0 to 2^31", reals[wrong]);
}

void requantize_exactly(const Int8Range& range, const int32_t* sums,
                        const ir_multiplier_t* multipliers, int64_t count, uint8_t* to)
{
    for (int64_t i = 0; i < count; ++i)
        to[i] = saturate_int8(range, scale_ir_sum(range.rounding, sums[i], multipliers[i]));
}

}  // namespace tengine::cpu
