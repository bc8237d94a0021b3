// SPDX-License-Identifier: Apache-2.0
// POSIX memory mappings. Copies are mapped from Linux's files in memory, so that a dropped page of
// theirs can be read again.
#define _GNU_SOURCE
#include "base/mapped_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "base/mapping_guard.h"

file_use_t parse_file_use(const char* text)
{
    if (strcmp(text, "0") == 0) return FILE_IS_READ;
    return strcmp(text, "1") == 0 ? FILE_IS_MAPPED : FILE_IS_COPIED_IF_SMALL;
}

static int fail_reading(const char* path)
{
    return tengine_error_set(TENGINE_EIO, "cannot read '%s': %s", path, strerror(errno));
}

int find_file_size(int descriptor, const char* path, size_t* out_size)
{
    struct stat info;
    if (fstat(descriptor, &info) != 0) return fail_reading(path);
    if (!S_ISREG(info.st_mode))
        return tengine_error_set(TENGINE_EIO, "'%s' is not a regular file", path);
    if (info.st_size == 0) return tengine_error_set(TENGINE_EFORMAT, "'%s' is empty", path);
    if ((uintmax_t)info.st_size > SIZE_MAX)
        return tengine_error_set(TENGINE_ELIMIT, "'%s' has %lld bytes, expected at most %zu", path,
                                 (long long)info.st_size, SIZE_MAX);
    *out_size = (size_t)info.st_size;
    return TENGINE_OK;
}

static int map_pages(int descriptor, size_t size, const char* path, bool writable,
                     mapped_file_t* out_file)
{
    void* bytes =
        mmap(NULL, size, PROT_READ | (writable ? PROT_WRITE : 0), MAP_PRIVATE, descriptor, 0);
    if (bytes == MAP_FAILED)
        return tengine_error_set(TENGINE_EIO, "cannot map '%s': %s", path, strerror(errno));
    *out_file = (mapped_file_t){bytes, size};
    return TENGINE_OK;
}

int map_open_file(int descriptor, const char* path, bool writable, mapped_file_t* out_file)
{
    *out_file = (mapped_file_t){NULL, 0};
    size_t size = 0;
    TENGINE_RETURN_IF_ERROR(find_file_size(descriptor, path, &size));
    TENGINE_RETURN_IF_ERROR(map_pages(descriptor, size, path, writable, out_file));
    const int status = guard_mapping(out_file->bytes, size, descriptor, path);
    if (status < 0) unmap_file(out_file);
    return status;
}

int check_mapped_file(const mapped_file_t* file)
{
    return check_guarded_mapping(file->bytes);
}

int open_to_read(const char* path, int* out_descriptor)
{
    // O_NONBLOCK: opening a pipe without a writer must not block.
    *out_descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (*out_descriptor >= 0) return TENGINE_OK;
    return tengine_error_set(TENGINE_EIO, "cannot open '%s': %s", path, strerror(errno));
}

int map_zeroes(size_t size, mapped_file_t* out_memory)
{
    void* bytes = mmap(NULL, size, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    *out_memory = (mapped_file_t){NULL, 0};
    if (bytes == MAP_FAILED)
        return tengine_error_set(TENGINE_ENOMEM, "out of memory for %zu bytes of zeroes", size);
    *out_memory = (mapped_file_t){bytes, size};
    return TENGINE_OK;
}

void unmap_file(mapped_file_t* file)
{
    if (file->bytes) {
        release_mapping_guard(file->bytes);
        munmap(file->bytes, file->size);
    }
    *file = (mapped_file_t){NULL, 0};
}

static int read_bytes(int descriptor, const char* path, const mapped_file_t* target)
{
    for (size_t done = 0; done < target->size;) {
        const ssize_t count = read(descriptor, target->bytes + done, target->size - done);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return fail_reading(path);
        if (count == 0)
            return tengine_error_set(TENGINE_EIO, "'%s': truncated: %zu bytes, expected %zu", path,
                                     done, target->size);
        done += (size_t)count;
    }
    return TENGINE_OK;
}

static bool is_same_time(const struct stat* one, const struct stat* other)
{
    return one->st_mtim.tv_sec == other->st_mtim.tv_sec &&
           one->st_mtim.tv_nsec == other->st_mtim.tv_nsec;
}

// Reads all bytes of an open file; fails when the file changes while it is read.
static int read_unchanged(int descriptor, const char* path, const mapped_file_t* target)
{
    struct stat before, after;
    if (fstat(descriptor, &before) != 0) return fail_reading(path);
    TENGINE_RETURN_IF_ERROR(read_bytes(descriptor, path, target));
    if (fstat(descriptor, &after) != 0) return fail_reading(path);
    if (after.st_size == before.st_size && is_same_time(&before, &after)) return TENGINE_OK;
    return tengine_error_set(TENGINE_EIO, "'%s': changed while it was read", path);
}

int read_open_file(int descriptor, const char* path, mapped_file_t* out_file)
{
    *out_file = (mapped_file_t){NULL, 0};
    size_t size = 0;
    TENGINE_RETURN_IF_ERROR(find_file_size(descriptor, path, &size));
    TENGINE_RETURN_IF_ERROR(map_zeroes(size, out_file));
    const int status = read_unchanged(descriptor, path, out_file);
    if (status < 0) unmap_file(out_file);
    return status;
}

int read_whole_file(const char* path, mapped_file_t* out_file)
{
    *out_file = (mapped_file_t){NULL, 0};
    int descriptor;
    TENGINE_RETURN_IF_ERROR(open_to_read(path, &descriptor));
    const int status = read_open_file(descriptor, path, out_file);
    close(descriptor);
    return status;
}

// `memory`: a file of `size` bytes that only this process has.
static int fill_copy(int descriptor, const char* path, int memory, size_t size)
{
    if (ftruncate(memory, (off_t)size) != 0) return fail_reading(path);
    void* bytes = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
    if (bytes == MAP_FAILED)
        return tengine_error_set(TENGINE_ENOMEM, "'%s': out of memory for a copy", path);
    const mapped_file_t target = {bytes, size};
    const int status = read_unchanged(descriptor, path, &target);
    munmap(bytes, size);
    return status;
}

// Whether the limit on the size of files permits a file in memory of this size. A signal ends the
// process that exceeds it.
static bool may_have_size(size_t size)
{
    struct rlimit limit;
    return getrlimit(RLIMIT_FSIZE, &limit) != 0 || size <= limit.rlim_cur;
}

int copy_open_file(int descriptor, const char* path, mapped_file_t* out_file)
{
    *out_file = (mapped_file_t){NULL, 0};
    size_t size = 0;
    TENGINE_RETURN_IF_ERROR(find_file_size(descriptor, path, &size));
    const int memory = may_have_size(size) ? memfd_create("model", MFD_CLOEXEC) : -1;
    if (memory < 0) return tengine_error_set(TENGINE_ENOTSUP, "no file in memory for '%s'", path);
    int status = fill_copy(descriptor, path, memory, size);
    if (status == TENGINE_OK) status = map_pages(memory, size, path, true, out_file);
    close(memory);
    return status;
}

void drop_mapped_bytes(const char* bytes, size_t size)
{
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    const uintptr_t begin = ((uintptr_t)bytes + page - 1) / page * page;
    const uintptr_t end = ((uintptr_t)bytes + size) / page * page;
    if (begin < end) madvise((void*)begin, end - begin, MADV_DONTNEED);
}

void copy_mapped_bytes(void* to, const char* bytes, size_t size)
{
    const size_t piece_bytes = (size_t)4 << 20;
    for (size_t done = 0; done < size; done += piece_bytes) {
        const size_t piece = size - done < piece_bytes ? size - done : piece_bytes;
        memcpy((char*)to + done, bytes + done, piece);
        drop_mapped_bytes(bytes + done, piece);
    }
}
