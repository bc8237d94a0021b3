// SPDX-License-Identifier: Apache-2.0
// The stand-in for string.c in a minimal build.
#include "api/check.h"
#include "tengine/string.h"

int tengine_string_set(tensor_t tensor, const char* const strings[], int number)
{
    (void)tensor;
    (void)strings;
    (void)number;
    fail_not_supported(__func__, "strings are");
    return api_failure();
}

const char* tengine_string_get(tensor_t tensor, int index)
{
    (void)tensor;
    (void)index;
    fail_not_supported(__func__, "strings are");
    return api_pointer(NULL);
}
