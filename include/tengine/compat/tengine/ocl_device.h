// SPDX-License-Identifier: Apache-2.0
// Options of the device "OCL", as programs written for Tengine Lite pass them to
// set_context_device(). In C++ members have defaults, as such programs expect. Pointers inside are
// not copied.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
#define TENGINE_OCL_DEFAULT(value) = value
#else
#define TENGINE_OCL_DEFAULT(value)
#endif

typedef struct ocl_option
{
    char* dev_name TENGINE_OCL_DEFAULT(NULL);
    int precision TENGINE_OCL_DEFAULT(0);  // TENGINE_MODE_*
    char* cache_path TENGINE_OCL_DEFAULT(NULL);
    bool load_cache TENGINE_OCL_DEFAULT(false);
    bool store_cache TENGINE_OCL_DEFAULT(false);
} ocl_option;

#undef TENGINE_OCL_DEFAULT
