// SPDX-License-Identifier: Apache-2.0
// The bounds of the second byte exclude overlong forms, surrogates, and code points beyond
// U+10FFFF.
#include "base/utf8.h"

#include <stdbool.h>

typedef struct byte_range
{
    unsigned char low, high;
} byte_range_t;

// The Unicode Standard, table 3-7.
static const struct
{
    byte_range_t first, second;
    size_t length;
} forms[] = {
    {{0xc2, 0xdf}, {0x80, 0xbf}, 2}, {{0xe0, 0xe0}, {0xa0, 0xbf}, 3},
    {{0xe1, 0xec}, {0x80, 0xbf}, 3}, {{0xed, 0xed}, {0x80, 0x9f}, 3},
    {{0xee, 0xef}, {0x80, 0xbf}, 3}, {{0xf0, 0xf0}, {0x90, 0xbf}, 4},
    {{0xf1, 0xf3}, {0x80, 0xbf}, 4}, {{0xf4, 0xf4}, {0x80, 0x8f}, 4},
};

static bool is_in(char byte, byte_range_t range)
{
    return (unsigned char)byte >= range.low && (unsigned char)byte <= range.high;
}

size_t measure_utf8_character(const char* text, size_t length)
{
    if ((unsigned char)text[0] < 0x80) return 1;
    for (size_t i = 0; i < sizeof forms / sizeof *forms; ++i) {
        if (!is_in(text[0], forms[i].first)) continue;
        if (length < forms[i].length || !is_in(text[1], forms[i].second)) return 0;
        for (size_t k = 2; k < forms[i].length; ++k)
            if (!is_in(text[k], (byte_range_t){0x80, 0xbf})) return 0;
        return forms[i].length;
    }
    return 0;
}
