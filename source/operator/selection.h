// SPDX-License-Identifier: Apache-2.0
// Operators that are left out of this build (TENGINE_OPERATORS), and the messages about them. The
// rows of row.h read the list itself, generated as registry/selection.h.
#pragma once

#include <stdbool.h>

#include "tengine/export.h"

TENGINE_EXTERN_C_BEGIN

// One of Tengine's operators that is left out, and its number in tmfiles.
struct left_out_operator
{
    const char* name;  // full, "tengine.Pooling"
    int file_id;
};

// Generated; an additional row at the end keeps the array legal C.
extern const struct left_out_operator tengine_left_out_operators[];
extern const int tengine_left_out_operator_num;
extern const int tengine_is_selective;

// Generated, in a file of its own that is linked only into programs that use it: the full names of
// all operators that are left out; NULL ends the list.
extern const char* const tengine_left_out_names[];

// Whether operators were selected at all.
bool is_build_selective(void);

// Whether an operator such as "com.microsoft.QGemm" exists, but is left out.
bool is_left_out(const char* full_name);

// Returns the full name of a left out operator by its number in tmfiles; NULL: there is none.
const char* find_left_out_operator(int file_id);

// Sets and returns TENGINE_EOPERATOR: `operator_name` of `node_name` is not part of this build.
int fail_left_out(const char* node_name, const char* operator_name);

TENGINE_EXTERN_C_END
