// SPDX-License-Identifier: Apache-2.0
// A turned picture is the stored one, read from another corner by other steps.
#include "image/plain.h"

#include <stdbool.h>

#include "base/alloc.h"

typedef struct pixel_layout
{
    int bytes;
    int places[3];  // of red, green, blue in a pixel
} pixel_layout_t;

static const pixel_layout_t pixel_layouts[] = {
    [TENGINE_IMAGE_GREY] = {1, {0, 0, 0}}, [TENGINE_IMAGE_RGB] = {3, {0, 1, 2}},
    [TENGINE_IMAGE_BGR] = {3, {2, 1, 0}},  [TENGINE_IMAGE_RGBA] = {4, {0, 1, 2}},
    [TENGINE_IMAGE_BGRA] = {4, {2, 1, 0}},
};

int image_pixel_bytes(int format)
{
    const bool is_known = format >= TENGINE_IMAGE_GREY && format <= TENGINE_IMAGE_BGRA;
    return is_known ? pixel_layouts[format].bytes : 0;
}

// A stored picture as seen: the first pixel, and the bytes to the next one to the right and below.
typedef struct view
{
    const uint8_t* first;
    ptrdiff_t right;
    ptrdiff_t down;
    int height;
    int width;
} view_t;

// EXIF's orientations: whether rows and columns are exchanged, and which of the stored axes run
// backwards.
typedef struct turn
{
    bool is_transposed;
    bool from_right;
    bool from_bottom;
} turn_t;

static const turn_t turns[] = {
    [0] = {false, false, false}, [1] = {false, false, false}, [2] = {false, true, false},
    [3] = {false, true, true},   [4] = {false, false, true},  [5] = {true, false, false},
    [6] = {true, false, true},   [7] = {true, true, true},    [8] = {true, true, false},
};

static view_t view_upright(const struct tengine_image* image, bool is_turned)
{
    const turn_t* turn = &turns[is_turned ? image->orientation : 0];
    const int pixel = image_pixel_bytes(image->format);
    const size_t stored_row =
        image->row_bytes > 0 ? image->row_bytes : (size_t)image->width * (size_t)pixel;
    const ptrdiff_t row = (ptrdiff_t)stored_row;
    const ptrdiff_t column_step = turn->from_right ? -pixel : pixel;
    const ptrdiff_t row_step = turn->from_bottom ? -row : row;
    view_t view = {image->pixels, column_step, row_step, image->height, image->width};
    if (turn->from_right) view.first += (ptrdiff_t)(image->width - 1) * pixel;
    if (turn->from_bottom) view.first += (ptrdiff_t)(image->height - 1) * row;
    if (turn->is_transposed) {
        view.right = row_step;
        view.down = column_step;
        view.height = image->width;
        view.width = image->height;
    }
    return view;
}

static bool has_box(const int box[4])
{
    return box[0] || box[1] || box[2] || box[3];
}

static int cut(const int box[4], view_t* view)
{
    if (!has_box(box)) return TENGINE_OK;
    const int left = box[0], top = box[1], right = box[2], bottom = box[3];
    if (left < 0 || top < 0 || left >= right || top >= bottom || right > view->width ||
        bottom > view->height)
        return tengine_error_set(
            TENGINE_EINVAL,
            "box is %d,%d,%d,%d: expected left < right and top < bottom inside "
            "the %d x %d pixels of the picture",
            left, top, right, bottom, view->width, view->height);
    view->first += left * view->right + top * view->down;
    view->width = right - left;
    view->height = bottom - top;
    return TENGINE_OK;
}

int find_plain_size(const struct tengine_image* image,
                    const struct tengine_image_settings* settings, int* out_height, int* out_width)
{
    view_t view = view_upright(image, settings->orientation);
    TENGINE_RETURN_IF_ERROR(cut(settings->box, &view));
    *out_height = view.height;
    *out_width = view.width;
    return TENGINE_OK;
}

static uint8_t to_grey(const uint8_t* pixel, const int places[3])
{
    const unsigned sum =
        pixel[places[0]] * 19595u + pixel[places[1]] * 38470u + pixel[places[2]] * 7471u + 0x8000u;
    return (uint8_t)(sum >> 16);
}

static void copy_row(const uint8_t* from, ptrdiff_t step, int width, int format, int channels,
                     uint8_t* out)
{
    const int* places = pixel_layouts[format].places;
    for (int x = 0; x < width; ++x, from += step) {
        if (channels == 1 && format != TENGINE_IMAGE_GREY) {
            *out++ = to_grey(from, places);
            continue;
        }
        for (int c = 0; c < channels; ++c)
            *out++ = from[places[c]];
    }
}

int make_plain_picture(const struct tengine_image* image,
                       const struct tengine_image_settings* settings, int channels,
                       picture_t* out_picture, uint8_t** out_memory)
{
    view_t view = view_upright(image, settings->orientation);
    TENGINE_RETURN_IF_ERROR(cut(settings->box, &view));
    const int plain_format = channels == 1 ? TENGINE_IMAGE_GREY : TENGINE_IMAGE_RGB;
    const picture_t as_stored = {view.first, (size_t)view.down, channels, view.height, view.width};
    *out_picture = as_stored;
    *out_memory = NULL;
    if (image->format == plain_format && view.right == channels && view.down > 0) return TENGINE_OK;
    const size_t row_bytes = (size_t)view.width * (size_t)channels;
    uint8_t* bytes = alloc_raw_memory(row_bytes * (size_t)view.height);
    if (!bytes)
        return tengine_error_set(TENGINE_ENOMEM,
                                 "out of memory for a picture of %d x %d pixels in %d channels",
                                 view.width, view.height, channels);
    for (int y = 0; y < view.height; ++y)
        copy_row(view.first + y * view.down, view.right, view.width, image->format, channels,
                 bytes + (size_t)y * row_bytes);
    out_picture->bytes = *out_memory = bytes;
    out_picture->row_bytes = row_bytes;
    return TENGINE_OK;
}
