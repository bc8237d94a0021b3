// SPDX-License-Identifier: Apache-2.0
// Variables of the environment that decide which code runs.
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

// As getenv(), but NULL in a program that runs with other rights than the user who started it has
// (set-user-ID, set-group-ID, capabilities of its file).
const char* get_trusted_environment(const char* name);

#ifdef __cplusplus
}
#endif
