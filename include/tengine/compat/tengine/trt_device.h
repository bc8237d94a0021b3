// SPDX-License-Identifier: Apache-2.0
// Options of the device "TensorRT", as programs written for Tengine Lite pass them to
// set_context_device(). Pointers inside are not copied.
#pragma once

typedef struct trt_option
{
    char* dev_name;
    int gpu_index;
    int dla_index;  // negative: none
    int precision;  // TENGINE_MODE_*
} trt_option, trt_opt_t;
