// SPDX-License-Identifier: Apache-2.0
#include "scheduler/failure.h"

#include <stdio.h>

void keep_ir_failure(ir_failure_t* out_failure)
{
    out_failure->code = tengine_error_code();
    snprintf(out_failure->message, sizeof out_failure->message, "%s", tengine_error_message());
}

int raise_ir_failure(const ir_failure_t* failure)
{
    return tengine_error_set(failure->code, "%s", failure->message);
}

int fail_ir_entry(const struct device* device, const char* entry, int part_index, int node_num,
                  int status)
{
    char cause[512];
    snprintf(cause, sizeof cause, "%s", tengine_error_message());
    const int code = tengine_error_code() ? tengine_error_code() : TENGINE_EDEVICE;
    if (!*cause) snprintf(cause, sizeof cause, "it returned %d", status);
    return tengine_error_set(code, "device '%s', %s of part %d (%d nodes): %s", device->name, entry,
                             part_index, node_num, cause);
}
