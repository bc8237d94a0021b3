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
    COPY_NUM = 4           // the fastest counts; the first also maps the pages
};

// What the slowest boards with an operating system reach.
static const double lowest_bandwidth = 5e8;

static pthread_once_t measurement = PTHREAD_ONCE_INIT;
static double bandwidth;

static double measure_copy(void* to, const void* from)
{
    uint64_t best_ns = UINT64_MAX;
    for (int i = 0; i < COPY_NUM; i++) {
        const uint64_t start = get_time_ns();
        memcpy(to, from, COPY_BYTES);
        // The compiler must believe that somebody reads the copy.
        __asm__ volatile("" : : "r"(to) : "memory");
        const uint64_t ns = get_time_ns() - start;
        if (ns < best_ns) best_ns = ns;
    }
    return COPY_BYTES * 1e9 / (double)(best_ns > 0 ? best_ns : 1);
}

static void measure_once(void)
{
    void* from = alloc_memory(COPY_BYTES);
    void* to = alloc_memory(COPY_BYTES);
    bandwidth = lowest_bandwidth;
    if (from != NULL && to != NULL) {
        // Pages nobody has written are all the same one.
        memset(from, 1, COPY_BYTES);
        const double measured = measure_copy(to, from);
        if (measured > bandwidth) bandwidth = measured;
    }
    free_memory(from);
    free_memory(to);
}

double get_copy_bandwidth(void)
{
    pthread_once(&measurement, measure_once);
    return bandwidth;
}
