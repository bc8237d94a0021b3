// SPDX-License-Identifier: Apache-2.0
// The type of a file, which needs no decoder. The contract is in decode.h.
#include <string.h>

#include "image/decode.h"

typedef struct file_type
{
    const char* beginning;
    const char* name;
} file_type_t;

static const file_type_t file_types[] = {
    {"\x89PNG\r\n\x1a\n", "PNG"},
    {"\xff\xd8\xff", "JPEG"},
    {"BM", "BMP"},
    {"P5", "PNM"},
    {"P6", "PNM"},
};

const char* find_image_type(const uint8_t* bytes, size_t size)
{
    for (size_t i = 0; i < sizeof file_types / sizeof file_types[0]; ++i) {
        const size_t length = strlen(file_types[i].beginning);
        if (size >= length && memcmp(bytes, file_types[i].beginning, length) == 0)
            return file_types[i].name;
    }
    return NULL;
}
