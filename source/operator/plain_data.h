// SPDX-License-Identifier: Apache-2.0
// The constants that operators only compute with. Values that may decide a size or a position are
// checked before it is used, and used more than once; it must not lie in memory that can change
// unnoticed, as a mapped file's does.
#pragma once

#include <stdbool.h>

#include "tengine/ir.h"

TENGINE_EXTERN_C_BEGIN

// The longest list of floats that decides a size: Resize's roi. read_float_input() takes no longer.
#define OP_MOST_FLOATS (2 * MAX_SHAPE_DIM_NUM)

// False for booleans and integers of 32 and 64 bits, and for lists of up to OP_MOST_FLOATS elements
// of any type. Kernels that choose by the values of others (NonZero, TopK, MaxRoiPool) bear that
// these change while they run.
bool is_plain_data(const struct tensor* constant);

TENGINE_EXTERN_C_END
