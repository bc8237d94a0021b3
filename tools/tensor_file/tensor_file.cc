// SPDX-License-Identifier: Apache-2.0
// Chooses the format by the ending of the file's name. The contract is in tensor_file.h.
#include "tensor_file/tensor_file.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>

#include "tensor_file/failure.h"
#include "tensor_file/npy.h"
#include "tensor_file/tensor_proto.h"

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "both formats are read as they are");

namespace tengine::tools {
namespace {

struct Format
{
    const char* ending;
    Tensor (*decode)(const std::string& content);
    std::string (*encode)(const Tensor& tensor);
};

constexpr Format kFormats[] = {
    {".npy", decode_npy, encode_npy},
    {".pb", decode_tensor_proto, encode_tensor_proto},
};

const Format& format_of(const std::string& path)
{
    for (const Format& format : kFormats) {
        if (has_ending(path, format.ending)) return format;
    }
    throw Failure("'" + path + "' has none of the endings of tensor files: .npy, .pb");
}

[[noreturn]] void fail_file(const std::string& path, const std::string& reason)
{
    throw Failure("'" + path + "': " + reason);
}

}  // namespace

bool has_ending(const std::string& path, const std::string& ending)
{
    return path.size() > ending.size() &&
           path.compare(path.size() - ending.size(), ending.size(), ending) == 0;
}

std::string read_file(const std::string& path)
{
    errno = 0;
    std::ifstream stream(path, std::ios::binary);
    if (!stream) fail_file(path, std::string("cannot be opened: ") + std::strerror(errno));
    std::string content{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
    if (stream.bad()) fail_file(path, "cannot be read");
    return content;
}

void write_file(const std::string& path, const std::string& content)
{
    errno = 0;
    std::ofstream stream(path, std::ios::binary | std::ios::trunc);
    if (!stream) fail_file(path, std::string("cannot be written: ") + std::strerror(errno));
    stream.write(content.data(), static_cast<std::streamsize>(content.size()));
    stream.close();
    if (!stream) fail_file(path, std::string("cannot be written: ") + std::strerror(errno));
}

Tensor read_tensor(const std::string& path)
{
    const Format& format = format_of(path);
    const std::string content = read_file(path);
    try {
        return format.decode(content);
    } catch (const Failure& failure) {
        fail_file(path, failure.what());
    }
}

void write_tensor(const std::string& path, const Tensor& tensor)
{
    write_file(path, format_of(path).encode(tensor));
}

}  // namespace tengine::tools
