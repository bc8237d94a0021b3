// SPDX-License-Identifier: Apache-2.0
#include "base/visible_text.h"

enum
{
    FIRST_VISIBLE = 0x20,
    DELETE = 0x7f,
    // The first byte, in UTF-8, of the control characters U+0080 to U+009F.
    EIGHT_BITS = 0xc2,
    LAST_OF_EIGHT_BITS = 0x9f
};

void make_text_visible(char* text)
{
    for (; *text; ++text) {
        const unsigned char byte = (unsigned char)text[0], next = (unsigned char)text[1];
        if (byte == EIGHT_BITS && next >= 0x80 && next <= LAST_OF_EIGHT_BITS)
            text[0] = text[1] = '?';
        else if ((byte < FIRST_VISIBLE && byte != '\n' && byte != '\t') || byte == DELETE)
            text[0] = '?';
    }
}
