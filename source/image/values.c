// SPDX-License-Identifier: Apache-2.0
// A channel has at most 256 different values: they are computed once, and looked up for each pixel.
#include "image/values.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/half.h"
#include "image/fit.h"
#include "image/plain.h"

enum
{
    BYTE_VALUES = 256,
    MOST_ELEMENT_BYTES = 8
};

static bool is_channel_count(int extent)
{
    return extent == 1 || extent == 3;
}

bool read_image_dims(const int dims[4], int layout, image_values_t* out_values)
{
    out_values->channels_last =
        layout == TENGINE_IMAGE_NHWC || (layout == TENGINE_IMAGE_ANY_LAYOUT &&
                                         is_channel_count(dims[3]) && !is_channel_count(dims[1]));
    const int rows = out_values->channels_last ? 1 : 2;
    out_values->number = dims[0];
    out_values->channels = dims[out_values->channels_last ? 3 : 1];
    out_values->height = dims[rows];
    out_values->width = dims[rows + 1];
    return out_values->number > 0 && is_channel_count(out_values->channels) &&
           out_values->height > 0 && out_values->width > 0;
}

int image_element_bytes(int data_type)
{
    switch (data_type) {
        case TENGINE_DT_UINT8:
        case TENGINE_DT_INT8:
            return 1;
        case TENGINE_DT_FP16:
        case TENGINE_DT_BF16:
            return 2;
        case TENGINE_DT_FP32:
            return 4;
        case TENGINE_DT_FP64:
            return 8;
        default:
            return 0;
    }
}

int check_image(const struct tengine_image* image, const struct tengine_image_settings* settings,
                const image_values_t* values)
{
    int height, width;
    TENGINE_RETURN_IF_ERROR(find_plain_size(image, settings, &height, &width));
    return check_fit(height, width, settings, values->height, values->width);
}

// As QuantizeLinear: the quotient of floats, ties to even.
static uint8_t to_stored_byte(float value, const image_values_t* values)
{
    const double lowest = values->data_type == TENGINE_DT_INT8 ? -128 : 0;
    const float quotient = values->scale > 0 ? value / values->scale : value;
    const double nearest = nearbyint(quotient) + values->zero_point;
    return (uint8_t)(int)fmin(fmax(nearest, lowest), lowest + 255);
}

static void store(float value, const image_values_t* values, void* out)
{
    const uint8_t byte = to_stored_byte(value, values);
    const uint16_t half =
        values->data_type == TENGINE_DT_BF16 ? fp32_to_bf16(value) : fp32_to_fp16(value);
    const double wide = value;
    const int bytes = image_element_bytes(values->data_type);
    memcpy(out,
           bytes == 1   ? (const void*)&byte
           : bytes == 2 ? (const void*)&half
           : bytes == 4 ? (const void*)&value
                        : (const void*)&wide,
           (size_t)bytes);
}

static void make_table(const struct tengine_image_settings* settings, const image_values_t* values,
                       int channel, uint8_t* out_table)
{
    const size_t bytes = (size_t)image_element_bytes(values->data_type);
    const float usual = bytes == 1 && values->scale <= 0 ? 1.0f : 1.0f / 255.0f;
    const float scale = settings->scale[channel] != 0 ? settings->scale[channel] : usual;
    for (int i = 0; i < BYTE_VALUES; ++i)
        store(((float)i - settings->mean[channel]) * scale, values, out_table + (size_t)i * bytes);
}

// Each size of elements has a loop, so that the copies are moves.
#define LOOK_UP(bytes)                  \
    for (size_t i = 0; i < pixels; ++i) \
    memcpy(out + i * step * (bytes), table + (size_t)from[i * channels] * (bytes), bytes)

static void look_up(const uint8_t* from, size_t pixels, size_t channels, const uint8_t* table,
                    int element_bytes, size_t step, uint8_t* out)
{
    if (element_bytes == 1) {
        LOOK_UP(1);
    } else if (element_bytes == 2) {
        LOOK_UP(2);
    } else if (element_bytes == 4) {
        LOOK_UP(4);
    } else {
        LOOK_UP(8);
    }
}

static void write_values(const uint8_t* fitted, const struct tengine_image_settings* settings,
                         const image_values_t* values, uint8_t* out)
{
    uint8_t table[BYTE_VALUES * MOST_ELEMENT_BYTES];
    const int element = image_element_bytes(values->data_type), channels = values->channels;
    const size_t pixels = (size_t)values->height * (size_t)values->width;
    for (int c = 0; c < channels; ++c) {
        const int place = settings->format == TENGINE_IMAGE_BGR ? channels - 1 - c : c;
        const size_t step = values->channels_last ? (size_t)channels : 1;
        const size_t first = (size_t)place * (values->channels_last ? 1 : pixels);
        make_table(settings, values, c, table);
        look_up(fitted + c, pixels, (size_t)channels, table, element, step,
                out + first * (size_t)element);
    }
}

int write_image(const struct tengine_image* image, const struct tengine_image_settings* settings,
                const image_values_t* values, int index, void* out_values)
{
    const size_t elements =
        (size_t)values->height * (size_t)values->width * (size_t)values->channels;
    const size_t bytes = elements * (size_t)image_element_bytes(values->data_type);
    picture_t plain;
    uint8_t* memory;
    TENGINE_RETURN_IF_ERROR(make_plain_picture(image, settings, values->channels, &plain, &memory));
    uint8_t* fitted = alloc_raw_memory(elements);
    const int status =
        fitted ? fit_picture(&plain, settings, values->height, values->width, fitted)
               : tengine_error_set(TENGINE_ENOMEM, "out of memory for %zu bytes of a picture",
                                   elements);
    if (status == TENGINE_OK)
        write_values(fitted, settings, values, (uint8_t*)out_values + (size_t)index * bytes);
    free_memory(fitted);
    free_memory(memory);
    return status;
}
