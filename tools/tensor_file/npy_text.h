// SPDX-License-Identifier: Apache-2.0
// Strings in .npy files: NumPy's '<U5' has 5 characters of 4 bytes in each element, '|S5' 5 bytes.
// Zeros after the last other character do not belong to an element's string.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tengine::tools {

// Whether the type, without the byte order ("U5"), is one of these.
bool is_text_type(const std::string& type);

// `number` elements, as UTF-8. Throws Failure where there are fewer or more bytes, or a character
// that Unicode does not have.
std::vector<std::string> decode_texts(const std::string& type, std::string_view elements,
                                      size_t number);

// The elements; *out_type is their type ("U5"). Throws Failure for a string that is not UTF-8.
std::string encode_texts(const std::vector<std::string>& texts, std::string* out_type);

}  // namespace tengine::tools
