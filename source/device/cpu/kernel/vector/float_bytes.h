// SPDX-License-Identifier: Apache-2.0
// Floats as uint8 with one scale and zero point, as in DynamicQuantizeLinear.
#pragma once

#include <cstdint>

#include "base/thread_pool.h"

namespace tengine::cpu {

struct FloatBytes
{
    float scale;
    int zero_point;  // of uint8
};

// The scale and zero point for the range of the values and 0. If all are zero, any scale is right.
FloatBytes find_float_bytes(thread_pool_t* pool, const float* values, int64_t count);

// Quantises the values. Quotients are rounded to the nearest, ties to even; NaN is 0.
void quantize_float_bytes(thread_pool_t* pool, const float* values, int64_t count, FloatBytes bytes,
                          uint8_t* output);

// The same for each row of `depth` values separately.
void quantize_float_rows(thread_pool_t* pool, const float* values, int64_t rows, int64_t depth,
                         FloatBytes* forms, uint8_t* output);

}  // namespace tengine::cpu
