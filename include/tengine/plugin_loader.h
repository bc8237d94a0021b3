// SPDX-License-Identifier: Apache-2.0
// Loading of plug-ins, which add devices, schedulers and custom operators (plugin.h). Part of
// c_api.h, whose rules for results and errors hold here too. Not while graphs run on other threads.
// A build with TENGINE_MINIMAL loads none and fails with TENGINE_ENOTSUP.
//
// init_tengine loads what the environment variable TENGINE_PLUGIN_PATH lists, files and folders
// with colons between them, unless the program runs with other rights than its user has. A plug-in
// that fails is skipped, and the reason is logged as an error.
#pragma once

#include "tengine/export.h"

TENGINE_EXTERN_C_BEGIN

// Loads the plug-in in the shared library `path`, or those in the folder `path`: its files whose
// names end with ".so", in alphabetical order. A plug-in is compiled with plugin.h, has a name, and
// is refused before it runs if it is not compatible with this library. In a folder, a file that
// fails is skipped, and the reason is logged as an error. Returns the number of loaded plug-ins.
// Fails with TENGINE_EINVAL (NULL or empty; the plug-in's structure is not complete, or
// tengine_plugin is data), TENGINE_EIO (no such file or folder, a truncated file, or the loader's
// message), TENGINE_ENOENT (it exports no tengine_plugin), TENGINE_EVERSION (compiled for another
// major version of the device ABI; the message has both), TENGINE_EEXIST (a plug-in of this name is
// loaded), TENGINE_ESTATE (its own init loads it again), TENGINE_EDEVICE (a constructor of the
// library or a function of the plug-in threw), and when its init returns a negative number, with
// the failure that it has recorded or TENGINE_EDEVICE. A file that fails leaves nothing registered.
TENGINE_API int tengine_plugin_load(const char* path);

// Tengine's way: loads a shared library (a path, or a name from the system's search path) under the
// name `plugin_name` and calls its function `init_func_name`, an `int (*)(void)`, which registers
// devices and schedulers through device.h; NULL calls the init of plugin.h's structure, if the
// library has one. Symbols are resolved at once and stay local to the library. When loading fails,
// its objects are unregistered; one that is in use stays registered, and the library in memory.
// Fails with TENGINE_EINVAL (a name is NULL or empty), TENGINE_EEXIST (a plug-in of this name is
// loaded), TENGINE_EIO (the file, with the loader's message), TENGINE_ENOENT (no such function),
// TENGINE_EVERSION, TENGINE_ESTATE and TENGINE_EDEVICE as above, and when the function returns a
// negative number, with the failure that it has recorded or TENGINE_EDEVICE.
TENGINE_API int load_tengine_plugin(const char* plugin_name, const char* file_name,
                                    const char* init_func_name);

// Calls the plug-in's function `rel_func_name`, also `int (*)(void)`; NULL calls the `release` of
// plugin.h's structure. Then unregisters the plug-in's remaining devices, schedulers and operators,
// and closes the library. release_tengine unloads all plug-ins in this way, with NULL. Fails with
// TENGINE_EINVAL (NULL), TENGINE_ENOENT (no such plug-in or function), TENGINE_ESTATE (one of its
// devices or schedulers is in use, see unregister_device, or a graph uses one of its operators),
// and as above when the function returns a negative number; the plug-in then stays.
TENGINE_API int unload_tengine_plugin(const char* plugin_name, const char* rel_func_name);

// The number of plug-ins; and the name, the version ("" if it states none), and the file of the
// plug-in at `idx`, in the order of loading. Strings are valid until it is unloaded. The latter
// three fail with TENGINE_ERANGE.
TENGINE_API int get_tengine_plugin_number(void);
TENGINE_API const char* get_tengine_plugin_name(int idx);
TENGINE_API const char* tengine_plugin_get_version(int idx);
TENGINE_API const char* tengine_plugin_get_file(int idx);

TENGINE_EXTERN_C_END
