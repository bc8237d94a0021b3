// SPDX-License-Identifier: Apache-2.0
// POSIX memory mappings.
#define _DEFAULT_SOURCE
#include "base/mapped_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <sys/mman.h>
#include <sys/stat.h>

static int fail_reading(const char* path)
{
    return tengine_error_set(TENGINE_EIO, "cannot read '%s': %s", path, strerror(errno));
}

static int find_size(int descriptor, const char* path, size_t* out_size)
{
    struct stat info;
    if (fstat(descriptor, &info) != 0) return fail_reading(path);
    if (!S_ISREG(info.st_mode))
        return tengine_error_set(TENGINE_EIO, "'%s' is not a regular file", path);
    if (info.st_size == 0) return tengine_error_set(TENGINE_EFORMAT, "'%s' is empty", path);
    if ((uintmax_t)info.st_size > SIZE_MAX)
        return tengine_error_set(TENGINE_ELIMIT, "'%s' has %lld bytes, too many to map", path,
                                 (long long)info.st_size);
    *out_size = (size_t)info.st_size;
    return TENGINE_OK;
}

int map_open_file(int descriptor, const char* path, bool writable, mapped_file_t* out_file)
{
    *out_file = (mapped_file_t){NULL, 0};
    size_t size = 0;
    TENGINE_RETURN_IF_ERROR(find_size(descriptor, path, &size));
    void* bytes =
        mmap(NULL, size, PROT_READ | (writable ? PROT_WRITE : 0), MAP_PRIVATE, descriptor, 0);
    if (bytes == MAP_FAILED)
        return tengine_error_set(TENGINE_EIO, "cannot map '%s': %s", path, strerror(errno));
    *out_file = (mapped_file_t){bytes, size};
    return TENGINE_OK;
}

static int open_file(const char* path, int* out_descriptor)
{
    // O_NONBLOCK: opening a pipe without a writer must not block.
    *out_descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (*out_descriptor >= 0) return TENGINE_OK;
    return tengine_error_set(TENGINE_EIO, "cannot open '%s': %s", path, strerror(errno));
}

int map_file(const char* path, bool writable, mapped_file_t* out_file)
{
    *out_file = (mapped_file_t){NULL, 0};
    int descriptor;
    TENGINE_RETURN_IF_ERROR(open_file(path, &descriptor));
    const int status = map_open_file(descriptor, path, writable, out_file);
    close(descriptor);
    return status;
}

int map_zeroes(size_t size, mapped_file_t* out_memory)
{
    void* bytes = mmap(NULL, size, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    *out_memory = (mapped_file_t){NULL, 0};
    if (bytes == MAP_FAILED)
        return tengine_error_set(TENGINE_ENOMEM, "no memory for %zu bytes of zeroes", size);
    *out_memory = (mapped_file_t){bytes, size};
    return TENGINE_OK;
}

void unmap_file(mapped_file_t* file)
{
    if (file->bytes) munmap(file->bytes, file->size);
    *file = (mapped_file_t){NULL, 0};
}

static int read_bytes(int descriptor, const char* path, const mapped_file_t* target)
{
    for (size_t done = 0; done < target->size;) {
        const ssize_t count = read(descriptor, target->bytes + done, target->size - done);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return fail_reading(path);
        if (count == 0)
            return tengine_error_set(TENGINE_EIO,
                                     "cannot read '%s': it was truncated to %zu of %zu bytes", path,
                                     done, target->size);
        done += (size_t)count;
    }
    return TENGINE_OK;
}

int read_whole_file(const char* path, mapped_file_t* out_file)
{
    *out_file = (mapped_file_t){NULL, 0};
    int descriptor;
    TENGINE_RETURN_IF_ERROR(open_file(path, &descriptor));
    size_t size = 0;
    int status = find_size(descriptor, path, &size);
    if (status == TENGINE_OK) status = map_zeroes(size, out_file);
    if (status == TENGINE_OK) status = read_bytes(descriptor, path, out_file);
    close(descriptor);
    if (status < 0) unmap_file(out_file);
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
