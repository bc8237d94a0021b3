// SPDX-License-Identifier: Apache-2.0
// Cores, clusters and caches from the kernel. The contract is in cpu.h; instruction sets are in
// cpu_feature.c.
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cpu.h"

enum
{
    MASK_CORES = 64,       // cores a uint64_t can name
    KERNEL_CORES = 16384,  // more than any kernel is built for
    CACHE_LEVELS = 3,
    CACHE_INDEXES = 8  // caches sysfs may list for a core
};

// The kernel's bit string of the cores that the calling thread may run on. It grows with the
// machine, so that the fixed cpu_set_t may be too small.
typedef union core_set
{
    cpu_set_t set;
    unsigned char bits[KERNEL_CORES / 8];
} core_set_t;

static bool read_core_set(core_set_t* out_cores)
{
    memset(out_cores, 0, sizeof *out_cores);
    return sched_getaffinity(0, sizeof *out_cores, &out_cores->set) == 0;
}

int get_cpu_count(void)
{
    core_set_t cores;
    if (read_core_set(&cores)) {
        const int count = CPU_COUNT_S(sizeof cores, &cores.set);
        if (count > 0) return count;
    }
    const long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online > 0 ? (int)online : 1;
}

static uint64_t get_usable_mask(void)
{
    core_set_t cores;
    uint64_t mask = 0;
    if (read_core_set(&cores)) {
        for (int core = 0; core < MASK_CORES; ++core) {
            if (CPU_ISSET_S(core, sizeof cores, &cores.set)) mask |= UINT64_C(1) << core;
        }
    }
    return mask != 0 ? mask : UINT64_MAX;
}

// The first line of a file of sysfs without its newline; false when there is none.
static bool read_line(const char* path, char* line, size_t size)
{
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return false;
    const ssize_t length = read(file, line, size - 1);
    close(file);
    if (length <= 0) return false;
    line[length] = '\0';
    line[strcspn(line, "\n")] = '\0';
    return true;
}

// Frequencies of equal cores may differ a little in their highest turbo step or by production
// spread.
static bool is_close(uint64_t lower, uint64_t higher)
{
    return lower >= higher - higher / 10;
}

uint64_t select_cluster(const uint64_t* frequencies, int cpu_num, uint64_t usable, int cluster)
{
    uint64_t highest = 0;
    uint64_t lowest = UINT64_MAX;
    for (int core = 0; core < cpu_num; ++core) {
        if (frequencies[core] == 0) continue;
        if (frequencies[core] > highest) highest = frequencies[core];
        if (frequencies[core] < lowest) lowest = frequencies[core];
    }
    uint64_t mask = 0;
    for (int core = 0; core < cpu_num && core < MASK_CORES; ++core) {
        if (frequencies[core] == 0) continue;
        const bool is_big = is_close(frequencies[core], highest);
        const bool is_little = is_close(lowest, frequencies[core]);
        if ((cluster == CPU_CLUSTER_BIG && is_big) ||
            (cluster == CPU_CLUSTER_LITTLE && is_little) ||
            (cluster == CPU_CLUSTER_MEDIUM && !is_big && !is_little)) {
            mask |= UINT64_C(1) << core;
        }
    }
    return (mask & usable) != 0 ? mask & usable : usable;
}

// Frequencies of cores are read once: they do not change, and reading them takes longer than
// preparing a graph may.
static uint64_t core_frequencies[MASK_CORES];

static void read_frequencies(void)
{
    for (int core = 0; core < MASK_CORES; ++core) {
        char path[80];
        char line[32];
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/cpufreq/cpuinfo_max_freq", core);
        core_frequencies[core] = read_line(path, line, sizeof line) ? strtoull(line, NULL, 10) : 0;
    }
}

static uint64_t find_cluster(int cluster, uint64_t usable)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, read_frequencies);
    return select_cluster(core_frequencies, MASK_CORES, usable, cluster);
}

uint64_t get_cluster_mask(int cluster)
{
    return find_cluster(cluster, get_usable_mask());
}

// "48K" or "2M" in bytes.
static size_t parse_size(const char* text)
{
    char* unit;
    const size_t number = (size_t)strtoull(text, &unit, 10);
    if (*unit == 'K') return number << 10;
    if (*unit == 'M') return number << 20;
    if (*unit == 'G') return number << 30;
    return number;
}

// Reads one file of /sys/devices/system/cpu/cpuN/cache/indexM/.
static bool read_cache_field(int core, int index, const char* field, char* line, size_t size)
{
    char path[96];
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/cache/index%d/%s", core, index,
             field);
    return read_line(path, line, size);
}

static cpu_cache_size_t cache_size;

static void read_cache_size(void)
{
    const int core = __builtin_ctzll(find_cluster(CPU_CLUSTER_BIG, UINT64_MAX));
    size_t sizes[CACHE_LEVELS] = {0};
    for (int index = 0; index < CACHE_INDEXES; ++index) {
        char level[16];
        char type[32];
        char size[32];
        if (!read_cache_field(core, index, "level", level, sizeof level) ||
            !read_cache_field(core, index, "type", type, sizeof type) ||
            !read_cache_field(core, index, "size", size, sizeof size)) {
            break;
        }
        const int number = atoi(level);
        if (number < 1 || number > CACHE_LEVELS || strcmp(type, "Instruction") == 0) continue;
        sizes[number - 1] = parse_size(size);
    }
    cache_size = sizes[0] == 0 ? (cpu_cache_size_t){32 << 10, 256 << 10, 1 << 20}
                               : (cpu_cache_size_t){sizes[0], sizes[1], sizes[2]};
}

cpu_cache_size_t get_cpu_cache_size(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, read_cache_size);
    return cache_size;
}
