// SPDX-License-Identifier: Apache-2.0
// Sorting in place. The C library's qsort() takes memory of its own for long lists.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "tengine/export.h"

TENGINE_EXTERN_C_BEGIN

// Sorts as qsort() does, by heapsort: at most 2 n log2(n) comparisons. Equal items may change
// places.
void sort_items(void* items, size_t number, size_t size,
                int (*compare)(const void* left, const void* right));

// Sorts in ascending order.
void sort_indices(int32_t* indices, size_t number);

TENGINE_EXTERN_C_END
