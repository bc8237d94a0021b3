// SPDX-License-Identifier: Apache-2.0
// Lists of a graph that grow: their capacity, and those of indices.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "tengine/export.h"

TENGINE_EXTERN_C_BEGIN

// The next capacity of a list that is full: twice the present one, INT32_MAX at most.
static inline int32_t get_ir_list_capacity(int32_t capacity)
{
    if (capacity < 32) return 32;
    return capacity > INT32_MAX / 2 ? INT32_MAX : capacity * 2;
}

// Appends to a list of `number` indices. Its room is the next power of two and so need not be
// stored. False when memory runs out.
TENGINE_MUST_USE bool push_ir_index(int32_t** list, int32_t number, int32_t value);
// The same for two lists of `number` that lie in one block, where `*first` begins, the address to
// free: in an arena each block takes a cache line at least.
TENGINE_MUST_USE bool push_ir_index_pair(int32_t** first, int32_t** second, int32_t number,
                                         int32_t first_value, int32_t second_value);

TENGINE_EXTERN_C_END
