// SPDX-License-Identifier: Apache-2.0
// C API: pictures, and their settings.
#include "api/image.h"

#include <stdio.h>
#include <string.h>

#include "api/check.h"
#include "base/alloc.h"
#include "base/small_file.h"
#include "image/decode.h"
#include "image/settings.h"

enum
{
    MOST_FILE_BYTES = 1 << 28
};

const char* tengine_image_get_type(const void* bytes, size_t size)
{
    if (check_pointer(bytes, __func__, "bytes") < 0) return api_pointer(NULL);
    return find_image_type(bytes, size);
}

int tengine_image_get_size(const void* bytes, size_t size, int* out_width, int* out_height)
{
    if (check_pointer(bytes, __func__, "bytes") < 0 ||
        check_pointer(out_width, __func__, "out_width") < 0 ||
        check_pointer(out_height, __func__, "out_height") < 0)
        return api_failure();
    return api_result(read_image_size(bytes, size, out_width, out_height));
}

static int check_limit(int64_t most_pixels, const char* function)
{
    if (most_pixels >= 0) return TENGINE_OK;
    return tengine_error_set(TENGINE_EINVAL, "%s: most_pixels is %lld, expected 0 or more",
                             function, (long long)most_pixels);
}

static int decode(const void* bytes, size_t size, int64_t most_pixels,
                  struct tengine_image* out_image)
{
    const bool is_limited = most_pixels > 0 && most_pixels < MOST_IMAGE_PIXELS;
    return decode_image(bytes, size, is_limited ? most_pixels : MOST_IMAGE_PIXELS, out_image);
}

int tengine_image_decode(const void* bytes, size_t size, int64_t most_pixels,
                         struct tengine_image* out_image)
{
    if (check_pointer(bytes, __func__, "bytes") < 0 ||
        check_pointer(out_image, __func__, "out_image") < 0 ||
        check_limit(most_pixels, __func__) < 0)
        return api_failure();
    return api_result(decode(bytes, size, most_pixels, out_image));
}

// Puts the path before the message of a failure.
static int add_path(const char* path, int status)
{
    char message[512];
    if (status >= 0) return status;
    snprintf(message, sizeof message, "%s", tengine_error_message());
    return tengine_error_set(status, "'%.400s': %s", path, message);
}

static int load(const char* path, int64_t most_pixels, struct tengine_image* out_image)
{
    char* bytes;
    size_t size;
    TENGINE_RETURN_IF_ERROR(read_small_file(path, "the picture", MOST_FILE_BYTES, &bytes, &size));
    const int status = add_path(path, decode(bytes, size, most_pixels, out_image));
    free_memory(bytes);
    return status;
}

int tengine_image_load(const char* path, int64_t most_pixels, struct tengine_image* out_image)
{
    if (check_name(path, __func__, "path") < 0 ||
        check_pointer(out_image, __func__, "out_image") < 0 ||
        check_limit(most_pixels, __func__) < 0)
        return api_failure();
    return api_result(load(path, most_pixels, out_image));
}

void tengine_image_free(struct tengine_image* image)
{
    if (!image) return;
    free_memory((void*)(uintptr_t)image->pixels);
    memset(image, 0, sizeof *image);
}

// ---- settings ----

// Gives a program of another version the members that it knows.
static void give_settings(const struct tengine_image_settings* made, size_t size,
                          struct tengine_image_settings* out_settings)
{
    memcpy(out_settings, made, size < sizeof *made ? size : sizeof *made);
    out_settings->size = size;
}

static int check_settings_size(const void* settings, size_t size, const char* function)
{
    if (settings && size >= sizeof(size_t)) return TENGINE_OK;
    return tengine_error_set(TENGINE_EINVAL,
                             "%s: settings is %s: expected a struct of %zu bytes that "
                             "tengine_image_settings_init has set",
                             function, !settings ? "NULL" : "not initialised",
                             sizeof(struct tengine_image_settings));
}

int take_image_settings(const struct tengine_image_settings* settings, const char* function,
                        struct tengine_image_settings* out_settings)
{
    const size_t known = sizeof *out_settings;
    set_default_image_settings(out_settings);
    if (!settings) return TENGINE_OK;
    TENGINE_RETURN_IF_ERROR(check_settings_size(settings, settings->size, function));
    memcpy(out_settings, settings, settings->size < known ? settings->size : known);
    return check_image_settings(out_settings);
}

int tengine_image_settings_init(struct tengine_image_settings* settings, size_t size)
{
    struct tengine_image_settings made;
    if (check_settings_size(settings, size, __func__) < 0) return api_failure();
    set_default_image_settings(&made);
    memset(settings, 0, size);
    give_settings(&made, size, settings);
    return 0;
}

// The settings before they are changed. A program that has none yet would lose the result.
static int take_for_change(const struct tengine_image_settings* settings, const char* function,
                           struct tengine_image_settings* out_settings)
{
    TENGINE_RETURN_IF_ERROR(check_settings_size(settings, settings ? settings->size : 0, function));
    return take_image_settings(settings, function, out_settings);
}

static int end_settings_change(int status, const struct tengine_image_settings* changed,
                               struct tengine_image_settings* settings)
{
    TENGINE_RETURN_IF_ERROR(status);
    give_settings(changed, settings->size, settings);
    return status;
}

int tengine_image_settings_parse(const char* json, size_t length,
                                 struct tengine_image_settings* settings)
{
    struct tengine_image_settings changed;
    if (check_pointer(json, __func__, "json") < 0 ||
        take_for_change(settings, __func__, &changed) < 0)
        return api_failure();
    if (length > MOST_SETTINGS_BYTES)
        return api_result(tengine_error_set(TENGINE_ELIMIT, "%s: %zu bytes, expected at most %d",
                                            __func__, length, MOST_SETTINGS_BYTES));
    const int status = parse_image_settings(json, length, "the settings", &changed);
    return api_result(end_settings_change(status, &changed, settings));
}

int tengine_image_settings_load(const char* path, struct tengine_image_settings* settings)
{
    struct tengine_image_settings changed;
    if (check_name(path, __func__, "path") < 0 || take_for_change(settings, __func__, &changed) < 0)
        return api_failure();
    const int status = load_image_settings(path, &changed);
    return api_result(end_settings_change(status, &changed, settings));
}

int tengine_image_settings_load_beside(const char* model, struct tengine_image_settings* settings)
{
    struct tengine_image_settings changed;
    if (check_name(model, __func__, "model") < 0 ||
        take_for_change(settings, __func__, &changed) < 0)
        return api_failure();
    const int status = load_image_settings_beside(model, &changed);
    return api_result(end_settings_change(status, &changed, settings));
}
