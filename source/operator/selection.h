// SPDX-License-Identifier: Apache-2.0
// Operators that this build does without (TENGINE_OPERATORS), and the messages about them. The rows
// of row.h see the list itself, generated as registry/selection.h.
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

// Generated; a closing row keeps the array legal C.
extern const struct left_out_operator tengine_left_out_operators[];
extern const int tengine_left_out_operator_num;
extern const int tengine_is_selective;

// Generated, in a file of its own, which programs that do not ask are linked without: the full
// names of all that are left out; NULL closes the list.
extern const char* const tengine_left_out_names[];

// Whether operators were selected at all.
bool is_build_selective(void);

// Whether an operator exists, "com.microsoft.QGemm", but is left out.
bool is_left_out(const char* full_name);

// The full name of a left out operator by its number in tmfiles; NULL: there is none.
const char* find_left_out_operator(int file_id);

// Sets TENGINE_EOPERATOR: `operator_name` of `node_name` is not part of this build. Returns it.
int fail_left_out(const char* node_name, const char* operator_name);

TENGINE_EXTERN_C_END
