// SPDX-License-Identifier: Apache-2.0
// Memory of the program: an arena, in which the library allocates, and memories by name, such as
// the SRAM of a board. c_api.h includes this, and its rules for results and errors hold here.
// docs/arena.md explains its size, and lists the memory that the C library, the C++ runtime and
// other libraries still take from the heap.
#pragma once

#include <stddef.h>

#include "tengine/export.h"

TENGINE_EXTERN_C_BEGIN

// Makes the library allocate all its memory in the `size` bytes at `memory`, which stay the
// caller's; NULL and 0: in the C heap, as after start. Must be called before init_tengine, and is
// in force until the next call: the bytes must stay valid until then. tengine_arena_set(NULL, 0)
// after release_tengine returns them; it fails, and they are still in use, if release_tengine left
// the library initialised (a device that hangs, a graph that a run still holds). If the arena is
// too small, functions fail with TENGINE_ENOMEM and a message with the bytes that are requested and
// free; the library stays usable. Fails with TENGINE_EINVAL (one of the two is 0, or fewer than 256
// bytes) and TENGINE_ESTATE (between init_tengine and release_tengine, or a part of the present
// arena is still in use). No other thread may use the library meanwhile.
TENGINE_API int tengine_arena_set(void* memory, size_t size);

// The bytes of the arena in use, and their peak since tengine_arena_set, including the header of
// each block. Without an arena both are 0. Either pointer may be NULL. An arena of the peak's size
// may be slightly too small, because free memory may be fragmented. Any thread, at any time. Never
// fails.
TENGINE_API int tengine_arena_get_use(size_t* out_used, size_t* out_peak);

// Makes the `size` bytes at `memory`, which stay the caller's, the memory `name` of devices
// ("SRAM", option CPU.memories), in which tensors and weights get places; NULL and 0: the library
// allocates it like all other memory, as after start. Holds for graphs that are prepared from then
// on, which share the memory: each has what is free when it is prepared. The bytes must stay valid
// until the next call for the name. `name` has 1 to 15 bytes. Fails with TENGINE_EINVAL (NULL, a
// name of another length, one of `memory` and `size` is 0, or fewer than 256 bytes), TENGINE_ESTATE
// (a prepared graph uses the present block), TENGINE_ELIMIT (there are four other names) and
// TENGINE_ENOTSUP (a minimal build). Any thread.
TENGINE_API int tengine_memory_set(const char* name, void* memory, size_t size);

TENGINE_EXTERN_C_END
