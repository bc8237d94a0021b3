// SPDX-License-Identifier: Apache-2.0
// Deflated bytes (RFC 1951), as in zip files. stb_image decodes them; a build without it cannot.
#pragma once

#include <cstddef>
#include <string>

namespace tengine::tools {

// Decodes `deflated` to `size` bytes. Throws Failure when it has another number of bytes, and in a
// build without stb.
std::string inflate(const std::string& deflated, size_t size);

}  // namespace tengine::tools
