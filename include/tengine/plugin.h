// SPDX-License-Identifier: Apache-2.0
// A plug-in is a shared library that exports one function, tengine_plugin(), which the macro
// below writes. Plug-ins bring devices, schedulers and custom operators; how a program loads them
// is in plugin_loader.h, and what stays compatible in docs/compatibility.md. A plug-in is not
// linked with the library: it finds its functions in the process that loads it.
//
//     static int init(void) { return register_device(&npu_device); }
//     TENGINE_PLUGIN("npu", "1.4.2", init, NULL);
//
// CMake's tengine_add_plugin() makes one from the folder of a device.
#pragma once

#include "tengine/device.h"

TENGINE_EXTERN_C_BEGIN

typedef struct tengine_plugin_description
{
    uint32_t size;        // of this structure where the plug-in was compiled; it grows at its end
    ir_abi_t abi;         // what the plug-in was compiled against
    const char* name;     // of the plug-in, by which it is unloaded
    const char* version;  // its own version; "" if it has none
    // Registers what the plug-in brings. A negative result, with what tengine_error_set() recorded,
    // keeps the plug-in out, and what it had registered goes.
    int (*init)(void);
    // (optional) Undoes init, when the plug-in is unloaded and at release_tengine. Things that
    // it leaves registered are unregistered.
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
