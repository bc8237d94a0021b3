// SPDX-License-Identifier: Apache-2.0
#include "base/folder.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <sys/stat.h>

#include "base/alloc.h"
#include "base/sort.h"
#include "tengine/error.h"

bool is_folder(const char* path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

static void free_path(void* item)
{
    free_memory(*(char**)item);
}

static int compare_paths(const void* a, const void* b)
{
    return strcmp(*(char* const*)a, *(char* const*)b);
}

static bool has_ending(const char* name, const char* ending)
{
    const size_t length = strlen(name), end = strlen(ending);
    return *name != '.' && length > end && strcmp(name + length - end, ending) == 0;
}

static bool push_path(struct vector* paths, const char* folder, const char* name)
{
    const size_t size = strlen(folder) + strlen(name) + 2;
    char* path = alloc_memory(size);
    if (!path) return false;
    snprintf(path, size, "%s/%s", folder, name);
    if (push_vector_data(paths, &path) == 0) return true;
    free_memory(path);
    return false;
}

static bool push_entries(struct vector* paths, const char* folder, const char* ending, DIR* stream)
{
    for (const struct dirent* entry = readdir(stream); entry; entry = readdir(stream))
        if (has_ending(entry->d_name, ending) && !push_path(paths, folder, entry->d_name))
            return false;
    return true;
}

int list_folder(const char* path, const char* ending, struct vector** out_paths)
{
    DIR* stream = opendir(path);
    if (!stream) return tengine_error_set(TENGINE_EIO, "%s: %s", path, strerror(errno));
    struct vector* paths = create_vector(sizeof(char*), free_path);
    const bool complete = paths && push_entries(paths, path, ending, stream);
    closedir(stream);
    if (!complete) {
        release_vector(paths);
        return tengine_error_set(TENGINE_ENOMEM, "folder '%s': out of memory while listing it",
                                 path);
    }
    if (get_vector_num(paths) > 1)
        sort_items(get_vector_data(paths, 0), (size_t)get_vector_num(paths), sizeof(char*),
                   compare_paths);
    *out_paths = paths;
    return TENGINE_OK;
}
