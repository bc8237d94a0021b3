// SPDX-License-Identifier: Apache-2.0
// Time and memory that this process has used, for reports and benchmarks. Any thread, no heap.
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// Nanoseconds of a clock that never steps back; its zero is arbitrary.
uint64_t get_time_ns(void);

// Largest resident set of the process so far, in bytes; 0 when the system does not tell.
size_t get_peak_memory(void);

#ifdef __cplusplus
}
#endif
