// SPDX-License-Identifier: Apache-2.0
// See elf_file.h.
#define _POSIX_C_SOURCE 200809L  // pread()
#include "base/elf_file.h"

#include <fcntl.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <sys/stat.h>

#include "tengine/error.h"

#if __SIZEOF_POINTER__ == 8
#define NATIVE_CLASS ELFCLASS64
#else
#define NATIVE_CLASS ELFCLASS32
#endif

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define NATIVE_ORDER ELFDATA2LSB
#else
#define NATIVE_ORDER ELFDATA2MSB
#endif

// Returns the offset after `size` bytes at `offset`, or UINT64_MAX when it would wrap.
static uint64_t end_of(uint64_t offset, uint64_t size)
{
    uint64_t end;
    return __builtin_add_overflow(offset, size, &end) ? UINT64_MAX : end;
}

static bool read_at(int file, uint64_t offset, void* out_bytes, size_t size)
{
    return offset <= INT64_MAX && pread(file, out_bytes, size, (off_t)offset) == (ssize_t)size;
}

static bool is_native(const ElfW(Ehdr) * header)
{
    return memcmp(header->e_ident, ELFMAG, SELFMAG) == 0 &&
           header->e_ident[EI_CLASS] == NATIVE_CLASS && header->e_ident[EI_DATA] == NATIVE_ORDER &&
           header->e_phentsize == sizeof(ElfW(Phdr));
}

// Returns the number of bytes that the headers state.
static uint64_t count_bytes(int file, const ElfW(Ehdr) * header, uint64_t size)
{
    uint64_t needed = end_of(header->e_phoff, (uint64_t)header->e_phnum * header->e_phentsize);
    const uint64_t sections =
        end_of(header->e_shoff, (uint64_t)header->e_shnum * header->e_shentsize);
    if (header->e_shoff > 0 && sections > needed) needed = sections;
    for (int i = 0; i < header->e_phnum && needed <= size; ++i) {
        ElfW(Phdr) segment;
        const uint64_t place = header->e_phoff + (uint64_t)i * sizeof segment;
        if (!read_at(file, place, &segment, sizeof segment)) return place + sizeof segment;
        const uint64_t end = end_of(segment.p_offset, segment.p_filesz);
        if (segment.p_type != PT_NULL && end > needed) needed = end;
    }
    return needed;
}

static int check_size(int file, const char* path)
{
    ElfW(Ehdr) header;
    struct stat info;
    if (fstat(file, &info) < 0 || !read_at(file, 0, &header, sizeof header) || !is_native(&header))
        return TENGINE_OK;
    const uint64_t size = (uint64_t)info.st_size;
    const uint64_t needed = count_bytes(file, &header, size);
    if (needed <= size) return TENGINE_OK;
    return tengine_error_set(TENGINE_EIO,
                             "%s: the file is truncated: %llu bytes, expected %llu by its headers",
                             path, (unsigned long long)size, (unsigned long long)needed);
}

int check_elf_file(const char* path)
{
    const int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0) return TENGINE_OK;
    const int status = check_size(file, path);
    close(file);
    return status;
}
