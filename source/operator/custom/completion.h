// SPDX-License-Identifier: Apache-2.0
// Asynchronous invokes of custom operators that are in flight. Kernels refer to them by number, so
// that one that is over cannot be confused with another. Any thread.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "tengine/error.h"

TENGINE_EXTERN_C_BEGIN

// The object lies on the stack of the waiting thread.
typedef struct completion
{
    uint64_t number;
    struct completion* next;
    bool is_over;
    int status;
    char sentence[768];
} ir_completion_t;

void open_completion(ir_completion_t* out_completion);
// Waits for the completion and returns the kernel's status; the message is recorded.
int wait_for_completion(ir_completion_t* completion);
// Withdraws a completion that the kernel will not end.
void withdraw_completion(ir_completion_t* completion);

TENGINE_EXTERN_C_END
