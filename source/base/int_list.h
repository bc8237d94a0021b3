// SPDX-License-Identifier: Apache-2.0
// Lists of int in a struct vector, which a device's describe() fills.
#pragma once

#include <stdbool.h>

#include "tengine/vector.h"

#ifdef __cplusplus
extern "C" {
#endif

bool is_in_int_list(const struct vector* list, int value);

#ifdef __cplusplus
}
#endif
