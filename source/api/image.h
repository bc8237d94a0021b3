// SPDX-License-Identifier: Apache-2.0
// The settings of a program for the functions of tengine/image.h.
#pragma once

#include "tengine/image.h"

// The program's settings with the defaults of the members that it does not know; the defaults for
// NULL. TENGINE_EINVAL when they are not initialised, or as check_image_settings().
TENGINE_MUST_USE int take_image_settings(const struct tengine_image_settings* settings,
                                         const char* function,
                                         struct tengine_image_settings* out_settings);
