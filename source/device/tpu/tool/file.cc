// SPDX-License-Identifier: Apache-2.0
// Files of tengine-tpu; see file.h.
#include "device/tpu/tool/file.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include "device/tpu/tool/command.h"
#include "tengine/error.h"

namespace tengine::tpu {
namespace {

constexpr size_t kMaxBytes = size_t{1}
                             << 31;  // of a file, as devices such as /dev/zero have no end

using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

[[noreturn]] void fail(const std::string& path, const std::string& reason)
{
    throw Failure("'" + path + "': " + reason);
}

}  // namespace

void check(int status)
{
    if (status < 0) throw Failure(tengine_error_message());
}

std::string read_file(const std::string& path)
{
    const File file(std::fopen(path.c_str(), "rb"), std::fclose);
    if (!file) fail(path, std::strerror(errno));
    std::string content;
    char block[65536];
    while (const size_t size = std::fread(block, 1, sizeof block, file.get()))
        if (content.append(block, size).size() > kMaxBytes)
            fail(path, "it is larger than " + std::to_string(kMaxBytes) + " bytes");
    if (std::ferror(file.get())) fail(path, std::strerror(errno));
    return content;
}

void write_file(const std::string& path, const void* data, size_t size)
{
    File file(std::fopen(path.c_str(), "wb"), std::fclose);
    if (!file) fail(path, std::strerror(errno));
    const bool is_written = std::fwrite(data, 1, size, file.get()) == size;
    if (!is_written || std::fclose(file.release()) != 0) fail(path, std::strerror(errno));
}

Program read_program(const std::string& path)
{
    const std::string content = read_file(path);
    Program program;
    if (load_program(reinterpret_cast<const uint8_t*>(content.data()), content.size(), &program) <
        0)
        fail(path, tengine_error_message());
    return program;
}

}  // namespace tengine::tpu
