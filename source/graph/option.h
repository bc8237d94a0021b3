// SPDX-License-Identifier: Apache-2.0
// Options of a context by key: strings outside, checked against one table (option.c) when they are
// set. Options of a device ("TPU.config") are kept here too, but judged by the device.
#pragma once

#include "graph/context.h"

TENGINE_EXTERN_C_BEGIN

typedef struct ir_option
{
    const char* key;
    const char* initial;  // its value until it is set
    const char* choices;  // words it may be, separated by spaces; NULL: a number, "": any text
    double lowest;        // a number's
    double highest;
    bool whole;        // a number without fraction
    const char* help;  // one message
} ir_option_t;

// The core's options, in the order of the table.
int get_ir_option_count(void);
const ir_option_t* get_ir_option(int index);
// NULL when there is none of this key.
const ir_option_t* find_ir_option(const char* key);

// ENOENT lists the keys there are; EINVAL: not a (whole) number or none of the choices; ERANGE:
// outside lowest..highest. Key and value are copied; on failure the option is as it was.
int set_ir_context_option(ir_context_t* context, const char* key, const char* value);
// ENOENT for an unknown key: lists the known ones.
int fail_ir_option(const ir_context_t* context, const char* key);
// The value set or the default; NULL only for a key that is not in the table. `context`
// may be NULL.
const char* get_ir_context_option(const ir_context_t* context, const char* key);
// The same for an option that is a number or whose choices are numbers.
double get_ir_context_number(const ir_context_t* context, const char* key);

// The entry of the device that "<device>.<key>" is for, and *out_key, the rest after its name: that
// of the first dot in front of which a device's name ends. NULL when there is none.
ir_context_device_t* find_ir_option_device(const ir_context_t* context, const char* key,
                                           const char** out_key);
// ENOENT when `device` is not in the context. The value is copied and not looked at.
// get_ir_device_option() of device.h reads it.
int set_ir_context_device_option(ir_context_t* context, const struct device* device,
                                 const char* key, const char* value);

TENGINE_EXTERN_C_END
