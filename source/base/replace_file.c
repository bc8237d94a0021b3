// SPDX-License-Identifier: Apache-2.0
#define _POSIX_C_SOURCE 200809L
#include "base/replace_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/text.h"

static int fail(const char* path)
{
    return tengine_error_set(TENGINE_EIO, "cannot write '%s': %s", path, strerror(errno));
}

static bool write_all(int descriptor, const char* bytes, size_t size)
{
    while (size > 0) {
        const ssize_t written = write(descriptor, bytes, size);
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) return false;
        bytes += written;
        size -= (size_t)written;
    }
    return true;
}

// Without stdio, whose streams take memory of their own.
static int write_file(const char* path, const void* bytes, size_t size)
{
    const int descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (descriptor < 0) return fail(path);
    const int status = write_all(descriptor, bytes, size) ? TENGINE_OK : fail(path);
    if (close(descriptor) != 0 && status == TENGINE_OK) return fail(path);
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
