// SPDX-License-Identifier: Apache-2.0
// The words of the assembler's lines and the numbers in them. Functions that read give false for
// what is not of their form.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tengine::tpu {

struct Token
{
    std::string_view text;
    bool is_string = false;  // within quotes, which `text` does not have
};

// False when a string has no end. # begins a comment.
bool split_line(std::string_view line, std::vector<Token>* out_tokens);

// A string's text without its backslashes: \", \\, and \x with two hexadecimal digits.
bool unescape(std::string_view text, std::string* out_text);

// A number as text has it: maybe a minus, digits, decimal or after 0x hexadecimal.
struct Number
{
    bool is_negative = false;
    uint64_t magnitude = 0;
};

bool parse_number(std::string_view text, Number* out_number);
// Whether it fits in `bytes`, as a signed or an unsigned number; then its bits.
bool number_bits(const Number& number, int bytes, bool is_signed, uint64_t* out_bits);
bool parse_unsigned(std::string_view text, uint64_t* out_value);
// The bits of an fp32 number, which may also be given as 0x and its bits.
bool parse_real(std::string_view text, uint64_t* out_bits);
// The byte of the first two digits; -1 when they are not digits.
int hex_byte(std::string_view digits);

}  // namespace tengine::tpu
