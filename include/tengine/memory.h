// SPDX-License-Identifier: Apache-2.0
// The library in a block of memory of the program's own: an arena. c_api.h includes this, and its
// rules for results and errors hold here. docs/arena.md says how to size one, and what the C
// library, the C++ runtime and other libraries take from the heap all the same.
#pragma once

#include <stddef.h>

#include "tengine/export.h"

#ifdef __cplusplus
extern "C" {
#endif

// Has the library take all its memory from the `size` bytes at `memory`, which stay the caller's;
// NULL and 0: from the C heap, as after start. Comes before init_tengine, and holds until it is
// called again: the bytes must stay there until then. tengine_arena_set(NULL, 0) after
// release_tengine gives them back; it fails, and they are still in use, where release_tengine had
// to leave the library up (a device that hangs, a graph that a run still holds). Where the arena is
// too small, functions fail with TENGINE_ENOMEM and a sentence that says how much was wanted and
// how much is left; nothing is lost by that, and the library can be used as before. Fails with
// TENGINE_EINVAL (one of the two is 0, or fewer than 256 bytes) and TENGINE_ESTATE (between
// init_tengine and release_tengine, or a part of the arena so far is still in use). No other thread
// may use the library meanwhile.
TENGINE_API int tengine_arena_set(void* memory, size_t size);

// Bytes of the arena that are in use now, and the most that have been since tengine_arena_set, each
// block with what the arena needs for it. Without an arena both are 0. NULL for what is not wanted.
// An arena of the peak's size may be a little too small, since what is free may lie in several
// places. Any thread, at any time. Never fails.
TENGINE_API int tengine_arena_get_use(size_t* out_used, size_t* out_peak);

#ifdef __cplusplus
}
#endif
