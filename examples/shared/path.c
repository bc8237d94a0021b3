// SPDX-License-Identifier: Apache-2.0
// Names of files.
#include "path.h"

#include <stdio.h>

#include "message.h"

int path_join(const char* folder, const char* file, char out_path[kPathSize])
{
    const int length = snprintf(out_path, kPathSize, "%s/%s", folder, file);
    if (length < 0 || length >= kPathSize)
        return fail("%s: the path has %d characters, expected at most %d", file, length,
                    kPathSize - 1);
    return 0;
}
