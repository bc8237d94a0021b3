// SPDX-License-Identifier: Apache-2.0
// The contract is in small_file.h. Nothing here uses stdio, whose streams allocate.
#define _DEFAULT_SOURCE
#include "base/small_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <sys/stat.h>

#include "base/alloc.h"

static int fail(const char* path, const char* what)
{
    return tengine_error_set(TENGINE_EIO, "cannot read %s '%s': %s", what, path, strerror(errno));
}

static int check_file(int descriptor, const char* path, const char* what, size_t most,
                      size_t* out_size)
{
    struct stat info;
    if (fstat(descriptor, &info) != 0) return fail(path, what);
    if (!S_ISREG(info.st_mode))
        return tengine_error_set(TENGINE_EIO, "cannot read %s '%s': it is not a regular file", what,
                                 path);
    if ((uintmax_t)info.st_size > most)
        return tengine_error_set(TENGINE_ELIMIT,
                                 "cannot read %s '%s': it has %lld bytes, expected at most %zu",
                                 what, path, (long long)info.st_size, most);
    *out_size = (size_t)info.st_size;
    return TENGINE_OK;
}

// Reads `inout_size` bytes, or as many as the file still has.
static bool read_all(int descriptor, char* bytes, size_t* inout_size)
{
    size_t done = 0;
    while (done < *inout_size) {
        const ssize_t length = read(descriptor, bytes + done, *inout_size - done);
        if (length < 0 && errno == EINTR) continue;
        if (length < 0) return false;
        if (length == 0) break;
        done += (size_t)length;
    }
    *inout_size = done;
    return true;
}

static int read_open_file(int descriptor, const char* path, const char* what, size_t most,
                          char** out_bytes, size_t* out_size)
{
    TENGINE_RETURN_IF_ERROR(check_file(descriptor, path, what, most, out_size));
    char* bytes = alloc_memory(*out_size);
    if (!bytes)
        return tengine_error_set(TENGINE_ENOMEM, "out of memory for the %zu bytes of %s '%s'",
                                 *out_size, what, path);
    if (!read_all(descriptor, bytes, out_size)) {
        const int status = fail(path, what);
        free_memory(bytes);
        return status;
    }
    *out_bytes = bytes;
    return TENGINE_OK;
}

int read_small_file(const char* path, const char* what, size_t most, char** out_bytes,
                    size_t* out_size)
{
    // O_NONBLOCK: opening a pipe without a writer must not block.
    const int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor < 0) return fail(path, what);
    const int status = read_open_file(descriptor, path, what, most, out_bytes, out_size);
    close(descriptor);
    return status;
}
