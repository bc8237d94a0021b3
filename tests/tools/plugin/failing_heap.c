// SPDX-License-Identifier: Apache-2.0
// For LD_PRELOAD: allocation number FAIL_AT of the program fails, and with FAIL_ON set all later
// ones. Allocations are counted from main on: earlier ones are in constructors, which no program
// can guard. At the end the heap writes the number of allocations to the file FAIL_COUNT. It
// replaces the functions by which the program's own malloc gets memory from glibc.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#define EXPORT __attribute__((visibility("default")))

typedef int main_t(int, char**, char**);
typedef int start_t(main_t*, int, char**, void (*)(void), void (*)(void), void (*)(void), void*);

static main_t* program_main;
static int counts;
static long number;

static int counted_main(int argc, char** argv, char** environment)
{
    counts = 1;
    return program_main(argc, argv, environment);
}

// glibc's function that starts the program.
EXPORT int __libc_start_main(main_t* main, int argc, char** argv, void (*init)(void),
                             void (*fini)(void), void (*linker_fini)(void), void* stack_end)
{
    start_t* next;
    *(void**)&next = dlsym(RTLD_NEXT, "__libc_start_main");
    program_main = main;
    return next(counted_main, argc, argv, init, fini, linker_fini, stack_end);
}

static int fails(void)
{
    if (!counts) return 0;
    static long at = -1;
    static int goes_on;
    if (at < 0) {
        at = getenv("FAIL_AT") ? atol(getenv("FAIL_AT")) : 0;
        goes_on = getenv("FAIL_ON") != NULL;
    }
    const long mine = __atomic_add_fetch(&number, 1, __ATOMIC_RELAXED);
    if (at == 0 || mine < at || (mine > at && !goes_on)) return 0;
    errno = ENOMEM;
    return 1;
}

EXPORT void* __libc_malloc(size_t size)
{
    static void* (*next)(size_t);
    if (!next) *(void**)&next = dlsym(RTLD_NEXT, "__libc_malloc");
    return fails() ? NULL : next(size);
}

EXPORT void* __libc_calloc(size_t count, size_t size)
{
    static void* (*next)(size_t, size_t);
    if (!next) *(void**)&next = dlsym(RTLD_NEXT, "__libc_calloc");
    return fails() ? NULL : next(count, size);
}

EXPORT void* __libc_realloc(void* block, size_t size)
{
    static void* (*next)(void*, size_t);
    if (!next) *(void**)&next = dlsym(RTLD_NEXT, "__libc_realloc");
    return fails() ? NULL : next(block, size);
}

EXPORT void* __libc_memalign(size_t alignment, size_t size)
{
    static void* (*next)(size_t, size_t);
    if (!next) *(void**)&next = dlsym(RTLD_NEXT, "__libc_memalign");
    return fails() ? NULL : next(alignment, size);
}

__attribute__((destructor)) static void write_number(void)
{
    const char* path = getenv("FAIL_COUNT");
    FILE* file = path ? fopen(path, "w") : NULL;
    if (!file) return;
    fprintf(file, "%ld\n", number);
    fclose(file);
}
