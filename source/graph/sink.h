// SPDX-License-Identifier: Apache-2.0
// The memory that a device writes a compiled part to: one block, with room in front for the head of
// a store.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "tengine/device.h"

TENGINE_EXTERN_C_BEGIN

enum
{
    IR_SINK_HEAD_BYTES = 4096  // a multiple of the alignment of saved bytes
};

// All members except the head's bytes are zero before the first write. `bytes` is NULL until then,
// and freed by free_memory().
struct ir_sink
{
    uint8_t* bytes;
    size_t size;  // includes the head
    size_t capacity;
};

TENGINE_EXTERN_C_END
