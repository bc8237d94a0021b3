// SPDX-License-Identifier: Apache-2.0
// A string that grows, for dumps and long messages.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "tengine/export.h"

TENGINE_EXTERN_C_BEGIN

// A text starts as all zero bytes: `text_t text = {0};`. `data` is NULL until something was
// appended and a NUL-terminated string of `length` characters from then on.
typedef struct text
{
    char* data;
    size_t length;
    size_t capacity;
    bool failed;  // out of memory: an append was dropped, and so are all later ones
} text_t;

// Appends formatted text. The arguments must not point into the text itself.
void append_text(text_t* text, const char* format, ...) TENGINE_PRINTF(2, 3);

// Frees the string and makes the text empty again.
void free_text(text_t* text);

TENGINE_EXTERN_C_END
