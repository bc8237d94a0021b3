// SPDX-License-Identifier: Apache-2.0
// The contract is in settings.h.
#include "image/settings.h"

#include <math.h>
#include <string.h>

enum
{
    LETTERBOX_GREY = 114  // as in YOLO's preprocessing
};

void set_default_image_settings(struct tengine_image_settings* settings)
{
    const size_t size = settings->size;
    memset(settings, 0, sizeof *settings);
    settings->size = size;
    settings->format = TENGINE_IMAGE_RGB;
    for (int c = 0; c < 3; ++c)
        settings->fill[c] = LETTERBOX_GREY;
}

static int check_range(const char* name, int value, int low, int high)
{
    if (value >= low && value <= high) return TENGINE_OK;
    return tengine_error_set(TENGINE_ERANGE, "%s is %d, expected %d to %d", name, value, low, high);
}

static int check_channels(const struct tengine_image_settings* settings)
{
    for (int c = 0; c < 3; ++c) {
        if (!isfinite(settings->mean[c]) || !isfinite(settings->scale[c]))
            return tengine_error_set(TENGINE_ERANGE, "mean is %g and scale %g: expected numbers",
                                     (double)settings->mean[c], (double)settings->scale[c]);
        TENGINE_RETURN_IF_ERROR(check_range("fill", settings->fill[c], 0, 255));
    }
    return TENGINE_OK;
}

int check_image_settings(const struct tengine_image_settings* settings)
{
    TENGINE_RETURN_IF_ERROR(check_channels(settings));
    TENGINE_RETURN_IF_ERROR(
        check_range("fit", settings->fit, TENGINE_IMAGE_STRETCH, TENGINE_IMAGE_LETTERBOX));
    TENGINE_RETURN_IF_ERROR(
        check_range("format", settings->format, TENGINE_IMAGE_RGB, TENGINE_IMAGE_BGR));
    TENGINE_RETURN_IF_ERROR(
        check_range("layout", settings->layout, TENGINE_IMAGE_ANY_LAYOUT, TENGINE_IMAGE_NHWC));
    TENGINE_RETURN_IF_ERROR(check_range("orientation", settings->orientation, 0, 1));
    TENGINE_RETURN_IF_ERROR(
        check_range("shorter_side", settings->shorter_side, 0, MOST_IMAGE_PIXELS));
    TENGINE_RETURN_IF_ERROR(check_range("height", settings->height, 0, MOST_IMAGE_PIXELS));
    TENGINE_RETURN_IF_ERROR(check_range("width", settings->width, 0, MOST_IMAGE_PIXELS));
    if (settings->shorter_side > 0 && settings->fit != TENGINE_IMAGE_CROP)
        return tengine_error_set(TENGINE_EINVAL,
                                 "shorter_side is %d, which needs the fit crop, but fit is %s",
                                 settings->shorter_side,
                                 settings->fit == TENGINE_IMAGE_STRETCH ? "stretch" : "letterbox");
    return TENGINE_OK;
}
