// SPDX-License-Identifier: Apache-2.0
// C API, group Plug-ins: where plug-ins are found, a file, a folder, or the list of the
// environment.
#define _DEFAULT_SOURCE
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "api/check.h"
#include "api/plugin.h"
#include "base/alloc.h"
#include "base/environment.h"
#include "base/folder.h"
#include "tengine/log.h"

#define PLUGIN_ENDING ".so"

static int load_plugin_folder(const char* path, const char* function)
{
    struct vector* files;
    int loaded = 0;
    TENGINE_RETURN_IF_ERROR(list_folder(path, PLUGIN_ENDING, &files));
    for (int i = 0; i < get_vector_num(files); ++i) {
        const char* file = *(char**)get_vector_data(files, i);
        if (load_plugin_file(file, function) == 0)
            ++loaded;
        else
            TLOG_ERR("skipped %s: %s", file, tengine_error_message());
    }
    release_vector(files);
    return loaded;
}

// A name without a slash is a file of the current folder. The loader would search the folders of
// libraries.
static int load_path(const char* path, const char* function)
{
    char here[PATH_MAX];
    if (is_folder(path)) return load_plugin_folder(path, function);
    if (!strchr(path, '/') && strlen(path) < sizeof here - 2) {
        snprintf(here, sizeof here, "./%s", path);
        path = here;
    }
    TENGINE_RETURN_IF_ERROR(load_plugin_file(path, function));
    return 1;
}

int tengine_plugin_load(const char* path)
{
    if (check_initialised(__func__) < 0 || check_name(path, __func__, "path") < 0)
        return api_failure();
    const int loaded = load_path(path, __func__);
    return loaded < 0 ? api_result(loaded) : loaded;
}

static void load_or_skip(const char* path)
{
    if (load_path(path, "TENGINE_PLUGIN_PATH") < 0)
        TLOG_ERR("skipped %s: %s", path, tengine_error_message());
}

void load_environment_plugins(void)
{
    const char* list = get_trusted_environment("TENGINE_PLUGIN_PATH");
    char* copy = list ? duplicate_string(list) : NULL;
    for (char* path = copy; path;) {
        char* colon = strchr(path, ':');
        if (colon) *colon = '\0';
        if (*path) load_or_skip(path);
        path = colon ? colon + 1 : NULL;
    }
    free_memory(copy);
    tengine_error_clear();
}
