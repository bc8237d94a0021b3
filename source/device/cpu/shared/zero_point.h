// SPDX-License-Identifier: Apache-2.0
// Reading of zero points, and the one that belongs to a slice.
#pragma once

#include <cstdint>

#include "tengine/ir.h"

namespace tengine::cpu {

// Element `index` of a zero point, 0 when there is none.
inline int read_zero_point(const tensor* zero_point, int64_t index)
{
    if (!zero_point) return 0;
    switch (zero_point->data_type) {
        case TENGINE_DT_INT8:
            return zero_point->i8[index];
        case TENGINE_DT_UINT8:
            return zero_point->u8[index];
        case TENGINE_DT_INT16:
            return static_cast<const int16_t*>(zero_point->data)[index];
        case TENGINE_DT_UINT16:
            return zero_point->f16[index];
        default:
            return zero_point->i32[index];
    }
}

// Parameters are one value for all or one per slice.
inline int64_t slice_index(const tensor* values, int64_t slice)
{
    return values && values->elem_num > 1 ? slice : 0;
}

}  // namespace tengine::cpu
