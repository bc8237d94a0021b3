// SPDX-License-Identifier: Apache-2.0
// base/utf8.h: every code point as RFC 3629 encodes it, and invalid sequences.
#include "base/utf8.h"

#include <gtest/gtest.h>
#include <string>

namespace tengine {
namespace {

constexpr unsigned kMost = 0x10FFFF;

// Encodes in `length` bytes, even if fewer suffice.
std::string encode(unsigned code, size_t length)
{
    if (length == 1) return std::string(1, static_cast<char>(code));
    std::string bytes(length, '\0');
    for (size_t i = length - 1; i > 0; --i, code >>= 6)
        bytes[i] = static_cast<char>(0x80 | (code & 0x3F));
    bytes[0] = static_cast<char>((0xF00 >> length) & 0xFF) | static_cast<char>(code);
    return bytes;
}

size_t length_of(unsigned code)
{
    return code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
}

bool is_character(unsigned code)
{
    return code <= kMost && (code < 0xD800 || code > 0xDFFF);
}

size_t measure(const std::string& bytes)
{
    return measure_utf8_character(bytes.data(), bytes.size());
}

TEST(Utf8, MeasuresEachCharacter)
{
    for (unsigned code = 0; code < 0x200000; ++code) {
        const size_t length = length_of(code);
        const std::string bytes = encode(code, length);
        const size_t expected = is_character(code) ? length : 0;
        ASSERT_EQ(measure(bytes), expected) << std::hex << code;
        ASSERT_EQ(measure(bytes + "\x80"), expected) << std::hex << code << " and more";
    }
}

TEST(Utf8, RefusesWhatIsLongerThanItNeedsToBe)
{
    for (size_t length = 2; length <= 4; ++length)
        for (unsigned code = 0; length_of(code) < length; ++code)
            ASSERT_EQ(measure(encode(code, length)), 0u) << std::hex << code << " in " << length;
}

TEST(Utf8, RefusesWhatIsCutOrInterrupted)
{
    for (const unsigned code : {0x80u, 0x7FFu, 0x800u, 0xFFFFu, 0x10000u, kMost}) {
        const std::string whole = encode(code, length_of(code));
        for (size_t i = 1; i < whole.size(); ++i) {
            EXPECT_EQ(measure(whole.substr(0, i)), 0u) << std::hex << code << " cut at " << i;
            for (const char other : {'\x7F', '\xC0'}) {
                std::string bytes = whole;
                bytes[i] = other;
                EXPECT_EQ(measure(bytes), 0u) << std::hex << code << " with another byte at " << i;
            }
        }
    }
}

TEST(Utf8, RefusesBytesThatBeginNoCharacter)
{
    for (int first = 0x80; first <= 0xFF; ++first) {
        if (first >= 0xC2 && first <= 0xF4) continue;
        EXPECT_EQ(measure(static_cast<char>(first) + std::string(5, '\x80')), 0u) << first;
    }
}

}  // namespace
}  // namespace tengine
