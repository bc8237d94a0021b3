// SPDX-License-Identifier: Apache-2.0
// Files as the library writes them, for programs and devices that write their own. The rules of
// c_api.h for results and errors hold here.
#pragma once

#include <stddef.h>

#include "tengine/export.h"

#ifdef __cplusplus
extern "C" {
#endif

// Makes `bytes`, of which there are `size`, the content of the file `path`. Whoever reads it, and
// whoever looks after a crash or a loss of power, finds the old content or the new, whole: the
// bytes go to a new file in the same folder (tengine-….unfinished), then to the disk, and then that
// file takes the old one's name. It also gets the old one's permissions; owner and further hard
// links stay with the old. Through a symbolic link, the file that it leads to is replaced. A file
// that the program may not write is not replaced, and neither is what is no regular file: a folder,
// a pipe, a device such as /dev/null. Any thread; several may write one file at the same time, and
// one of them is the last.
//
// Returns 0, or -1: TENGINE_EINVAL for NULL or an empty path, TENGINE_EIO with the path and the
// reason, after which the file is as it was; only where the folder cannot be brought to the disk
// has the file the new content already.
TENGINE_API int tengine_file_replace(const char* path, const void* bytes, size_t size);

#ifdef __cplusplus
}
#endif
