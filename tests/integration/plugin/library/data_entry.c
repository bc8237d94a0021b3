// SPDX-License-Identifier: Apache-2.0
// A plug-in exports a function; this one exports data of that name.
#include "tengine/plugin.h"

extern TENGINE_API const struct tengine_plugin_description tengine_plugin;

static int init(void)
{
    return 0;
}

const struct tengine_plugin_description tengine_plugin = {
    sizeof(struct tengine_plugin_description), IR_ABI, "data", "1.0", init, NULL};
