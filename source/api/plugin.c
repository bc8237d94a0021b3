// SPDX-License-Identifier: Apache-2.0
// C API, group Plug-ins: declared so that programs compile and link; loading is not there yet.
#include "api/check.h"

int load_tengine_plugin(const char* plugin_name, const char* file_name, const char* init_func_name)
{
    (void)init_func_name;
    if (check_initialised(__func__) < 0 || check_name(plugin_name, __func__, "plugin_name") < 0 ||
        check_name(file_name, __func__, "file_name") < 0)
        return -1;
    return api_result(fail_not_supported(__func__, "loading plug-ins is"));
}

int unload_tengine_plugin(const char* plugin_name, const char* rel_func_name)
{
    (void)rel_func_name;
    if (check_initialised(__func__) < 0 || check_name(plugin_name, __func__, "plugin_name") < 0)
        return -1;
    return api_result(fail_not_supported(__func__, "loading plug-ins is"));
}

int get_tengine_plugin_number(void)
{
    return check_initialised(__func__) < 0 ? -1 : 0;
}

const char* get_tengine_plugin_name(int idx)
{
    if (check_initialised(__func__) == 0)
        tengine_error_set(TENGINE_ERANGE, "%s: index %d, but there are no plug-ins", __func__, idx);
    return NULL;
}
