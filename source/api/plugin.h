// SPDX-License-Identifier: Apache-2.0
// Plug-ins at the start and the end of the library's life, and the functions that plugin.c and
// plugin_path.c share.
#pragma once

#include "tengine/export.h"

TENGINE_EXTERN_C_BEGIN

// Unregisters everything that plug-ins have registered and closes them, the last one first, after
// all contexts and graphs have been destroyed.
void release_plugins(void);

// Loads the plug-ins of TENGINE_PLUGIN_PATH; failures are logged.
void load_environment_plugins(void);

// Loads the plug-in in a shared library; the message of a failure begins with `function`.
int load_plugin_file(const char* path, const char* function);

TENGINE_EXTERN_C_END
