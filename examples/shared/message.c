// SPDX-License-Identifier: Apache-2.0
// Messages of an example program.
#include "message.h"

#include <stdarg.h>
#include <stdio.h>

int fail(const char* format, ...)
{
    va_list values;
    va_start(values, format);
    fprintf(stderr, "%s: ", kProgram);
    vfprintf(stderr, format, values);
    fputc('\n', stderr);
    va_end(values);
    return -1;
}
