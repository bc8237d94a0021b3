// SPDX-License-Identifier: Apache-2.0
// Names of files.
#pragma once

enum
{
    kPathSize = 4096
};

// Writes "<folder>/<file>". Returns 0, or -1 after a message if it has more than kPathSize - 1
// characters.
int path_join(const char* folder, const char* file, char out_path[kPathSize]);
