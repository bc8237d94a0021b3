// SPDX-License-Identifier: Apache-2.0
// The guarded mappings are in a list that a signal handler can read at any time: its nodes are
// never freed or moved, only used again.
#define _DEFAULT_SOURCE
#include "base/mapping_guard.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <sys/mman.h>
#include <sys/stat.h>

#include "base/alloc.h"

#define CHUNK_GUARDS 32

typedef struct guard
{
    atomic_uintptr_t begin;  // 0: the node is free
    atomic_size_t size;
    atomic_bool missed;  // a page was missing
    struct stat file;    // as it was when the file was mapped
    char* path;          // absolute; NULL: the file has no path any more
} guard_t;

typedef struct chunk
{
    guard_t guards[CHUNK_GUARDS];
    _Atomic(struct chunk*) next;
} chunk_t;

static chunk_t first_chunk;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;  // for writers
static int guard_num;
static struct sigaction handler_before;

// Returns the guard of the mapping that an address lies in. Async-signal-safe.
static guard_t* find_guard(uintptr_t address)
{
    for (chunk_t* chunk = &first_chunk; chunk; chunk = atomic_load(&chunk->next)) {
        for (int i = 0; i < CHUNK_GUARDS; ++i) {
            guard_t* guard = &chunk->guards[i];
            const uintptr_t begin = atomic_load(&guard->begin);
            if (begin != 0 && address - begin < atomic_load(&guard->size)) return guard;
        }
    }
    return NULL;
}

// Puts zeroes from the page of `address` to the end of the mapping: the pages after a missing page
// are missing, too.
static bool fill_missing(guard_t* guard, uintptr_t address)
{
    const uintptr_t page_bytes = (uintptr_t)sysconf(_SC_PAGESIZE);
    const uintptr_t page = address / page_bytes * page_bytes;
    const size_t size = atomic_load(&guard->begin) + atomic_load(&guard->size) - page;
    atomic_store(&guard->missed, true);
    return mmap((void*)page, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED,
                -1, 0) != MAP_FAILED;
}

static void pass_on(int signal_number, siginfo_t* info, void* context)
{
    if (handler_before.sa_flags & SA_SIGINFO) {
        handler_before.sa_sigaction(signal_number, info, context);
    } else if (handler_before.sa_handler != SIG_DFL && handler_before.sa_handler != SIG_IGN) {
        handler_before.sa_handler(signal_number);
    } else if (handler_before.sa_handler == SIG_DFL || info->si_code > 0) {
        // The default action follows once this handler returns, because the access faults again.
        signal(signal_number, SIG_DFL);
        if (info->si_code <= 0) raise(signal_number);
    }
}

static void handle(int signal_number, siginfo_t* info, void* context)
{
    const int error = errno;
    const uintptr_t address = (uintptr_t)info->si_addr;
    guard_t* guard = info->si_code == BUS_ADRERR ? find_guard(address) : NULL;
    if (!guard || !fill_missing(guard, address)) pass_on(signal_number, info, context);
    errno = error;
}

static int install_handler(void)
{
    struct sigaction action = {.sa_sigaction = handle, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    sigemptyset(&action.sa_mask);
    if (sigaction(SIGBUS, &action, &handler_before) == 0) return TENGINE_OK;
    return tengine_error_set(TENGINE_EIO, "cannot handle SIGBUS: %s", strerror(errno));
}

// Restores the handler before ours, but leaves a handler that the program has set meanwhile.
static void remove_handler(void)
{
    struct sigaction present;
    if (sigaction(SIGBUS, NULL, &present) != 0 || !(present.sa_flags & SA_SIGINFO) ||
        present.sa_sigaction != handle)
        return;
    sigaction(SIGBUS, &handler_before, NULL);
}

static guard_t* find_free(chunk_t** out_last)
{
    for (chunk_t* chunk = &first_chunk; chunk; chunk = atomic_load(&chunk->next)) {
        *out_last = chunk;
        for (int i = 0; i < CHUNK_GUARDS; ++i)
            if (atomic_load(&chunk->guards[i].begin) == 0) return &chunk->guards[i];
    }
    return NULL;
}

// Returns a free node. Chunks of nodes are never freed: the handler may be reading them.
static guard_t* take_free(void)
{
    chunk_t* last = NULL;
    guard_t* guard = find_free(&last);
    if (guard) return guard;
    chunk_t* chunk =
        mmap(NULL, sizeof *chunk, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (chunk == MAP_FAILED) return NULL;
    atomic_store(&last->next, chunk);
    return &chunk->guards[0];
}

// Stores the file's absolute path with all links resolved, because the program may change its
// working folder.
static int keep_path(int descriptor, char** out_path)
{
    char link[32], absolute[PATH_MAX];
    *out_path = NULL;
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    const ssize_t bytes = readlink(link, absolute, sizeof absolute);
    if (bytes < 0 || bytes == sizeof absolute) return TENGINE_OK;
    *out_path = alloc_memory((size_t)bytes + 1);
    if (!*out_path)
        return tengine_error_set(TENGINE_ENOMEM, "out of memory for the path of a mapped file");
    memcpy(*out_path, absolute, (size_t)bytes);
    (*out_path)[bytes] = '\0';
    return TENGINE_OK;
}

static int add_guard(void* bytes, size_t size, const struct stat* file, char* path)
{
    guard_t* guard = take_free();
    if (!guard)
        return tengine_error_set(TENGINE_ENOMEM, "out of memory while guarding a mapped file");
    if (guard_num == 0) TENGINE_RETURN_IF_ERROR(install_handler());
    ++guard_num;
    guard->file = *file;
    guard->path = path;
    atomic_store(&guard->missed, false);
    atomic_store(&guard->size, size);
    atomic_store(&guard->begin, (uintptr_t)bytes);
    return TENGINE_OK;
}

int guard_mapping(void* bytes, size_t size, int descriptor, const char* path)
{
    struct stat file;
    if (fstat(descriptor, &file) != 0)
        return tengine_error_set(TENGINE_EIO, "cannot read '%s': %s", path, strerror(errno));
    char* kept = NULL;
    TENGINE_RETURN_IF_ERROR(keep_path(descriptor, &kept));
    pthread_mutex_lock(&mutex);
    const int status = add_guard(bytes, size, &file, kept);
    pthread_mutex_unlock(&mutex);
    if (status < 0) free_memory(kept);
    return status;
}

void release_mapping_guard(const void* bytes)
{
    guard_t* guard = find_guard((uintptr_t)bytes);
    if (!guard) return;
    pthread_mutex_lock(&mutex);
    free_memory(guard->path);
    guard->path = NULL;
    atomic_store(&guard->begin, 0);
    if (--guard_num == 0) remove_handler();
    pthread_mutex_unlock(&mutex);
}

static bool has_changed(const guard_t* guard)
{
    struct stat now;
    if (atomic_load(&guard->missed)) return true;
    if (!guard->path || stat(guard->path, &now) != 0) return false;
    if (now.st_dev != guard->file.st_dev || now.st_ino != guard->file.st_ino) return false;
    return now.st_size != guard->file.st_size || now.st_mtim.tv_sec != guard->file.st_mtim.tv_sec ||
           now.st_mtim.tv_nsec != guard->file.st_mtim.tv_nsec;
}

int check_guarded_mapping(const void* bytes)
{
    const guard_t* guard = bytes ? find_guard((uintptr_t)bytes) : NULL;
    if (!guard || !has_changed(guard)) return TENGINE_OK;
    return tengine_error_set(
        TENGINE_EIO,
        "'%s' was changed in place after it was mapped: load the model again, and replace files "
        "with a rename or set the option model.map=0",
        guard->path ? guard->path : "a file of the model");
}
