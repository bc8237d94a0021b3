// SPDX-License-Identifier: Apache-2.0
// The contract is in file_header.h.
#include "image/file_header.h"

#include <string.h>

enum
{
    PNG_SIGNATURE_BYTES = 8,
    PNG_CHUNK_BYTES = 12,  // length, type and checksum
    EXIF_ENTRY_BYTES = 12,
    EXIF_ORIENTATION = 0x0112,
    EXIF_SHORT = 3
};

static unsigned big16(const uint8_t* at)
{
    return (unsigned)at[0] << 8 | at[1];
}

static uint32_t big32(const uint8_t* at)
{
    return (uint32_t)big16(at) << 16 | big16(at + 2);
}

// ---- EXIF ----

// A TIFF file in its order of bytes.
typedef struct tiff
{
    const uint8_t* bytes;
    size_t size;
    bool is_little;
} tiff_t;

static unsigned tiff16(const tiff_t* tiff, size_t at)
{
    const uint8_t* bytes = tiff->bytes + at;
    return tiff->is_little ? (unsigned)bytes[1] << 8 | bytes[0] : big16(bytes);
}

static uint32_t tiff32(const tiff_t* tiff, size_t at)
{
    const uint32_t first = tiff16(tiff, at), second = tiff16(tiff, at + 2);
    return tiff->is_little ? second << 16 | first : first << 16 | second;
}

int read_exif_orientation(const uint8_t* bytes, size_t size)
{
    if (size < 8) return 0;
    const tiff_t tiff = {bytes, size, memcmp(bytes, "II", 2) == 0};
    if ((!tiff.is_little && memcmp(bytes, "MM", 2) != 0) || tiff16(&tiff, 2) != 42) return 0;
    const size_t list = tiff32(&tiff, 4);
    if (list > size - 2) return 0;
    const size_t room = (size - list - 2) / EXIF_ENTRY_BYTES;
    const size_t stated = tiff16(&tiff, list);
    for (size_t i = 0; i < stated && i < room; ++i) {
        const size_t entry = list + 2 + i * EXIF_ENTRY_BYTES;
        if (tiff16(&tiff, entry) != EXIF_ORIENTATION) continue;
        const unsigned value = tiff16(&tiff, entry + 8);
        const bool is_one = tiff16(&tiff, entry + 2) == EXIF_SHORT && tiff32(&tiff, entry + 4) == 1;
        return is_one && value >= 1 && value <= 8 ? (int)value : 0;
    }
    return 0;
}

// ---- JPEG ----

// Whether the Huffman tables of a DHT segment have at most 256 symbols each, all in the file.
static bool are_tables_good(const uint8_t* bytes, size_t left, long length)
{
    while (length > 0) {
        long symbols = 0;
        if (left < 17) return false;
        for (int i = 1; i <= 16; ++i)
            symbols += bytes[i];
        const size_t used = (size_t)(17 + symbols);
        if (symbols > 256 || left < used) return false;
        bytes += used;
        left -= used;
        length -= (long)used;
    }
    return true;
}

// `size` bytes follow the length of a segment.
static void read_segment(int marker, const uint8_t* bytes, size_t size, jpeg_header_t* header)
{
    const bool is_frame = marker >= 0xc0 && marker <= 0xc2;
    if (is_frame && size >= 6 && header->component_num == 0) header->component_num = bytes[5];
    if (marker == 0xee && size >= 5 && memcmp(bytes, "Adobe", 5) == 0) header->has_adobe = true;
    if (marker == 0xe1 && size >= 6 && memcmp(bytes, "Exif\0\0", 6) == 0 &&
        header->orientation == 0)
        header->orientation = read_exif_orientation(bytes + 6, size - 6);
}

// Segments are a marker, 0xff and a byte, and a length; between them is coded data, in which 0 or a
// restart marker follows each 0xff.
int read_jpeg_header(const uint8_t* bytes, size_t size, jpeg_header_t* out_header)
{
    memset(out_header, 0, sizeof *out_header);
    for (size_t at = 2; at < size && size - at >= 4;) {
        const int marker = bytes[at + 1];
        const bool is_coded = bytes[at] != 0xff || marker == 0xff;
        const bool is_alone = marker <= 1 || (marker >= 0xd0 && marker <= 0xd9);
        if (is_coded || is_alone) {
            at += is_coded ? 1 : 2;
            continue;
        }
        const size_t length = big16(bytes + at + 2), left = size - at - 2;
        if (length < 2 ||
            (marker == 0xc4 && !are_tables_good(bytes + at + 4, left - 2, (long)length - 2)))
            return tengine_error_set(TENGINE_EFORMAT, "a damaged JPEG file");
        if (length > left) return TENGINE_OK;
        read_segment(marker, bytes + at + 4, length - 2, out_header);
        at += 2 + length;
    }
    return TENGINE_OK;
}

// ---- PNG, PGM and PPM ----

int read_png_orientation(const uint8_t* bytes, size_t size)
{
    for (size_t at = PNG_SIGNATURE_BYTES; at < size && size - at >= PNG_CHUNK_BYTES;) {
        const size_t length = big32(bytes + at);
        if (length > size - at - PNG_CHUNK_BYTES) return 0;
        if (memcmp(bytes + at + 4, "eXIf", 4) == 0)
            return read_exif_orientation(bytes + at + 8, length);
        at += PNG_CHUNK_BYTES + length;
    }
    return 0;
}

static bool is_space(int letter)
{
    return letter == ' ' || (letter >= '\t' && letter <= '\r');
}

int read_pnm_header(const uint8_t* bytes, size_t size, int* out_most)
{
    size_t at = 2;
    for (int numbers = 0; numbers < 3; ++numbers) {
        int digit_num = 0, value = 0;
        while (at < size && (bytes[at] == '#' || is_space(bytes[at]))) {
            const bool is_comment = bytes[at++] == '#';
            while (is_comment && at < size && bytes[at] != '\n' && bytes[at] != '\r')
                ++at;
        }
        for (; at < size && bytes[at] >= '0' && bytes[at] <= '9'; ++at) {
            if (++digit_num > 9)
                return tengine_error_set(TENGINE_EFORMAT,
                                         "a PGM or PPM file with a number of more than 9 digits");
            value = value * 10 + (bytes[at] - '0');
        }
        *out_most = value;
    }
    return TENGINE_OK;
}
