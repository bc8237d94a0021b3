// SPDX-License-Identifier: Apache-2.0
// A clock for measuring. Any thread, no heap.
#pragma once

#include <stdint.h>

#include "tengine/export.h"

TENGINE_EXTERN_C_BEGIN

// Returns nanoseconds of a clock that never steps back; its zero is arbitrary.
uint64_t get_time_ns(void);

TENGINE_EXTERN_C_END
