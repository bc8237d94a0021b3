// SPDX-License-Identifier: Apache-2.0
// Functions that fill the records of device.h: a device and a verdict.
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "tengine/device.h"

void init_ir_device(struct device* device, const char* name)
{
    memset(device, 0, sizeof(*device));
    device->name = name;
}

void refuse_ir_node(ir_verdict_t* verdict, int code, const char* attribute, const char* value,
                    const char* format, ...)
{
    verdict->verdict = IR_VERDICT_NO;
    verdict->code = code;
    snprintf(verdict->attribute, sizeof(verdict->attribute), "%s", attribute);
    snprintf(verdict->value, sizeof(verdict->value), "%s", value);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(verdict->message, sizeof(verdict->message), format, arguments);
    va_end(arguments);
}
