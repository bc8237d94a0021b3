// SPDX-License-Identifier: Apache-2.0
// Complex numbers as elements: a real and an imaginary part, one after the other. Minimal builds
// have none (operator/type_set.h).
#pragma once

#include <stdbool.h>

#include "base/minimal.h"
#include "tengine/defines.h"
#include "tengine/export.h"

TENGINE_EXTERN_C_BEGIN

static inline bool is_ir_complex(int data_type)
{
    return !IS_MINIMAL && (data_type == TENGINE_DT_COMPLEX64 || data_type == TENGINE_DT_COMPLEX128);
}

// The type of the two parts; other types are their own.
static inline int get_ir_part_type(int data_type)
{
    if (!is_ir_complex(data_type)) return data_type;
    return data_type == TENGINE_DT_COMPLEX64 ? TENGINE_DT_FP32 : TENGINE_DT_FP64;
}

// The alignment of the addresses of elements, by the size of one.
static inline int get_ir_alignment(int elem_size)
{
    return elem_size > 8 ? 8 : elem_size;
}

TENGINE_EXTERN_C_END
