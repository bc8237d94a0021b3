// SPDX-License-Identifier: Apache-2.0
#include "base/bandwidth.h"

#include <pthread.h>
#include <stdint.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"

enum
{
    COPY_BYTES = 4 << 20,  // more than the caches that a core has to itself
    COPY_NUM = 4           // copies, of which the fastest counts; the first also maps the pages
};

// The bandwidth of the slowest boards with an operating system.
static const double lowest_bandwidth = 5e8;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static double bandwidth;  // 0 until it has been measured

static double measure_copy(void* to, const void* from)
{
    uint64_t best_ns = UINT64_MAX;
    for (int i = 0; i < COPY_NUM; ++i) {
        const uint64_t start = get_time_ns();
        memcpy(to, from, COPY_BYTES);
        // Keeps the compiler from dropping the copy.
        __asm__ volatile("" : : "r"(to) : "memory");
        const uint64_t ns = get_time_ns() - start;
        if (ns < best_ns) best_ns = ns;
    }
    return COPY_BYTES * 1e9 / (double)(best_ns > 0 ? best_ns : 1);
}

// Returns 0 when out of memory.
static double measure_bandwidth(void)
{
    void* from = alloc_raw_memory(COPY_BYTES);
    void* to = alloc_raw_memory(COPY_BYTES);
    double measured = 0;
    if (from && to) {
        // Pages that were never written are all mapped to the one page of zeroes.
        memset(from, 1, COPY_BYTES);
        measured = measure_copy(to, from);
        if (measured < lowest_bandwidth) measured = lowest_bandwidth;
    } else {
        forget_memory_shortage();
    }
    free_memory(from);
    free_memory(to);
    return measured;
}

double get_copy_bandwidth(void)
{
    pthread_mutex_lock(&mutex);
    if (bandwidth == 0) bandwidth = measure_bandwidth();
    const double result = bandwidth > 0 ? bandwidth : lowest_bandwidth;
    pthread_mutex_unlock(&mutex);
    return result;
}
