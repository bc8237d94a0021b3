// SPDX-License-Identifier: Apache-2.0
// Deflated bytes (RFC 1951), as zip files have them. stb_image decodes them; without it nothing
// does.
#pragma once

#include <cstddef>
#include <string>

namespace tengine::tools {

// The `size` bytes that `deflated` stands for. Throws Failure when it does not, and in a build
// without stb.
std::string inflate(const std::string& deflated, size_t size);

}  // namespace tengine::tools
