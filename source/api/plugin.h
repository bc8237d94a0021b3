// SPDX-License-Identifier: Apache-2.0
// Plug-ins at the end of the library's life.
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

// Unregisters what plug-ins have registered and closes them, the last one first. No context and no
// graph is there any more.
void release_plugins(void);

#ifdef __cplusplus
}
#endif
