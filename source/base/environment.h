// SPDX-License-Identifier: Apache-2.0
// Variables of the environment that decide which code runs.
#pragma once

#include "tengine/export.h"

TENGINE_EXTERN_C_BEGIN

// As getenv(), but NULL in a program that runs with other rights than the user who started it has
// (set-user-ID, set-group-ID, capabilities of its file).
const char* get_trusted_environment(const char* name);

TENGINE_EXTERN_C_END
