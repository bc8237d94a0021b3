// SPDX-License-Identifier: Apache-2.0
// A string that grows. The contract is in text.h.
#include "base/text.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/alloc.h"

enum
{
    FIRST_CAPACITY = 256
};

// Makes room for `added` more characters and the NUL; at least doubles, so that appending is
// amortised linear.
static bool reserve(text_t* text, size_t added)
{
    size_t needed;
    if (!checked_add(text->length, added, &needed) || !checked_add(needed, 1, &needed)) {
        return false;
    }
    if (needed <= text->capacity) return true;
    size_t capacity = FIRST_CAPACITY;
    if (text->capacity > 0 && !checked_multiply(text->capacity, 2, &capacity)) return false;
    if (capacity < needed) capacity = needed;
    char* data = resize_memory(text->data, text->capacity, capacity);
    if (!data) return false;
    text->data = data;
    text->capacity = capacity;
    return true;
}

void append_text(text_t* text, const char* format, ...)
{
    if (text->failed) return;
    va_list arguments;
    va_start(arguments, format);
    va_list again;
    va_copy(again, arguments);
    const int added = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    if (added < 0 || !reserve(text, (size_t)added)) {
        text->failed = true;
    } else {
        vsnprintf(text->data + text->length, (size_t)added + 1, format, again);
        text->length += (size_t)added;
    }
    va_end(again);
}

void free_text(text_t* text)
{
    free_memory(text->data);
    *text = (text_t){0};
}
