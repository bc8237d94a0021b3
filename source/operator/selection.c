// SPDX-License-Identifier: Apache-2.0
#include "operator/selection.h"

#include <stddef.h>
#include <string.h>

#include "tengine/error.h"

bool is_build_selective(void)
{
    return tengine_is_selective != 0;
}

bool is_left_out(const char* full_name)
{
    const char* const* name = tengine_left_out_names;
    while (*name && strcmp(*name, full_name) != 0)
        ++name;
    return *name != NULL;
}

const char* find_left_out_operator(int file_id)
{
    for (int i = 0; i < tengine_left_out_operator_num; ++i)
        if (tengine_left_out_operators[i].file_id == file_id)
            return tengine_left_out_operators[i].name;
    return NULL;
}

int fail_left_out(const char* node_name, const char* operator_name)
{
    return tengine_error_set(
        TENGINE_EOPERATOR,
        "operator '%s' of node '%s' is not part of this build (CMake option TENGINE_OPERATORS)",
        operator_name, node_name);
}
