// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <string_view>

#include "base/containers.hpp"
#include "tengine/error.h"

namespace tengine {

// Returns the text that printf prints, of any length. A call is much less code than a sum of
// strings.
[[gnu::noinline]] TENGINE_PRINTF(1, 2) inline String print_text(const char* format, ...)
{
    va_list values, again;
    va_start(values, format);
    va_copy(again, values);
    String text(static_cast<size_t>(std::vsnprintf(nullptr, 0, format, values)), '\0');
    std::vsnprintf(text.data(), text.size() + 1, format, again);
    va_end(again);
    va_end(values);
    return text;
}

// A name from a file for messages: without control characters, in quotes.
[[gnu::noinline]] inline String quote(std::string_view name)
{
    constexpr size_t kMaxLength = 100;
    String result;
    result.reserve(std::min(name.size(), kMaxLength) + 5);
    result += '\'';
    for (const char letter : name.substr(0, kMaxLength)) {
        const auto code = static_cast<unsigned char>(letter);
        result += code < 0x20 || code == 0x7f ? '?' : letter;
    }
    return result + (name.size() > kMaxLength ? "...'" : "'");
}

}  // namespace tengine
