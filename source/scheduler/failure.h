// SPDX-License-Identifier: Apache-2.0
// A stored failure. Errors are recorded per thread, but a run may fail on another thread than the
// one that reads its result.
#pragma once

#include "tengine/device.h"

TENGINE_EXTERN_C_BEGIN

typedef struct failure
{
    int code;  // 0: none
    char message[1024];
} ir_failure_t;

// Stores code and message of the calling thread's last failure.
void keep_ir_failure(ir_failure_t* out_failure);

// Records a kept failure for the calling thread and returns its code.
int raise_ir_failure(const ir_failure_t* failure);

// Turns a device entry's status (not 0) into a failure. The message names device, entry and part,
// and gives the cause: the error that the entry has recorded on this thread since the last
// tengine_error_clear(), or else the status.
int fail_ir_entry(const struct device* device, const char* entry, int part_index, int node_num,
                  int status);

TENGINE_EXTERN_C_END
