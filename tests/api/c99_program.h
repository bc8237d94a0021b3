// SPDX-License-Identifier: Apache-2.0
// A C99 program on the public headers, to be called as a test.
#pragma once

#include "tengine/export.h"

TENGINE_EXTERN_C_BEGIN

// Runs through a graph's whole life. Returns NULL, or the first expression that was not as
// expected.
const char* run_c99_program(void);

TENGINE_EXTERN_C_END
