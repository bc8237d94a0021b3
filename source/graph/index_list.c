// SPDX-License-Identifier: Apache-2.0
#include "graph/index_list.h"

#include <string.h>

#include "base/alloc.h"

bool push_ir_index(int32_t** list, int32_t number, int32_t value)
{
    if ((number & (number - 1)) == 0) {
        const size_t bytes = sizeof(int32_t) * (size_t)number;
        int32_t* grown = resize_memory(*list, bytes, number ? bytes * 2 : sizeof(int32_t));
        if (!grown) return false;
        *list = grown;
    }
    (*list)[number] = value;
    return true;
}

bool push_ir_index_pair(int32_t** first, int32_t** second, int32_t number, int32_t first_value,
                        int32_t second_value)
{
    if ((number & (number - 1)) == 0) {
        const size_t room = number ? (size_t)number * 2 : 1;
        int32_t* grown = alloc_small_memory(sizeof(int32_t) * room * 2);
        if (!grown) return false;
        if (number) {
            memcpy(grown, *first, sizeof(int32_t) * (size_t)number);
            memcpy(grown + room, *second, sizeof(int32_t) * (size_t)number);
        }
        free_memory(*first);
        *first = grown;
        *second = grown + room;
    }
    (*first)[number] = first_value;
    (*second)[number] = second_value;
    return true;
}
