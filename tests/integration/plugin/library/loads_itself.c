// SPDX-License-Identifier: Apache-2.0
// A plug-in whose init loads the plug-in again, by its path and under new names.
#include <stdio.h>
#include <string.h>

#include "tengine/plugin.h"
#include "tengine/plugin_loader.h"

#define EXPORT __attribute__((visibility("default")))

EXPORT int load_under_new_name(void);

static int init(void)
{
    return tengine_plugin_load(PLUGIN_FILE) == 1 ? 0 : tengine_error_code();
}

int load_under_new_name(void)
{
    static char name[32];
    static int number;
    snprintf(name, sizeof name, "name %d", ++number);
    return load_tengine_plugin(name, PLUGIN_FILE, "load_under_new_name");
}

TENGINE_PLUGIN("loads itself", "1.0", init, NULL);
