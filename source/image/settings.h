// SPDX-License-Identifier: Apache-2.0
// Settings of pictures: defaults, checks, and the JSON of docs/pictures.md.
#pragma once

#include "image/picture.h"

TENGINE_EXTERN_C_BEGIN

enum
{
    MOST_SETTINGS_BYTES = 1 << 16
};

// All members but `size`.
void set_default_image_settings(struct tengine_image_settings* settings);

// TENGINE_EINVAL or TENGINE_ERANGE with the member and its value.
TENGINE_MUST_USE int check_image_settings(const struct tengine_image_settings* settings);

// Changes the members that the JSON object in `json` has keys for. `where` is the subject of
// messages. Fails with TENGINE_EINVAL, as check_image_settings(), or without nlohmann-json with
// TENGINE_ENOTSUP.
TENGINE_MUST_USE int parse_image_settings(const char* json, size_t length, const char* where,
                                          struct tengine_image_settings* settings);

// The same for a file of at most MOST_SETTINGS_BYTES. TENGINE_EIO, TENGINE_ELIMIT.
TENGINE_MUST_USE int load_image_settings(const char* path, struct tengine_image_settings* settings);

// The same for the file beside a model, see tengine_image_settings_load_beside: 1, or 0 without
// one.
TENGINE_MUST_USE int load_image_settings_beside(const char* model,
                                                struct tengine_image_settings* settings);

TENGINE_EXTERN_C_END
