// SPDX-License-Identifier: Apache-2.0
// The stand-in for plugin.c and plugin_path.c in a minimal build, which may be linked into static
// programs and loads no libraries.
#include "api/check.h"
#include "api/plugin.h"
#include "tengine/plugin_loader.h"

static int fail_absent(const char* function)
{
    return api_result(tengine_error_set(
        TENGINE_ENOTSUP, "%s: this build cannot load libraries (CMake option TENGINE_MINIMAL)",
        function));
}

static const char* fail_index(const char* function)
{
    if (check_initialised(function) == TENGINE_OK)
        tengine_error_set(TENGINE_ERANGE, "%s: there are no plug-ins", function);
    return api_pointer(NULL);
}

void release_plugins(void) {}

void load_environment_plugins(void) {}

int tengine_plugin_load(const char* path)
{
    (void)path;
    return fail_absent(__func__);
}

int load_tengine_plugin(const char* plugin_name, const char* file_name, const char* init_func_name)
{
    (void)plugin_name, (void)file_name, (void)init_func_name;
    return fail_absent(__func__);
}

int unload_tengine_plugin(const char* plugin_name, const char* rel_func_name)
{
    (void)plugin_name, (void)rel_func_name;
    return fail_absent(__func__);
}

int get_tengine_plugin_number(void)
{
    return check_initialised(__func__) < 0 ? api_failure() : 0;
}

const char* get_tengine_plugin_name(int idx)
{
    (void)idx;
    return fail_index(__func__);
}

const char* tengine_plugin_get_version(int idx)
{
    (void)idx;
    return fail_index(__func__);
}

const char* tengine_plugin_get_file(int idx)
{
    (void)idx;
    return fail_index(__func__);
}
