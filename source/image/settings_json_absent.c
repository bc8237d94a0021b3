// SPDX-License-Identifier: Apache-2.0
// The stand-in for settings_json.cc in a build without nlohmann-json.
#include "image/settings.h"

int parse_image_settings(const char* json, size_t length, const char* where,
                         struct tengine_image_settings* settings)
{
    (void)json;
    (void)length;
    (void)settings;
    return tengine_error_set(TENGINE_ENOTSUP,
                             "%s: this build cannot read JSON: nlohmann-json was not found, or "
                             "TENGINE_WITH_JSON is off",
                             where);
}
