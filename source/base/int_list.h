// SPDX-License-Identifier: Apache-2.0
// Lists of int in a vector_t, which a device's describe() fills.
#pragma once

#include <stdbool.h>

#include "tengine/vector.h"

TENGINE_EXTERN_C_BEGIN

bool is_in_int_list(const struct vector* list, int value);

TENGINE_EXTERN_C_END
