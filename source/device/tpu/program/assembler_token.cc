// SPDX-License-Identifier: Apache-2.0
// Words and numbers of assembler text; see assembler_token.h.
#include "device/tpu/program/assembler_token.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <limits>

namespace tengine::tpu {
namespace {

int hex_digit(char letter)
{
    if (letter >= '0' && letter <= '9') return letter - '0';
    if (letter >= 'a' && letter <= 'f') return letter - 'a' + 10;
    return letter >= 'A' && letter <= 'F' ? letter - 'A' + 10 : -1;
}

}  // namespace

bool split_line(std::string_view line, std::vector<Token>* out_tokens)
{
    out_tokens->clear();
    for (size_t i = 0;;) {
        i = line.find_first_not_of(" \t\r", i);
        if (i == std::string_view::npos || line[i] == '#') return true;
        const bool is_string = line[i] == '"';
        size_t end = i;
        if (is_string) {
            for (end = ++i; end < line.size() && line[end] != '"'; ++end)
                end += line[end] == '\\';
            if (end >= line.size()) return false;
        } else {
            end = std::min(line.find_first_of(" \t\r#\"", i), line.size());
        }
        out_tokens->push_back({line.substr(i, end - i), is_string});
        i = end + is_string;
    }
}

bool unescape(std::string_view text, std::string* out_text)
{
    for (size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '\\' || text[++i] != 'x') {
            out_text->push_back(text[i]);
            continue;
        }
        const int byte = hex_byte(text.substr(i + 1));
        if (byte < 0) return false;
        out_text->push_back(static_cast<char>(byte));
        i += 2;
    }
    return true;
}

bool parse_number(std::string_view text, Number* out_number)
{
    out_number->is_negative = !text.empty() && text[0] == '-';
    if (out_number->is_negative) text.remove_prefix(1);
    const int base = text.substr(0, 2) == "0x" ? 16 : 10;
    if (base == 16) text.remove_prefix(2);
    const char* end = text.data() + text.size();
    const auto result = std::from_chars(text.data(), end, out_number->magnitude, base);
    return !text.empty() && result.ec == std::errc() && result.ptr == end;
}

bool number_bits(const Number& number, int bytes, bool is_signed, uint64_t* out_bits)
{
    const int value_bits = 8 * bytes - (is_signed ? 1 : 0);
    const uint64_t highest =
        value_bits == 64 ? std::numeric_limits<uint64_t>::max() : (uint64_t{1} << value_bits) - 1;
    const uint64_t lowest_magnitude = is_signed ? highest + 1 : 0;
    *out_bits = number.is_negative ? ~number.magnitude + 1 : number.magnitude;
    return number.magnitude <= (number.is_negative ? lowest_magnitude : highest);
}

bool parse_unsigned(std::string_view text, uint64_t* out_value)
{
    Number number;
    return parse_number(text, &number) && number_bits(number, 8, false, out_value);
}

bool parse_real(std::string_view text, uint64_t* out_bits)
{
    Number number;
    if (text.substr(0, 2) == "0x")
        return parse_number(text, &number) && number_bits(number, 4, false, out_bits);
    float value = 0;
    const char* end = text.data() + text.size();
    const auto result = std::from_chars(text.data(), end, value);
    uint32_t bits = 0;
    std::memcpy(&bits, &value, sizeof bits);
    *out_bits = bits;
    return !text.empty() && result.ec == std::errc() && result.ptr == end;
}

int hex_byte(std::string_view digits)
{
    if (digits.size() < 2) return -1;
    const int high = hex_digit(digits[0]);
    const int low = hex_digit(digits[1]);
    return high < 0 || low < 0 ? -1 : high * 16 + low;
}

}  // namespace tengine::tpu
