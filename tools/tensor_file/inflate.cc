// SPDX-License-Identifier: Apache-2.0
// The decoder that stb_image has for PNG, private to this file.
#include "tensor_file/inflate.h"

#include <climits>

#include "tensor_file/failure.h"

#define STB_IMAGE_STATIC
#define STB_IMAGE_IMPLEMENTATION
#define STBI_ONLY_PNG
#define STBI_NO_STDIO
#define STBI_NO_LINEAR
#include <stb_image.h>

namespace tengine::tools {
namespace {

// stb 2.27 refuses a last code that ends less than 16 bits before the end. In a PNG a checksum
// follows; deflated bytes contain their end, so that later bytes are ignored.
constexpr size_t kPadding = 4;

// The most bytes that a bit of deflate can encode: a length of 258 in two bits.
constexpr size_t kMostRatio = 1032;

}  // namespace

std::string inflate(const std::string& deflated, size_t size)
{
    if (size / kMostRatio > deflated.size() || size > INT_MAX ||
        deflated.size() > INT_MAX - kPadding)
        throw Failure("it is compressed and cannot hold " + std::to_string(size) + " bytes");
    std::string bytes(size, '\0');
    const std::string padded = deflated + std::string(kPadding, '\0');
    const int number = stbi_zlib_decode_noheader_buffer(
        bytes.data(), static_cast<int>(size), padded.data(), static_cast<int>(padded.size()));
    if (number < 0 || static_cast<size_t>(number) != size)
        throw Failure("its compressed bytes are damaged");
    return bytes;
}

}  // namespace tengine::tools
