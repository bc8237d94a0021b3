// SPDX-License-Identifier: Apache-2.0
#include "operator/usage.h"

#include <stdatomic.h>

enum
{
    MOST_TYPES = 1024  // more than the tables have; what programs register beyond is not listed
};

static atomic_bool used[MOST_TYPES];

void note_operator_use(int type)
{
    if (type >= 0 && type < MOST_TYPES)
        atomic_store_explicit(&used[type], true, memory_order_relaxed);
}

bool is_operator_used(int type)
{
    return type >= 0 && type < MOST_TYPES &&
           atomic_load_explicit(&used[type], memory_order_relaxed);
}
