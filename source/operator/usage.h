// SPDX-License-Identifier: Apache-2.0
// The operators that nodes have had so far in this process, which a build for the same models needs
// (TENGINE_OPERATORS). Thread-safe.
#pragma once

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

void note_operator_use(int type);
bool is_operator_used(int type);

#ifdef __cplusplus
}
#endif
