// SPDX-License-Identifier: Apache-2.0
// For device folders written for Tengine Lite, which include it, often inside extern "C": memory
// under its names. A tensor that owns such memory (free_host_mem) frees it.
#pragma once

#ifdef __cplusplus
extern "C++" {
#endif

#include <stdlib.h>

#ifdef __cplusplus
}
#endif

#define sys_malloc malloc
#define sys_realloc realloc
#define sys_free free
