// SPDX-License-Identifier: Apache-2.0
// Files of tengine-tpu; see file.h.
#include "device/tpu/tool/file.h"

#include <memory>

#include "base/alloc.h"
#include "base/replace_file.h"
#include "base/small_file.h"
#include "device/tpu/tool/command.h"
#include "tengine/error.h"

namespace tengine::tpu {
namespace {

constexpr size_t kMaxBytes = size_t{1} << 31;

}  // namespace

void check(int status)
{
    if (status < 0) throw Failure(tengine_error_message());
}

std::string read_file(const std::string& path)
{
    char* bytes = nullptr;
    size_t size = 0;
    check(read_small_file(path.c_str(), "the file", kMaxBytes, &bytes, &size));
    const std::unique_ptr<char, void (*)(void*)> freed(bytes, free_memory);
    return {bytes, size};
}

void write_file(const std::string& path, const void* data, size_t size)
{
    check(replace_file(path.c_str(), data, size));
}

Program read_program(const std::string& path)
{
    const std::string content = read_file(path);
    Program program;
    if (load_program(reinterpret_cast<const uint8_t*>(content.data()), content.size(), &program) <
        0)
        throw Failure("'" + path + "': " + tengine_error_message());
    return program;
}

}  // namespace tengine::tpu
