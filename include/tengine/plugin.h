// SPDX-License-Identifier: Apache-2.0
// A plug-in is a shared library that exports one function, tengine_plugin(), which the macro
// below writes. Plug-ins add devices, schedulers and custom operators; plugin_loader.h loads them,
// and docs/compatibility.md describes their compatibility. A plug-in is not linked with the
// library: its functions are resolved in the process that loads it.
//
//     static int init(void) { return register_device(&npu_device); }
//     TENGINE_PLUGIN("npu", "1.4.2", init, NULL);
//
// CMake's tengine_add_plugin() builds one from the folder of a device.
#pragma once

#include "tengine/device.h"

TENGINE_EXTERN_C_BEGIN

typedef struct tengine_plugin_description
{
    uint32_t size;        // of this structure when the plug-in was compiled; it grows at its end
    ir_abi_t abi;         // the ABI of the headers that it was compiled with
    const char* name;     // the plug-in's name, with which it is unloaded
    const char* version;  // its own version; "" if it has none
    // Registers the plug-in's objects. A negative result, with the failure that tengine_error_set()
    // recorded, refuses the plug-in, and its objects are unregistered.
    int (*init)(void);
    // (optional) Undoes init, when the plug-in is unloaded and at release_tengine. Objects that it
    // leaves registered are unregistered.
    int (*release)(void);
} tengine_plugin_t;

// At file scope, once in a plug-in. The strings are constants.
#define TENGINE_PLUGIN(plugin_name, plugin_version, init_function, release_function) \
    TENGINE_C_LINKAGE TENGINE_API const tengine_plugin_t* tengine_plugin(void);      \
    TENGINE_C_LINKAGE TENGINE_API const tengine_plugin_t* tengine_plugin(void)       \
    {                                                                                \
        static const tengine_plugin_t plugin = {                                     \
            sizeof(tengine_plugin_t), IR_ABI,        plugin_name,                    \
            plugin_version,           init_function, release_function};              \
        return &plugin;                                                              \
    }                                                                                \
    struct tengine_plugin_description

TENGINE_EXTERN_C_END
