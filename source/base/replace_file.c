// SPDX-License-Identifier: Apache-2.0
#include "base/replace_file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/text.h"

static int fail(const char* path)
{
    return tengine_error_set(TENGINE_EIO, "cannot write '%s': %s", path, strerror(errno));
}

static int write_file(const char* path, const void* bytes, size_t size)
{
    FILE* file = fopen(path, "wb");
    if (!file) return fail(path);
    const bool written = fwrite(bytes, 1, size, file) == size && fflush(file) == 0;
    const int status = written ? TENGINE_OK : fail(path);
    if (fclose(file) != 0 && status == TENGINE_OK) return fail(path);
    return status;
}

int replace_file(const char* path, const void* bytes, size_t size)
{
    text_t unfinished = {0};
    append_text(&unfinished, "%s.%ld.unfinished", path, (long)getpid());
    if (!unfinished.data)
        return tengine_error_set(TENGINE_ENOMEM, "no memory for the name of a file");
    int status = write_file(unfinished.data, bytes, size);
    if (status == TENGINE_OK && rename(unfinished.data, path) != 0) status = fail(path);
    if (status < 0) remove(unfinished.data);
    free_text(&unfinished);
    return status;
}
