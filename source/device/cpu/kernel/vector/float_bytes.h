// SPDX-License-Identifier: Apache-2.0
// Floats as uint8 with one scale and zero point of all, as DynamicQuantizeLinear has it.
#pragma once

#include <cstdint>

#include "base/thread_pool.h"

namespace tengine::cpu {

struct FloatBytes
{
    float scale;
    int zero_point;  // of uint8
};

// Those whose range is that of the values and 0. All zero: any scale will do.
FloatBytes find_float_bytes(thread_pool_t* pool, const float* values, int64_t count);

// The values as bytes. Quotients are rounded to the nearest, halves to even; NaN is 0.
void quantize_float_bytes(thread_pool_t* pool, const float* values, int64_t count, FloatBytes bytes,
                          uint8_t* output);

// The same for each row of `depth` values by itself.
void quantize_float_rows(thread_pool_t* pool, const float* values, int64_t rows, int64_t depth,
                         FloatBytes* forms, uint8_t* output);

}  // namespace tengine::cpu
