// SPDX-License-Identifier: Apache-2.0
// The speed at which this machine copies memory: the measure for moving a tensor to a device and
// back, and the bound of operators that compute little.
#pragma once

#include "tengine/export.h"

TENGINE_EXTERN_C_BEGIN

// Bytes copied per second by one thread, in more memory than a core has caches for. Measured at the
// first call, which takes some milliseconds, then the same for the life of the process. From any
// thread. Never fails: when out of memory it is a low guess, until a later call has the memory.
double get_copy_bandwidth(void);

TENGINE_EXTERN_C_END
