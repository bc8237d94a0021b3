// SPDX-License-Identifier: Apache-2.0
// Chooses the format by the ending of the file's name. The contract is in tensor_file.h.
#include "tensor_file/tensor_file.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <iterator>
#include <numeric>

#include "tengine/error.h"
#include "tengine/file.h"
#include "tengine/inspect.h"
#include "tensor_file/failure.h"
#include "tensor_file/npy.h"
#include "tensor_file/tensor_proto.h"

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the formats are read as they are");

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
    throw Failure("'" + path + "': expected a tensor file, .npy or .pb");
}

[[noreturn]] void fail_file(const std::string& path, const std::string& reason)
{
    throw Failure("'" + path + "': " + reason);
}

const std::string& standard_input()
{
    static const std::string content{std::istreambuf_iterator<char>(std::cin),
                                     std::istreambuf_iterator<char>()};
    return content;
}

}  // namespace

bool has_ending(const std::string& path, const std::string& ending)
{
    return path.size() > ending.size() &&
           path.compare(path.size() - ending.size(), ending.size(), ending) == 0;
}

// Opening a pipe without a writer would block forever.
void check_is_file(const std::string& path)
{
    std::error_code error;
    const std::filesystem::file_status status = std::filesystem::status(path, error);
    if (std::filesystem::is_directory(status)) fail_file(path, "is a folder, expected a file");
    if (std::filesystem::is_other(status))
        fail_file(path, "is a pipe or a device, expected a file, or - for standard input");
}

std::string read_file(const std::string& path)
{
    if (path == "-") return standard_input();
    check_is_file(path);
    errno = 0;
    std::ifstream stream(path, std::ios::binary);
    if (!stream) fail_file(path, std::string("cannot be opened: ") + std::strerror(errno));
    std::string content{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
    if (stream.bad()) fail_file(path, "cannot be read");
    return content;
}

void write_file(const std::string& path, const std::string& content)
{
    if (tengine_file_replace(path.c_str(), content.data(), content.size()) < 0)
        throw Failure(tengine_error_message());
}

std::string put_file(const std::string& folder, const std::string& name, const std::string& content)
{
    const std::string place = folder.empty() ? "." : folder;
    if (tengine_file_put(place.c_str(), name.c_str(), content.data(), content.size()) < 0)
        throw Failure(tengine_error_message());
    return (std::filesystem::path(folder) / name).string();
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

std::string put_tensor(const std::string& folder, const std::string& name, const Tensor& tensor)
{
    return put_file(folder, name, format_of(name).encode(tensor));
}

Tensor decode_raw(const std::string& content, int data_type, const std::vector<int>& shape)
{
    if (data_type == TENGINE_DT_STRING)
        throw Failure("strings have no raw form: expected .npy ('<U8' or '|S8') or .pb");
    std::vector<int64_t> dims(shape.begin(), shape.end());
    const auto open = std::find(dims.begin(), dims.end(), -1);
    const bool is_open = open != dims.end();
    if (is_open) *open = 1;
    const size_t wanted = count_tensor_bytes(data_type, dims);
    const auto elements =
        std::accumulate(dims.begin(), dims.end(), int64_t{1}, std::multiplies<>());
    const auto bits = elements * tengine_data_type_get_bits(data_type);
    if (is_open && wanted != 0) *open = static_cast<int64_t>(content.size()) * 8 / bits;
    if (content.size() != count_tensor_bytes(data_type, dims))
        throw Failure("there are " + std::to_string(content.size()) + " bytes; " +
                      tengine_data_type_get_name(data_type) + " of shape " + shape_text(shape) +
                      (is_open ? " takes a multiple of " : " takes ") + std::to_string(wanted));
    return make_tensor(data_type, dims, content);
}

}  // namespace tengine::tools
