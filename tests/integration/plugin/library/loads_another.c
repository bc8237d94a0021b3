// SPDX-License-Identifier: Apache-2.0
// A plug-in whose init loads another one of its folder, and registers nothing itself.
#include <string.h>

#include "tengine/plugin.h"
#include "tengine/plugin_loader.h"

static int init(void)
{
    static const char another[] = "shout_device.so";
    char path[sizeof PLUGIN_FILE + sizeof another] = PLUGIN_FILE;
    memcpy(strrchr(path, '/') + 1, another, sizeof another);
    return load_tengine_plugin("shout", path, "shout_init");
}

TENGINE_PLUGIN("loads another", "1.0", init, NULL);
