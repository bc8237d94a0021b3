// SPDX-License-Identifier: Apache-2.0
// A plug-in that, by its functions, was built for LiteRT itself: of generation A, which calls
// LiteRT's library; of B, which gets its functions as a table; or one that contains the library.
#include <stddef.h>

#include "tengine/plugin.h"

TENGINE_API const char* LiteRtGetCompilerPluginSocManufacturer(void);
const char* LiteRtGetCompilerPluginSocManufacturer(void)
{
    return "Foreign";
}

#ifdef GENERATION_A
int LiteRtPushOp(void* list, void* op, size_t index);

TENGINE_API int LiteRtCompilerPluginPartition(void* plugin, const char* soc_model, void* subgraph,
                                              void* list);
int LiteRtCompilerPluginPartition(void* plugin, const char* soc_model, void* subgraph, void* list)
{
    (void)plugin;
    (void)soc_model;
    return LiteRtPushOp(list, subgraph, 0);
}
#endif

#ifdef GENERATION_B
TENGINE_API int LiteRtGetCompilerPluginSDKVersion(void* plugin, const char** out_version);
int LiteRtGetCompilerPluginSDKVersion(void* plugin, const char** out_version)
{
    (void)plugin;
    *out_version = "1";
    return 0;
}
#endif
