// SPDX-License-Identifier: Apache-2.0
#include "device/cpu/kernel/requantization.h"

namespace tengine::cpu {

void requantize_exactly(const ByteRange& range, const int32_t* sums,
                        const ir_multiplier_t* multipliers, int64_t count, uint8_t* to)
{
    for (int64_t i = 0; i < count; ++i)
        to[i] = static_cast<uint8_t>(requantize_ir_sum(sums[i], multipliers[i], range.zero_point,
                                                       range.lowest, range.highest));
}

}  // namespace tengine::cpu
