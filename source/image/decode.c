// SPDX-License-Identifier: Apache-2.0
// stb_image decodes. The checks that it lacks come before, in file_header.h.
#include "image/decode.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "image/file_header.h"

// The memory of the present call. A block that is too large is refused: a few bytes may claim
// gigabytes of compressed data, or expand to them. When a block fails early, stb takes the file for
// one of another type.
typedef struct memory_use
{
    size_t most;     // bytes of a block
    size_t refused;  // the first block that was larger; 0: none
    bool is_short;   // an allocation has failed
} memory_use_t;

static _Thread_local memory_use_t memory_use;

static void begin_memory_use(size_t most)
{
    const memory_use_t none = {most, 0, false};
    memory_use = none;
}

static void* resize_block(void* block, size_t old_size, size_t size)
{
    if (size > memory_use.most) {
        if (memory_use.refused == 0) memory_use.refused = size;
        return NULL;
    }
    void* resized = !block ? alloc_memory(size) : resize_memory(block, old_size, size);
    if (!resized) memory_use.is_short = true;
    return resized;
}

// Static: a program may have an stb_image of its own. Memory is zeroed: a JPEG may use Huffman
// tables that it does not define.
#define STB_IMAGE_IMPLEMENTATION
#define STB_IMAGE_STATIC
#define STBI_FAILURE_USERMSG
#define STBI_ONLY_PNG
#define STBI_ONLY_JPEG
#define STBI_ONLY_BMP
#define STBI_ONLY_PNM
#define STBI_NO_LINEAR
#define STBI_NO_STDIO
#define STBI_MALLOC(size) resize_block(NULL, 0, size)
#define STBI_REALLOC_SIZED(memory, old_size, size) resize_block(memory, old_size, size)
#define STBI_FREE(memory) free_memory(memory)
#include <stb_image.h>

enum
{
    PLAIN_RATIO = 8,       // pixels for each byte of BMP and PNM, which are not compressed
    PACKED_RATIO = 16384,  // at least as many as in PNG and JPEG
    REFILL_BYTES = 128,    // the bytes that stb requests when its own buffer is empty
    STATE_BYTES = 1 << 20  // more than stb's own data, and blocks that do not depend on the picture
};

// A file in memory, as stb reads it.
typedef struct source
{
    const uint8_t* bytes;
    size_t size;
    size_t at;
    bool is_short;  // stb has requested more than there is
} source_t;

// The properties of a file that its header has.
typedef struct image_file
{
    int width;
    int height;
    int channels;
    int orientation;
    int most_number;  // of a PGM or PPM; 0: another type
} image_file_t;

// stb decodes a truncated file as a picture whose rest is black, or uninitialised memory. A buffer
// that is refilled may get less than it has room for. After a header of PNM, however, all pixels
// are one read.
static int read_source(void* user, char* data, int size)
{
    source_t* source = user;
    const size_t left = source->size - source->at;
    const int number = left < (size_t)size ? (int)left : size;
    const bool is_pixels = source->at > 0 && source->bytes[0] == 'P';
    if (number < size && (number == 0 || size != REFILL_BYTES || is_pixels))
        source->is_short = true;
    if (number > 0) memcpy(data, source->bytes + source->at, (size_t)number);
    source->at += (size_t)number;
    return number;
}

static void skip_source(void* user, int number)
{
    source_t* source = user;
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
    const source_t* source = user;
    return source->at == source->size;
}

static const stbi_io_callbacks source_callbacks = {read_source, skip_source, is_source_at_end};

static int fail(const source_t* source)
{
    const char* reason = stbi_failure_reason();
    if (source->is_short)
        return tengine_error_set(TENGINE_EFORMAT, "the file ends before the picture does");
    if (memory_use.refused > 0)
        return tengine_error_set(TENGINE_EFORMAT,
                                 "the picture takes a block of %zu bytes to decode, expected at "
                                 "most %zu",
                                 memory_use.refused, memory_use.most);
    if (memory_use.is_short)
        return tengine_error_set(TENGINE_ENOMEM, "out of memory while decoding the picture");
    return tengine_error_set(TENGINE_EFORMAT, "the picture cannot be decoded: %s",
                             reason ? reason : "unknown reason");
}

static int read_pnm(const uint8_t* bytes, size_t size, image_file_t* out_file)
{
    TENGINE_RETURN_IF_ERROR(read_pnm_header(bytes, size, &out_file->most_number));
    // stb converts the channels of such a file as if they had 8 bits, and reads beyond their end.
    if (out_file->most_number > 255)
        return tengine_error_set(TENGINE_ENOTSUP,
                                 "a PGM or PPM file with numbers up to %d, expected at most 255",
                                 out_file->most_number);
    return TENGINE_OK;
}

static int read_jpeg(const uint8_t* bytes, size_t size, image_file_t* out_file)
{
    jpeg_header_t header;
    TENGINE_RETURN_IF_ERROR(read_jpeg_header(bytes, size, &header));
    out_file->orientation = header.orientation;
    if (header.component_num == 4 && !header.has_adobe)
        return tengine_error_set(TENGINE_ENOTSUP,
                                 "a JPEG file of 4 components without Adobe's marker, which says "
                                 "how they are coded; convert it to RGB");
    return TENGINE_OK;
}

static int read_type(const uint8_t* bytes, size_t size, image_file_t* out_file)
{
    memset(out_file, 0, sizeof *out_file);
    // stb also accepts others, such as a JPEG after further bytes 0xff.
    const char* type = find_image_type(bytes, size);
    if (!type)
        return tengine_error_set(TENGINE_EFORMAT,
                                 "unknown picture format: expected PNG, JPEG, BMP, PGM or PPM");
    if (type[0] == 'J') return read_jpeg(bytes, size, out_file);
    if (strcmp(type, "PNM") == 0) return read_pnm(bytes, size, out_file);
    if (strcmp(type, "PNG") == 0) out_file->orientation = read_png_orientation(bytes, size);
    return TENGINE_OK;
}

static int check_size(const image_file_t* file, const uint8_t* bytes, size_t size,
                      int64_t most_pixels)
{
    if (file->height < 1 || file->width < 1)
        return tengine_error_set(TENGINE_EFORMAT, "the picture has no pixels");
    const int64_t pixels = (int64_t)file->height * file->width;
    if (pixels > most_pixels)
        return tengine_error_set(TENGINE_ELIMIT,
                                 "the picture has %d x %d pixels, expected at most %lld",
                                 file->width, file->height, (long long)most_pixels);
    // A few bytes must not claim much memory and time.
    const bool is_plain = bytes[0] == 'B' || bytes[0] == 'P';
    if ((uint64_t)pixels / (is_plain ? PLAIN_RATIO : PACKED_RATIO) > size)
        return tengine_error_set(TENGINE_EFORMAT,
                                 "the picture has %d x %d pixels, which its file of %zu bytes "
                                 "cannot hold",
                                 file->width, file->height, size);
    return TENGINE_OK;
}

static int read_header(const uint8_t* bytes, size_t size, int64_t most_pixels,
                       image_file_t* out_file)
{
    source_t source = {bytes, size, 0, false};
    int stored;
    TENGINE_RETURN_IF_ERROR(read_type(bytes, size, out_file));
    begin_memory_use(STATE_BYTES);
    if (!stbi_info_from_callbacks(&source_callbacks, &source, &out_file->width, &out_file->height,
                                  &stored))
        return fail(&source);
    // A BMP with rows from top to bottom has a negative height.
    if (out_file->height < 0 && out_file->height >= -MOST_IMAGE_PIXELS)
        out_file->height = -out_file->height;
    out_file->channels = stored < 3 ? 1 : 3;  // without alpha
    return check_size(out_file, bytes, size, most_pixels);
}

int read_image_size(const uint8_t* bytes, size_t size, int* out_width, int* out_height)
{
    image_file_t file;
    TENGINE_RETURN_IF_ERROR(read_header(bytes, size, MOST_IMAGE_PIXELS, &file));
    *out_width = file.width;
    *out_height = file.height;
    return TENGINE_OK;
}

// Extends numbers up to `most` to 255, rounded as Pillow does.
static void extend_numbers(uint8_t* pixels, size_t number, int most)
{
    uint8_t table[256];
    for (int i = 0; i < 256; ++i)
        table[i] = (uint8_t)fmin(nearbyint((double)i / most * 255), 255);
    for (size_t i = 0; i < number; ++i)
        pixels[i] = table[pixels[i]];
}

// Keeps the first bytes of each pixel.
static void pack(uint8_t* bytes, size_t number, size_t stored, size_t kept)
{
    for (size_t i = 0; i < number; ++i)
        for (size_t c = 0; c < kept; ++c)
            bytes[i * kept + c] = bytes[i * stored + c];
}

// Decodes 16 bits, and leaves the high bytes. stb's own conversion loses its block when it is out
// of memory.
static uint8_t* load_wide(source_t* source, image_file_t* file, int* out_stored)
{
    stbi_us* wide = stbi_load_16_from_callbacks(&source_callbacks, source, &file->width,
                                                &file->height, out_stored, 0);
    if (!wide) return NULL;
    uint8_t* bytes = (uint8_t*)wide;
    const size_t number = (size_t)file->width * (size_t)file->height * (size_t)*out_stored;
    for (size_t i = 0; i < number; ++i)
        bytes[i] = (uint8_t)(wide[i] >> 8);
    return bytes;
}

// Width and height become those of the pixels. Alpha is dropped here: conversions of stb would take
// a second block and 3 kB of code.
static uint8_t* load(source_t* source, image_file_t* file)
{
    int stored;
    source_t header = *source;
    const bool is_wide = stbi_is_16_bit_from_callbacks(&source_callbacks, &header);
    uint8_t* bytes = is_wide ? load_wide(source, file, &stored)
                             : stbi_load_from_callbacks(&source_callbacks, source, &file->width,
                                                        &file->height, &stored, 0);
    if (bytes && stored != file->channels)
        pack(bytes, (size_t)file->width * (size_t)file->height, (size_t)stored,
             (size_t)file->channels);
    return bytes;
}

// The largest block: four channels of 16 bits with a byte for each row, or the compressed data;
// both grow by doubling.
static size_t find_most_memory(const image_file_t* file, size_t size)
{
    const uint64_t pixels = (uint64_t)file->width * (uint64_t)file->height;
    const uint64_t most = STATE_BYTES + 2 * 9 * pixels + 2 * (uint64_t)size;
    return most < SIZE_MAX ? (size_t)most : SIZE_MAX;
}

int decode_image(const uint8_t* bytes, size_t size, int64_t most_pixels,
                 struct tengine_image* out_image)
{
    source_t source = {bytes, size, 0, false};
    image_file_t file;
    TENGINE_RETURN_IF_ERROR(read_header(bytes, size, most_pixels, &file));
    begin_memory_use(find_most_memory(&file, size));
    uint8_t* pixels = load(&source, &file);
    if (!pixels || source.is_short) {
        const int status = fail(&source);
        stbi_image_free(pixels);
        return status;
    }
    if (file.most_number > 0 && file.most_number < 255)
        extend_numbers(pixels, (size_t)file.width * (size_t)file.height * (size_t)file.channels,
                       file.most_number);
    const int format = file.channels == 1 ? TENGINE_IMAGE_GREY : TENGINE_IMAGE_RGB;
    const struct tengine_image made = {pixels, file.width,       file.height,
                                       format, file.orientation, 0};
    *out_image = made;
    return TENGINE_OK;
}
