// SPDX-License-Identifier: Apache-2.0
#include "graph/sink.h"

#include <string.h>

#include "base/alloc.h"

static int fail(size_t size)
{
    return tengine_error_set(TENGINE_ENOMEM, "out of memory for %zu bytes of a compiled part",
                             size);
}

static int make_room(struct ir_sink* sink, size_t size)
{
    if (size <= sink->capacity) return TENGINE_OK;
    const size_t capacity = size > SIZE_MAX / 2 ? size : size + size / 2;
    uint8_t* bytes = resize_memory(sink->bytes, sink->size, capacity);
    if (!bytes) return fail(capacity);
    sink->bytes = bytes;
    sink->capacity = capacity;
    return TENGINE_OK;
}

int write_ir_sink(struct ir_sink* sink, const void* bytes, size_t size)
{
    const size_t begin = sink->size ? sink->size : IR_SINK_HEAD_BYTES;
    if (size > SIZE_MAX - begin) return fail(size);
    TENGINE_RETURN_IF_ERROR(make_room(sink, begin + size));
    if (size > 0) memcpy(sink->bytes + begin, bytes, size);
    sink->size = begin + size;
    return TENGINE_OK;
}
