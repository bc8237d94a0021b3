// SPDX-License-Identifier: Apache-2.0
// Facts about a file that stb_image does not give, or does not check.
#pragma once

#include <stdbool.h>

#include "image/picture.h"

TENGINE_EXTERN_C_BEGIN

// A JPEG by its segments.
typedef struct jpeg_header
{
    int component_num;  // of the first frame; 0: there is none
    bool has_adobe;     // Adobe's marker, which says how the components are coded
    int orientation;    // of EXIF, 1 to 8; 0: none
} jpeg_header_t;

// stb_image writes Huffman tables beyond their end if a JPEG says that they are longer.
// TENGINE_EFORMAT: such tables, or a segment with a length below 2.
TENGINE_MUST_USE int read_jpeg_header(const uint8_t* bytes, size_t size, jpeg_header_t* out_header);

// EXIF's orientation of a PNG, from its chunk eXIf; 0: none.
int read_png_orientation(const uint8_t* bytes, size_t size);

// The largest number of a PGM or PPM, the third of its header; 0: there is none. stb_image lets a
// number overflow. TENGINE_EFORMAT: a number of more than 9 digits.
TENGINE_MUST_USE int read_pnm_header(const uint8_t* bytes, size_t size, int* out_most);

// The orientation in a block of EXIF data, a TIFF file; 0: none.
int read_exif_orientation(const uint8_t* bytes, size_t size);

TENGINE_EXTERN_C_END
