// SPDX-License-Identifier: Apache-2.0
// Files of settings. The contract is in settings.h.
#define _DEFAULT_SOURCE
#include <errno.h>
#include <string.h>

#include <sys/stat.h>

#include "base/alloc.h"
#include "base/small_file.h"
#include "base/text.h"
#include "image/settings.h"

int load_image_settings(const char* path, struct tengine_image_settings* settings)
{
    char* json;
    size_t length;
    TENGINE_RETURN_IF_ERROR(
        read_small_file(path, "the settings", MOST_SETTINGS_BYTES, &json, &length));
    const int status = parse_image_settings(json, length, path, settings);
    free_memory(json);
    return status;
}

// The length of a path without the extension of its file.
static size_t length_of_stem(const char* path)
{
    const char* slash = strrchr(path, '/');
    const char* name = slash ? slash + 1 : path;
    const char* dot = strrchr(name, '.');
    return dot && dot > name ? (size_t)(dot - path) : strlen(path);
}

int load_image_settings_beside(const char* model, struct tengine_image_settings* settings)
{
    text_t path = {0};
    struct stat info;
    append_text(&path, "%.*s.preprocess.json", (int)length_of_stem(model), model);
    if (path.failed) {
        free_text(&path);
        return tengine_error_set(TENGINE_ENOMEM, "out of memory for the path of the settings");
    }
    const bool is_absent = stat(path.data, &info) != 0 && errno == ENOENT;
    const int status = is_absent ? TENGINE_OK : load_image_settings(path.data, settings);
    free_text(&path);
    return is_absent || status < 0 ? status : 1;
}
