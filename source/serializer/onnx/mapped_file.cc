// SPDX-License-Identifier: Apache-2.0
// POSIX file mapping.
#include "serializer/onnx/mapped_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include <cstdint>
#include <sys/mman.h>
#include <sys/stat.h>

namespace tengine {

MappedFile::~MappedFile()
{
    if (!bytes_.empty()) munmap(const_cast<char*>(bytes_.data()), bytes_.size());
}

int MappedFile::open(const char* path)
{
    // O_NONBLOCK: opening a pipe that nobody writes to must not wait.
    const int descriptor = ::open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor < 0)
        return tengine_error_set(TENGINE_EIO, "cannot open '%s': %s", path, strerror(errno));
    const int status = map(descriptor, path);
    ::close(descriptor);
    return status;
}

int MappedFile::map(int descriptor, const char* path)
{
    struct stat info;
    if (fstat(descriptor, &info) != 0)
        return tengine_error_set(TENGINE_EIO, "cannot read '%s': %s", path, strerror(errno));
    if (!S_ISREG(info.st_mode))
        return tengine_error_set(TENGINE_EIO, "'%s' is not a regular file", path);
    if (info.st_size == 0) return tengine_error_set(TENGINE_EFORMAT, "'%s' is empty", path);
    if (info.st_size > INT_MAX)
        return tengine_error_set(TENGINE_ELIMIT,
                                 "'%s' has %lld bytes; protobuf, and so an ONNX file, ends at %d: "
                                 "save the weights as external data",
                                 path, static_cast<long long>(info.st_size), INT_MAX);
    const auto size = static_cast<size_t>(info.st_size);
    void* address = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor, 0);
    if (address == MAP_FAILED)
        return tengine_error_set(TENGINE_EIO, "cannot map '%s': %s", path, strerror(errno));
    bytes_ = Bytes(static_cast<const char*>(address), size);
    return TENGINE_OK;
}

void MappedFile::drop(Bytes part) const
{
    const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
    const auto begin = (reinterpret_cast<uintptr_t>(part.data()) + page - 1) / page * page;
    const auto end = reinterpret_cast<uintptr_t>(part.data() + part.size()) / page * page;
    if (begin < end) madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
}

}  // namespace tengine
