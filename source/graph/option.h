// SPDX-License-Identifier: Apache-2.0
// Options of a context by key: strings, checked against one table (option.c) when they are set.
// Options of a device ("TPU.config") are stored here too, but checked by the device.
#pragma once

#include "graph/context.h"

TENGINE_EXTERN_C_BEGIN

typedef struct ir_option
{
    const char* key;
    const char* initial;  // its default
    const char* choices;  // accepted words, separated by spaces; NULL: a number, "": any string
    double lowest;        // of a number
    double highest;
    bool whole;        // an integer
    const char* help;  // one line
} ir_option_t;

// The core's options, in the order of the table.
int get_ir_option_count(void);
const ir_option_t* get_ir_option(int index);
// The option with this key, NULL when there is none.
const ir_option_t* find_ir_option(const char* key);

// Sets an option. ENOENT lists the keys; EINVAL: not a number, not an integer, or none of the
// choices; ERANGE: outside lowest..highest. Key and value are copied; a failure leaves the option
// as it was.
int set_ir_context_option(ir_context_t* context, const char* key, const char* value);
// Whether an option may have the value; fails as set_ir_context_option() does.
TENGINE_MUST_USE int check_ir_option(const char* key, const char* value);
// ENOENT for an unknown key, with a list of the known ones.
int fail_ir_option(const ir_context_t* context, const char* key);
// The value set or the default; NULL only for a key that is not in the table. `context`
// may be NULL.
const char* get_ir_context_option(const ir_context_t* context, const char* key);
// The same for an option that is a number or whose choices are numbers.
double get_ir_context_number(const ir_context_t* context, const char* key);
// The number that a checked value is; 0 for other strings and NULL.
double parse_ir_number(const char* value);

// The entry of the device that "<device>.<key>" is for, and in *out_key the rest after the device's
// name: the first dot that follows the name of a device separates them. NULL when there is none.
ir_context_device_t* find_ir_option_device(const ir_context_t* context, const char* key,
                                           const char** out_key);
// Sets an option of a device, which the core does not check; the value is copied. ENOENT when
// `device` is not in the context. get_ir_device_option() of device.h reads it.
int set_ir_context_device_option(ir_context_t* context, const struct device* device,
                                 const char* key, const char* value);

TENGINE_EXTERN_C_END
