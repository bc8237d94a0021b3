// SPDX-License-Identifier: Apache-2.0
// Options of the device "ACL", as programs written for Tengine Lite pass them to
// set_context_device(). Pointers inside are not copied.
#pragma once

typedef struct acl_option
{
    char* dev_name;
    int precision;  // TENGINE_MODE_*
} acl_option;
