// SPDX-License-Identifier: Apache-2.0
// Reading of index inputs: int32 or int64, negative values count from the end.
#pragma once

#include <cstdint>

#include "operator/infer.h"
#include "tengine/ir.h"

namespace tengine::cpu {

inline int64_t read_index(const tensor* indices, int64_t position)
{
    return indices->data_type == TENGINE_DT_INT32 ? indices->i32[position] : indices->i64[position];
}

// Returns the index at `position` for an axis of `size` elements, after check_index().
inline int64_t read_index(const tensor* indices, int64_t position, int64_t size)
{
    const int64_t index = read_index(indices, position);
    return index < 0 ? index + size : index;
}

// Checks that the index at `position` is in [-size, size); else ERANGE.
inline int check_index(const node* node, const tensor* indices, int64_t position, int64_t size)
{
    const int64_t index = read_index(indices, position);
    if (index >= -size && index < size) return TENGINE_OK;
    return fail_node(node, TENGINE_ERANGE,
                     "index %lld at position %lld is out of range: expected %lld to %lld",
                     static_cast<long long>(index), static_cast<long long>(position),
                     static_cast<long long>(-size), static_cast<long long>(size - 1));
}

// Applies check_index() to a whole tensor of indices into one axis.
inline int check_indices(const node* node, const tensor* indices, int64_t size)
{
    for (int64_t i = 0; i < indices->elem_num; ++i)
        TENGINE_RETURN_IF_ERROR(check_index(node, indices, i, size));
    return TENGINE_OK;
}

}  // namespace tengine::cpu
