// SPDX-License-Identifier: Apache-2.0
// By its functions a plug-in that was built for LiteRT itself.
#include "tengine/plugin.h"

TENGINE_API const char* LiteRtGetCompilerPluginSocManufacturer(void);
const char* LiteRtGetCompilerPluginSocManufacturer(void)
{
    return "Foreign";
}

#ifdef GENERATION_B
TENGINE_API int LiteRtGetCompilerPluginSDKVersion(void* plugin, const char** out_version);
int LiteRtGetCompilerPluginSDKVersion(void* plugin, const char** out_version)
{
    (void)plugin;
    *out_version = "1";
    return 0;
}
#endif
