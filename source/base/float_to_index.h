// SPDX-License-Identifier: Apache-2.0
// Floats that become sizes, counts and positions. C leaves the result of a conversion open when the
// integer cannot hold the value, and compilers make any number of it: a file's or a user's NaN must
// not reach one. Elements are converted by saturate() of device/cpu/reference/vector/arithmetic.h.
#pragma once

#include <stdint.h>

#include "tengine/export.h"

TENGINE_EXTERN_C_BEGIN

// Rounds towards zero and clamps to lowest..highest; a NaN becomes `lowest`.
static inline int64_t float_to_index(double value, int64_t lowest, int64_t highest)
{
    if (!(value > (double)lowest)) return lowest;
    // (double)INT64_MAX is 2^63; all values below it can be converted.
    return value < (double)highest ? (int64_t)value : highest;
}

TENGINE_EXTERN_C_END
