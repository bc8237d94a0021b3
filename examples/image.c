// SPDX-License-Identifier: Apache-2.0
// Image files as network input: stb_image decodes, this file does the rest.
#include "image.h"

#include <ctype.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "resize.h"

#define STB_IMAGE_IMPLEMENTATION
#define STBI_FAILURE_USERMSG
#define STBI_ONLY_PNG
#define STBI_ONLY_JPEG
#define STBI_ONLY_BMP
#define STBI_ONLY_PNM
#define STBI_NO_LINEAR
// Zeroed: a JPEG may use Huffman tables that it does not define.
#define STBI_MALLOC(size) calloc(1, size)
#define STBI_REALLOC(memory, size) realloc(memory, size)
#define STBI_FREE(memory) free(memory)
#include <stb_image.h>

enum
{
    MOST_PIXELS = 1 << 28,
    MOST_BYTES = 1 << 28,
    PLAIN_RATIO = 8,       // pixels for each byte of BMP and PNM, which are not compressed
    PACKED_RATIO = 16384,  // at least as many as in PNG and JPEG
    REFILL_BYTES = 128     // the bytes that stb requests when its own buffer is empty
};

// A file in memory, as stb reads it.
struct source
{
    const unsigned char* bytes;
    size_t size;
    size_t at;
    int is_short;  // stb has requested more than there is
};

enum
{
    LETTERBOX_GREY = 114  // as in YOLO's preprocessing
};

static const char no_memory[] = "out of memory while resizing the picture";

// Returns the middle of a picture with the proportions of the network's input.
static struct picture_box find_middle(const struct picture* from, int height, int width)
{
    const double wanted = (double)width / height;
    const double present = (double)from->width / from->height;
    const double part_width = present >= wanted ? wanted * from->height : from->width;
    const double part_height = present >= wanted ? from->height : from->width / wanted;
    const double left = (from->width - part_width) * 0.5;
    const double top = (from->height - part_height) * 0.5;
    const struct picture_box box = {(float)left, (float)top, (float)(left + part_width),
                                    (float)(top + part_height)};
    return box;
}

static struct picture_box find_whole(const struct picture* from)
{
    const struct picture_box box = {0, 0, (float)from->width, (float)from->height};
    return box;
}

// Computes the size of a whole picture inside height x width, rounded as Python does.
static void find_inside(const struct picture* from, int* height, int* width)
{
    const double present = (double)from->width / from->height;
    const double wanted = (double)*width / *height;
    if (present > wanted)
        *height = (int)nearbyint((double)from->height / from->width * *width);
    else if (present < wanted)
        *width = (int)nearbyint((double)from->width / from->height * *height);
    if (*height < 1) *height = 1;
    if (*width < 1) *width = 1;
}

static int letterbox(const struct picture* from, struct picture* to)
{
    int height = to->height, width = to->width;
    find_inside(from, &height, &width);
    const size_t pixel = (size_t)from->channels, row = (size_t)width * pixel;
    unsigned char* inside = malloc((size_t)height * row);
    const struct picture_box whole = find_whole(from);
    if (!inside || picture_resize(from, &whole, height, width, inside) < 0) {
        free(inside);
        return -1;
    }
    const size_t top = (size_t)nearbyint((to->height - height) * 0.5);
    const size_t left = (size_t)nearbyint((to->width - width) * 0.5);
    memset(to->bytes, LETTERBOX_GREY, (size_t)to->height * (size_t)to->width * pixel);
    for (size_t y = 0; y < (size_t)height; ++y)
        memcpy(to->bytes + ((top + y) * (size_t)to->width + left) * pixel, inside + y * row, row);
    free(inside);
    return 0;
}

static int fit_picture(const struct picture* from, enum image_fit fit, struct picture* to)
{
    if (fit == IMAGE_LETTERBOX) return letterbox(from, to);
    const struct picture_box box =
        fit == IMAGE_CROP ? find_middle(from, to->height, to->width) : find_whole(from);
    return picture_resize(from, &box, to->height, to->width, to->bytes);
}

static void write_values(const struct picture* image, const struct image_values* values,
                         float* out_planes)
{
    const int channels = image->channels;
    const size_t pixels = (size_t)image->height * (size_t)image->width;
    for (int c = 0; c < channels; ++c) {
        const int place = values->is_bgr ? channels - 1 - c : c;
        const size_t step = values->channels_last ? (size_t)channels : 1;
        float* out = out_planes + (values->channels_last ? (size_t)place : (size_t)place * pixels);
        for (size_t i = 0; i < pixels; ++i)
            out[i * step] =
                ((float)image->bytes[i * (size_t)channels + (size_t)c] - values->mean[c]) *
                values->scale[c];
    }
}

static const char* make_values(const struct picture* image, int height, int width,
                               const struct image_values* values, float* out_planes)
{
    struct picture fitted = {NULL, image->channels, height, width};
    fitted.bytes = malloc((size_t)height * (size_t)width * (size_t)image->channels);
    const int status = fitted.bytes ? fit_picture(image, values->fit, &fitted) : -1;
    if (status == 0) write_values(&fitted, values, out_planes);
    free(fitted.bytes);
    return status == 0 ? NULL : no_memory;
}

// stb decodes a truncated file as a picture whose rest is black, or uninitialised memory. A buffer
// that is refilled may get less than it has room for. After a header of PNM, however, all pixels
// are one read.
static int read_source(void* user, char* data, int size)
{
    struct source* source = user;
    const size_t left = source->size - source->at;
    const int number = left < (size_t)size ? (int)left : size;
    const int is_pixels = source->at > 0 && source->bytes[0] == 'P';
    if (number < size && (number == 0 || size != REFILL_BYTES || is_pixels)) source->is_short = 1;
    if (number > 0) memcpy(data, source->bytes + source->at, (size_t)number);
    source->at += (size_t)number;
    return number;
}

static void skip_source(void* user, int number)
{
    struct source* source = user;
    const size_t left = source->size - source->at;
    if (number < 0 && source->at < (size_t)-number)
        source->at = 0;
    else if (number > 0 && left < (size_t)number)
        source->at = source->size;
    else
        source->at += (size_t)number;
}

static int is_source_at_end(void* user)
{
    const struct source* source = user;
    return source->at == source->size;
}

static const stbi_io_callbacks source_callbacks = {read_source, skip_source, is_source_at_end};

int image_is_known(const void* bytes, size_t size)
{
    static const char* const beginnings[] = {"\x89PNG\r\n\x1a\n", "\xff\xd8\xff", "BM", "P5", "P6"};
    for (size_t i = 0; i < sizeof beginnings / sizeof beginnings[0]; ++i) {
        const size_t length = strlen(beginnings[i]);
        if (size >= length && memcmp(bytes, beginnings[i], length) == 0) return 1;
    }
    return 0;
}

// Whether the Huffman tables of a DHT segment at `at` have at most 256 symbols each.
static int are_tables_good(const unsigned char* bytes, size_t size, size_t at, long length)
{
    while (length > 0) {
        long symbols = 0;
        if (size - at < 17) return 0;
        for (int i = 1; i <= 16; ++i)
            symbols += bytes[at + i];
        if (symbols > 256 || size - at < (size_t)(17 + symbols)) return 0;
        at += (size_t)(17 + symbols);
        length -= 17 + symbols;
    }
    return 1;
}

// stb writes such tables beyond their end if a JPEG says that they are longer, so that they are
// checked before. Segments are a marker, 0xff and a byte, and a length; between them is coded data,
// in which 0 or a restart marker follows each 0xff.
static int is_jpeg_safe(const unsigned char* bytes, size_t size)
{
    for (size_t at = 2; size - at >= 4;) {
        const int marker = bytes[at + 1];
        const int is_coded = bytes[at] != 0xff || marker == 0xff;
        const int is_alone = marker <= 1 || (marker >= 0xd0 && marker <= 0xd9);
        if (is_coded || is_alone) {
            at += is_coded ? 1 : 2;
            continue;
        }
        const size_t length = (size_t)bytes[at + 2] << 8 | bytes[at + 3];
        if (length < 2) return 0;
        if (marker == 0xc4 && !are_tables_good(bytes, size, at + 4, (long)length - 2)) return 0;
        if (length > size - at - 2) return 1;
        at += 2 + length;
    }
    return 1;
}

// stb lets a number in the header of a PGM or PPM overflow, so that its length is checked before.
static int is_pnm_safe(const unsigned char* bytes, size_t size)
{
    size_t at = 2;
    for (int numbers = 0; numbers < 3; ++numbers) {
        int digits = 0;
        while (at < size && (bytes[at] == '#' || isspace(bytes[at]))) {
            const int is_comment = bytes[at++] == '#';
            while (is_comment && at < size && bytes[at] != '\n' && bytes[at] != '\r')
                ++at;
        }
        for (; at < size && bytes[at] >= '0' && bytes[at] <= '9'; ++at)
            if (++digits > 9) return 0;
    }
    return 1;
}

static const char cut_short[] = "the file ends before the picture does";

static const char* describe_failure(const struct source* source)
{
    return source->is_short ? cut_short : stbi_failure_reason();
}

const char* image_size(const void* bytes, size_t size, int* out_height, int* out_width)
{
    struct source source = {bytes, size, 0, 0};
    int channels;
    // stb also accepts others, such as a JPEG after further bytes 0xff.
    if (!image_is_known(bytes, size))
        return "unknown picture format: expected PNG, JPEG, BMP, PGM or PPM";
    if (source.bytes[0] == 0xff && !is_jpeg_safe(bytes, size)) return "a damaged JPEG file";
    if (source.bytes[0] == 'P' && !is_pnm_safe(bytes, size))
        return "a PGM or PPM file with a number of more than 9 digits";
    if (!stbi_info_from_callbacks(&source_callbacks, &source, out_width, out_height, &channels))
        return describe_failure(&source);
    // A BMP with rows from top to bottom has a negative height.
    if (*out_height < 0 && *out_height >= -MOST_PIXELS) *out_height = -*out_height;
    if (*out_height < 1 || *out_width < 1) return "the picture has no pixels";
    if (*out_height > MOST_PIXELS / *out_width) return "the picture has more than 2^28 pixels";
    // A few bytes must not claim much memory and time.
    const int is_plain = source.bytes[0] == 'B' || source.bytes[0] == 'P';
    const size_t pixels = (size_t)*out_height * (size_t)*out_width;
    return pixels / (is_plain ? PLAIN_RATIO : PACKED_RATIO) > size
               ? "the picture has more pixels than its file can hold"
               : NULL;
}

const char* image_decode(const void* bytes, size_t size, int channels, int height, int width,
                         const struct image_values* values, float* out_planes)
{
    struct picture image;
    const char* reason = image_size(bytes, size, &image.height, &image.width);
    if (reason) return reason;
    struct source source = {bytes, size, 0, 0};
    // stb converts the channels of such a file as if they had 8 bits, and reads beyond their end.
    if (source.bytes[0] == 'P' && stbi_is_16_bit_from_callbacks(&source_callbacks, &source))
        return "PGM and PPM files are read with numbers up to 255";
    source.at = 0;
    source.is_short = 0;
    int channels_in_file;
    unsigned char* decoded = stbi_load_from_callbacks(&source_callbacks, &source, &image.width,
                                                      &image.height, &channels_in_file, channels);
    if (!decoded || source.is_short) {
        stbi_image_free(decoded);
        return describe_failure(&source);
    }
    image.bytes = decoded;
    image.channels = channels;
    reason = make_values(&image, height, width, values, out_planes);
    stbi_image_free(decoded);
    return reason;
}

static void* read_file(const char* path, size_t* out_size)
{
    FILE* file = fopen(path, "rb");
    if (!file) return NULL;
    void* bytes = NULL;
    const long size = fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
    if (size > 0 && size <= MOST_BYTES && fseek(file, 0, SEEK_SET) == 0)
        bytes = malloc((size_t)size);
    if (bytes && fread(bytes, 1, (size_t)size, file) != (size_t)size) {
        free(bytes);
        bytes = NULL;
    }
    fclose(file);
    *out_size = (size_t)size;
    return bytes;
}

const char* image_load(const char* path, int channels, int height, int width,
                       const struct image_values* values, float* out_planes)
{
    size_t size;
    void* bytes = read_file(path, &size);
    if (!bytes) return "the file cannot be read";
    const char* reason = image_decode(bytes, size, channels, height, width, values, out_planes);
    free(bytes);
    return reason;
}
