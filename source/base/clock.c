// SPDX-License-Identifier: Apache-2.0
// Time and peak memory from the system. The contract is in clock.h.
#define _POSIX_C_SOURCE 200809L
#include "base/clock.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

uint64_t get_time_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

size_t get_peak_memory(void)
{
    // VmHWM stands in the first kilobyte or two; stdio is avoided because it allocates.
    char status[4096];
    const int file = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
    if (file < 0) return 0;
    const ssize_t length = read(file, status, sizeof status - 1);
    close(file);
    if (length <= 0) return 0;
    status[length] = '\0';
    const char* field = strstr(status, "VmHWM:");
    if (field == NULL) return 0;
    return (size_t)strtoull(field + strlen("VmHWM:"), NULL, 10) * 1024;
}
