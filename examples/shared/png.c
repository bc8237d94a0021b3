// SPDX-License-Identifier: Apache-2.0
// Writes a picture as a PNG file (ISO/IEC 15948), whose stream of zlib has stored blocks only: one
// for each row.
#include "png.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "message.h"

enum
{
    kMostRowBytes = 65535  // of a stored block
};

// The remainders of the CRC for four bits.
static const uint32_t kFourBits[16] = {
    0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190, 0x6b6b51f4, 0x4db26158, 0x5005713c,
    0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c, 0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c};

struct writer
{
    FILE* file;
    uint32_t crc;    // of the chunk
    uint32_t adler;  // of the rows, as zlib's stream ends with it
};

static void write_raw(struct writer* writer, const void* bytes, size_t size)
{
    const unsigned char* byte = bytes;
    for (size_t i = 0; i < size; ++i) {
        writer->crc ^= byte[i];
        writer->crc = kFourBits[writer->crc & 15] ^ writer->crc >> 4;
        writer->crc = kFourBits[writer->crc & 15] ^ writer->crc >> 4;
    }
    fwrite(bytes, 1, size, writer->file);
}

static void write_number(struct writer* writer, uint32_t number)
{
    const unsigned char bytes[] = {(unsigned char)(number >> 24), (unsigned char)(number >> 16),
                                   (unsigned char)(number >> 8), (unsigned char)number};
    write_raw(writer, bytes, sizeof bytes);
}

static void begin_chunk(struct writer* writer, const char* type, uint32_t size)
{
    write_number(writer, size);
    writer->crc = UINT32_C(0xffffffff);
    write_raw(writer, type, 4);
}

static void end_chunk(struct writer* writer)
{
    write_number(writer, ~writer->crc);
}

static void write_row_bytes(struct writer* writer, const unsigned char* bytes, size_t size)
{
    uint32_t low = writer->adler & 0xffff;
    uint32_t high = writer->adler >> 16;
    for (size_t i = 0; i < size; ++i) {
        low = (low + bytes[i]) % 65521;
        high = (high + low) % 65521;
    }
    writer->adler = high << 16 | low;
    write_raw(writer, bytes, size);
}

static void write_header(struct writer* writer, const struct picture* picture)
{
    static const unsigned char kSignature[] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
    static const unsigned char kKind[] = {8, 2, 0, 0, 0};  // bits, RGB, the only methods
    write_raw(writer, kSignature, sizeof kSignature);
    begin_chunk(writer, "IHDR", 13);
    write_number(writer, (uint32_t)picture->width);
    write_number(writer, (uint32_t)picture->height);
    write_raw(writer, kKind, sizeof kKind);
    end_chunk(writer);
}

static void write_rows(struct writer* writer, const struct picture* picture)
{
    static const unsigned char kNoFilter = 0;
    const size_t pixel_bytes = (size_t)picture->width * 3;
    const size_t size = pixel_bytes + 1;
    // Each row has the five bytes of a block; the stream has two bytes before and four behind.
    const uint32_t stream_size = (uint32_t)(2 + (5 + size) * (size_t)picture->height + 4);
    begin_chunk(writer, "IDAT", stream_size);
    write_raw(writer, "\x78\x01", 2);
    writer->adler = 1;
    for (int y = 0; y < picture->height; ++y) {
        const unsigned char block[] = {y + 1 == picture->height, (unsigned char)size,
                                       (unsigned char)(size >> 8), (unsigned char)~size,
                                       (unsigned char)(~size >> 8)};
        write_raw(writer, block, sizeof block);
        write_row_bytes(writer, &kNoFilter, 1);
        write_row_bytes(writer, picture->pixels + (size_t)y * pixel_bytes, pixel_bytes);
    }
    write_number(writer, writer->adler);
    end_chunk(writer);
}

int png_write(const char* path, const struct picture* picture)
{
    if (picture->width * 3 + 1 > kMostRowBytes)
        return fail("%s: %d pixels in a row, expected at most %d", path, picture->width,
                    (kMostRowBytes - 1) / 3);
    struct writer writer = {fopen(path, "wb"), 0, 0};
    if (!writer.file) return fail("%s: cannot write: %s", path, strerror(errno));
    write_header(&writer, picture);
    write_rows(&writer, picture);
    begin_chunk(&writer, "IEND", 0);
    end_chunk(&writer);
    const int is_bad = ferror(writer.file);
    if (fclose(writer.file) != 0 || is_bad)
        return fail("%s: cannot write: %s", path, strerror(errno));
    return 0;
}
