// SPDX-License-Identifier: Apache-2.0
// Safe replacement of files, for programs and devices. The rules of c_api.h for results and errors
// hold here.
#pragma once

#include <stddef.h>

#include "tengine/c_api.h"

TENGINE_EXTERN_C_BEGIN

// Replaces the content of the file `path` by the `size` bytes at `bytes`, atomically: readers, also
// after a crash or a loss of power, find the whole old content or the whole new one. The bytes go
// to a new file in the same folder (tengine-….unfinished), then to the disk, and then that file
// takes the old one's name. It also gets the old one's permissions, unless that is another user's:
// then others cannot write it. Owner and further hard links stay with the old file. A symbolic link
// is followed to its target. A file that the program may not write is not replaced, and neither is
// anything but a regular file: a folder, a pipe, a device such as /dev/null. Any thread; several
// may write one file at the same time, and the file then has the content of one of them.
//
// Returns 0, or -1: TENGINE_EINVAL for NULL or an empty path, TENGINE_EIO with the path and the
// reason; the file is then unchanged, except when only the folder could not be written to the disk:
// then it has the new content.
TENGINE_API int tengine_file_replace(const char* path, const void* bytes, size_t size);

// The same for the file `name` in `folder`, where the program and not its user picks the name, in a
// folder that others may write: there a symbolic link may lead anywhere, and is refused. The name
// must not contain '/', and must be neither "." nor "..".
//
// Returns 0, or -1: TENGINE_EINVAL for NULL, an empty folder or such a name, TENGINE_EIO as above,
// and for a link.
TENGINE_API int tengine_file_put(const char* folder, const char* name, const void* bytes,
                                 size_t size);

// 1 when `path` is a file that the graph, or the one it is a quantised copy of, was loaded from:
// the model's own or one of its external data, by this or any other name (a link). Else 0, also
// when there is no such file. save_graph would replace it, and the graph would keep the old one.
// Fails with TENGINE_EINVAL (NULL or empty).
TENGINE_API int tengine_graph_has_file(graph_t graph, const char* path);

TENGINE_EXTERN_C_END
