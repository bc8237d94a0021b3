// SPDX-License-Identifier: Apache-2.0
// Plug-ins: shared libraries that bring devices and schedulers. Part of c_api.h, whose rules for
// results and errors hold here too. Not while graphs run on other threads.
#pragma once

#include "tengine/export.h"

#ifdef __cplusplus
extern "C" {
#endif

// Loads a shared library (a path, or a name from the system's search path) and calls its function
// `init_func_name`, an `int (*)(void)`, which registers devices and schedulers through device.h;
// NULL calls nothing. Its symbols are resolved at once and seen by nobody else. When loading fails
// nothing it had registered stays. Fails with TENGINE_EINVAL (a name is NULL or empty),
// TENGINE_EEXIST (there is a plug-in of this name), TENGINE_EIO (the file, with the loader's
// sentence), TENGINE_ENOENT (no such function), and when the function returns a negative number,
// with what it has recorded or TENGINE_EDEVICE.
TENGINE_API int load_tengine_plugin(const char* plugin_name, const char* file_name,
                                    const char* init_func_name);

// Calls the plug-in's function `rel_func_name`, also `int (*)(void)`, NULL for none, unregisters
// what is then still there of its devices and schedulers, and closes the library. release_tengine
// does so for all plug-ins, without calling functions of theirs. Fails with TENGINE_EINVAL (NULL),
// TENGINE_ENOENT (no such plug-in or function), TENGINE_ESTATE (a context lists one of its devices,
// a graph uses one, or a call of one has not come back), and as above when the function returns a
// negative number; the plug-in then stays.
TENGINE_API int unload_tengine_plugin(const char* plugin_name, const char* rel_func_name);

// Number of plug-ins, and the name of one, in the order of loading, valid until it is unloaded; the
// latter fails with TENGINE_ERANGE.
TENGINE_API int get_tengine_plugin_number(void);
TENGINE_API const char* get_tengine_plugin_name(int idx);

#ifdef __cplusplus
}
#endif
