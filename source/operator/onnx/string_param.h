// SPDX-License-Identifier: Apache-2.0
// Parameters of the operators in string_ops.c.
#pragma once

#include "operator/operator.h"

struct string_split_param
{
    char* delimiter;  // NULL or "": runs of white space
    int maxsplit;     // SPLIT_ALL: at every delimiter
};

#define SPLIT_ALL (-1)

struct string_normalizer_param
{
    char* case_change_action;  // NONE, LOWER, UPPER
    int is_case_sensitive;     // for the comparison with stop words
    char* locale;
    struct op_strings stopwords;
};

// Two lists of equal length: from strings to numbers and back.
struct category_mapper_param
{
    struct op_ints cats_int64s;
    struct op_strings cats_strings;
    int default_int64;
    char* default_string;
};
