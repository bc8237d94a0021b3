// SPDX-License-Identifier: Apache-2.0
// The words of the assembler's lines and the numbers in them. Functions that read return false if
// the text has another form.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tengine::tpu {

struct Token
{
    std::string_view text;
    bool is_string = false;  // was within quotes, which `text` does not include
};

// Splits a line. False if a string has no end. # begins a comment.
bool split_line(std::string_view line, std::vector<Token>* out_tokens);

// Removes the backslashes of a string: \", \\, and \x with two hexadecimal digits.
bool unescape(std::string_view text, std::string* out_text);

// A number as written: an optional minus, digits, decimal or after 0x hexadecimal.
struct Number
{
    bool is_negative = false;
    uint64_t magnitude = 0;
};

bool parse_number(std::string_view text, Number* out_number);
// Whether the number fits in `bytes`, signed or unsigned; if so, its bits.
bool number_bits(const Number& number, int bytes, bool is_signed, uint64_t* out_bits);
bool parse_unsigned(std::string_view text, uint64_t* out_value);
// Parses an fp32 number, or its bits after 0x.
bool parse_real(std::string_view text, uint64_t* out_bits);
// Returns the value of the first two digits; -1 if they are not digits.
int hex_byte(std::string_view digits);

}  // namespace tengine::tpu
