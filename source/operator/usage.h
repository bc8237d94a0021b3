// SPDX-License-Identifier: Apache-2.0
// The operators that nodes have had so far in this process, which a build for the same models needs
// (TENGINE_OPERATORS). Thread-safe.
#pragma once

#include <stdbool.h>

#include "tengine/export.h"

TENGINE_EXTERN_C_BEGIN

void note_operator_use(int type);
bool is_operator_used(int type);

TENGINE_EXTERN_C_END
