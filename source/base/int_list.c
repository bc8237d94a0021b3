// SPDX-License-Identifier: Apache-2.0
#include "base/int_list.h"

bool is_in_int_list(const struct vector* list, int value)
{
    for (int i = 0; i < get_vector_num(list); ++i)
        if (*(const int*)get_vector_data(list, i) == value) return true;
    return false;
}
