// SPDX-License-Identifier: Apache-2.0
// Pictures as input of a network: decodes a file, resizes, crops, normalises, and writes the values
// into an input tensor or a buffer, with the bytes of Pillow's bilinear filter. docs/pictures.md
// explains the settings. The rules of c_api.h for results, errors and ownership hold here. All
// functions but those with a tensor may be called from any thread at any time, before init_tengine,
// too.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "tengine/c_api.h"

TENGINE_EXTERN_C_BEGIN

// ---- Pictures ----

// The bytes of a pixel, in the order in memory. Alpha is ignored, as Pillow's convert("RGB") does.
enum tengine_image_format
{
    TENGINE_IMAGE_GREY = 1,
    TENGINE_IMAGE_RGB,
    TENGINE_IMAGE_BGR,
    TENGINE_IMAGE_RGBA,
    TENGINE_IMAGE_BGRA
};

// A picture in memory: decoded, or the program's own, such as a frame of a camera. Rows are from
// the top, pixels from the left.
struct tengine_image
{
    const unsigned char* pixels;
    int width;         // pixels; width x height is at most 2^28
    int height;        // pixels
    int format;        // TENGINE_IMAGE_*
    int orientation;   // of EXIF, 1 to 8; 0 or 1: upright. See tengine_image_settings.orientation
    size_t row_bytes;  // from one row to the next; 0: rows follow each other without gaps
};

// The type of a picture's file by its first bytes: "PNG", "JPEG", "BMP" or "PNM" (PGM and PPM). The
// string is constant. Answers NULL for anything else.
TENGINE_API const char* tengine_image_get_type(const void* bytes, size_t size);

// Reads width and height, in pixels, from the header of a file in memory. Fails as
// tengine_image_decode.
TENGINE_API int tengine_image_get_size(const void* bytes, size_t size, int* out_width,
                                       int* out_height);

// Decodes a PNG, JPEG, BMP, PGM or PPM file of `size` bytes. The result is grey if the file is, or
// else RGB; tengine_image_free frees it. `most_pixels` limits width x height, before memory is
// taken; 0: 2^28. A picture takes up to 8 bytes a pixel, as the file has them, and decoding up to
// 26 and twice the file.
//
// The high byte is taken where a channel has 16 bits. Palettes are resolved, alpha is dropped, CMYK
// becomes RGB. The pixels are as stored; EXIF's orientation of a JPEG or PNG is in
// out_image->orientation.
//
// Fails with TENGINE_EINVAL (NULL, most_pixels below 0), TENGINE_EFORMAT (another kind of file,
// damaged, cut short, without pixels, with more of them than such a file can hold, with data that
// expand to more than the pixels), TENGINE_ELIMIT (more than most_pixels), TENGINE_ENOTSUP (PGM and
// PPM with numbers above 255, CMYK without Adobe's marker; a build without TENGINE_WITH_STB),
// TENGINE_ENOMEM. The content of the bytes is not trusted.
TENGINE_API int tengine_image_decode(const void* bytes, size_t size, int64_t most_pixels,
                                     struct tengine_image* out_image);

// The same for a regular file of at most 256 MiB. Fails also with TENGINE_EIO (it cannot be read)
// and TENGINE_ELIMIT (it is larger).
TENGINE_API int tengine_image_load(const char* path, int64_t most_pixels,
                                   struct tengine_image* out_image);

// Frees the pixels of a decoded picture, and sets the struct to zeroes. Does nothing for NULL and
// for such a struct.
TENGINE_API void tengine_image_free(struct tengine_image* image);

// ---- Settings ----

// How a picture of other proportions gets the size of the input.
enum tengine_image_fit
{
    TENGINE_IMAGE_STRETCH,   // the whole, with changed proportions: Image.resize of Pillow
    TENGINE_IMAGE_CROP,      // the largest centre that fits: ImageOps.fit of Pillow
    TENGINE_IMAGE_LETTERBOX  // the whole, between bars of the colour `fill`: ImageOps.pad of Pillow
};

// The order of the dimensions of the input.
enum tengine_image_layout
{
    TENGINE_IMAGE_ANY_LAYOUT,  // NHWC if that alone has 1 or 3 channels, else NCHW
    TENGINE_IMAGE_NCHW,
    TENGINE_IMAGE_NHWC
};

// From pixels to values: the picture is turned, cut to `box`, converted to the channels of the
// input, resized, and each byte becomes (byte - mean) x scale. Later versions may add members at
// the end.
struct tengine_image_settings
{
    size_t size;  // of the struct in the program; tengine_image_settings_init sets it
    // For red, green, blue, whatever the order in the input; a grey input uses the first.
    float mean[3];    // 0 to 255, as the bytes are; 0
    float scale[3];   // 0: 1/255, or 1 for bytes without quantisation parameters
    int fit;          // TENGINE_IMAGE_STRETCH
    int fill[3];      // red, green, blue of the bars, 0 to 255; 114. Grey: the first
    int format;       // TENGINE_IMAGE_RGB or TENGINE_IMAGE_BGR: the order of three channels; RGB
    int layout;       // TENGINE_IMAGE_ANY_LAYOUT
    int orientation;  // 1: turned as EXIF says (ImageOps.exif_transpose); 0: as stored
    // The part of the picture, in pixels: left, top, right, bottom, as Image.crop of Pillow. All 0:
    // the whole.
    int box[4];
    // With TENGINE_IMAGE_CROP: the picture is resized so that its shorter side has this number of
    // pixels, and the centre of the input's size is taken, as Resize and CenterCrop of torchvision
    // do. 0: off.
    int shorter_side;
    int height;  // of an input whose height the model leaves free; 0: the picture's
    int width;   // likewise
};

// Sets all members to the defaults that stand above. `size` is sizeof *settings. Fails with
// TENGINE_EINVAL (NULL, a size of 0).
TENGINE_API int tengine_image_settings_init(struct tengine_image_settings* settings, size_t size);

// Reads settings from a JSON object (docs/pictures.md). Members without a key keep their values; on
// failure all do. Fails with TENGINE_EINVAL (NULL, not initialised, not JSON, an unknown key, one
// given twice, a value of another kind), TENGINE_ERANGE, TENGINE_ELIMIT (more than 64 KiB),
// TENGINE_ENOTSUP (a build without TENGINE_WITH_JSON), TENGINE_ENOMEM.
TENGINE_API int tengine_image_settings_parse(const char* json, size_t length,
                                             struct tengine_image_settings* settings);

// The same for a file. Fails also with TENGINE_EIO.
TENGINE_API int tengine_image_settings_load(const char* path,
                                            struct tengine_image_settings* settings);

// The same for the file beside a model: `net.preprocess.json` for `net.onnx`. Returns 1, or 0 if
// there is no such file.
TENGINE_API int tengine_image_settings_load_beside(const char* model,
                                                   struct tengine_image_settings* settings);

// ---- Values ----

// A buffer as the functions below fill it.
struct tengine_image_target
{
    int data_type;   // TENGINE_DT_FP32, FP16, BF16, FP64, UINT8 or INT8
    int dims[4];     // N x C x H x W or N x H x W x C; C is 1 or 3
    float scale;     // of UINT8 and INT8: real = scale x (stored - zero_point); 0: UINT8 has the
    int zero_point;  // values themselves
};

// Writes `number` pictures, one for each of the batch, into a buffer of `size` bytes. `settings`
// may be NULL: the defaults. Values are computed in fp32. FP16 and BF16 are rounded to nearest
// even; bytes likewise, and clamped: of value / scale + zero_point, or without a scale of the
// value. The buffer may have any alignment.
//
// Fails with TENGINE_ERANGE (settings), TENGINE_EINVAL (NULL, settings that are not initialised,
// pictures or a target with members out of their ranges, another number than the batch, another
// size, a box outside of the picture, a centre that is larger than the resized picture,
// `shorter_side` without TENGINE_IMAGE_CROP), TENGINE_EDTYPE (another type; INT8 without a scale),
// TENGINE_ELIMIT (more than 2^28 pixels after a resize), TENGINE_ENOMEM (some pictures may have
// been written). After another failure the buffer is unchanged.
TENGINE_API int tengine_image_convert(const struct tengine_image images[], int number,
                                      const struct tengine_image_settings* settings,
                                      const struct tengine_image_target* target, void* out_values,
                                      size_t size);

// Replaces dimensions below 0 of N x C x H x W or N x H x W x C, for a batch of `number` pictures:
// height and width are those of `settings`, or of `image` after its box and orientation. Fails with
// TENGINE_EINVAL (NULL, a number below 1, a faulty picture, settings that are not initialised, a
// box outside of the picture, a dimension that is 0, channels other than 1 or 3), TENGINE_ERANGE
// (settings).
TENGINE_API int tengine_image_fill_shape(const struct tengine_image* image, int number,
                                         const struct tengine_image_settings* settings,
                                         int dims[4]);

// Sets the dimensions of an input that the model leaves free as tengine_image_fill_shape does. An
// input without free dimensions keeps its shape. Takes effect as set_tensor_shape does. Fails as
// these two functions, and with TENGINE_EINVAL (not an input of the graph).
TENGINE_API int tengine_image_set_input_shape(tensor_t input, const struct tengine_image* image,
                                              int number,
                                              const struct tengine_image_settings* settings);

// Writes pictures into an input of a graph as tengine_image_convert does. Type, shape and
// quantisation parameters are those of the tensor. The values go into the buffer of
// set_tensor_buffer, or into memory that the library allocates for the tensor. The pictures are not
// used after the call. Legal when set_tensor_data is. Fails as set_tensor_data and
// tengine_image_convert do, and with TENGINE_EINVAL (not an input of the graph).
TENGINE_API int tengine_image_set_input(tensor_t input, const struct tengine_image images[],
                                        int number, const struct tengine_image_settings* settings);

TENGINE_EXTERN_C_END
