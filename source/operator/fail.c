// SPDX-License-Identifier: Apache-2.0
#include "operator/fail.h"

#include <stdarg.h>
#include <stdio.h>

int fail_node(const struct node* node, int code, const char* format, ...)
{
    char sentence[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof(sentence), format, arguments);
    va_end(arguments);
    return tengine_error_set(code, "%s '%s': %s", node->op.method->name, node->name, sentence);
}
