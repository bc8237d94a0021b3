// SPDX-License-Identifier: Apache-2.0
// Numbers and tables as text. The contract is in text.h.
#include "text.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iterator>
#include <numeric>
#include <sstream>

namespace tengine::tools {
namespace {

std::string format_number(const char* format, double value)
{
    char text[32];
    std::snprintf(text, sizeof text, format, value);
    return text;
}

bool is_right_aligned(const std::string& heading)
{
    return !heading.empty() && heading[0] == '>';
}

// Levenshtein's distance: letters to insert, drop or replace.
size_t edit_distance(const std::string& a, const std::string& b)
{
    std::vector<size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), size_t{0});
    for (size_t i = 0; i < a.size(); ++i) {
        size_t diagonal = row[0]++;
        for (size_t j = 0; j < b.size(); ++j) {
            const size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
            diagonal = row[j + 1];
            row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
        }
    }
    return row.back();
}

// All bytes except those that continue a character.
bool begins_character(char byte)
{
    return (byte & 0xc0) != 0x80;
}

// The position at which the character of this index begins.
size_t find_character(const std::string& text, size_t index)
{
    size_t at = 0;
    for (; at < text.size(); ++at)
        if (begins_character(text[at]) && index-- == 0) break;
    return at;
}

std::string heading_of(const std::string& heading)
{
    return heading.substr(is_right_aligned(heading) ? 1 : 0);
}

// Shorter names could not be distinguished.
constexpr size_t kShortest = 11;

// Takes from the widest of the columns that may be shortened until the line fits.
void fit_columns(const std::vector<size_t>& flexible, size_t width, std::vector<size_t>* widths)
{
    size_t line = 2 * (widths->size() - 1);
    for (const size_t column : *widths)
        line += column;
    while (line > width) {
        size_t* widest = nullptr;
        for (const size_t column : flexible) {
            size_t& candidate = widths->at(column);
            if (!widest || candidate > *widest) widest = &candidate;
        }
        if (!widest || *widest <= kShortest) return;
        --*widest;
        --line;
    }
}

std::vector<size_t> column_widths(const Rows& rows, const TableStyle& style)
{
    std::vector<size_t> widths;
    std::vector<size_t> flexible;
    for (size_t c = 0; c < rows.at(0).size(); ++c) {
        const std::string heading = heading_of(rows[0][c]);
        widths.push_back(character_count(heading));
        for (size_t r = 1; r < rows.size(); ++r)
            widths[c] = std::max(widths[c], character_count(rows[r][c]));
        if (std::find(style.shortened.begin(), style.shortened.end(), heading) !=
            style.shortened.end())
            flexible.push_back(c);
    }
    if (style.width > 0) fit_columns(flexible, style.width, &widths);
    return widths;
}

std::string in_colour(const std::string& cell, size_t row, const std::string& heading,
                      const TableStyle& style)
{
    const auto code = style.codes.find(cell);
    if (row == 0 || heading != style.coloured || code == style.codes.end()) return cell;
    return "\033[" + code->second + "m" + cell + "\033[0m";
}

}  // namespace

std::string number_text(double value)
{
    return format_number("%.6g", value);
}

std::string complex_text(std::complex<double> value)
{
    const std::string imaginary = number_text(value.imag());
    return number_text(value.real()) + (imaginary.front() == '-' ? "" : "+") + imaginary + "i";
}

std::string count_text(double value)
{
    static const char* const kPrefixes[] = {"", " k", " M", " G", " T"};
    size_t prefix = 0;
    while (value >= 999.5 && prefix + 1 < std::size(kPrefixes)) {
        value /= 1000.0;
        ++prefix;
    }
    return format_number(prefix == 0 && value == std::trunc(value) ? "%.0f" : "%.3g", value) +
           kPrefixes[prefix];
}

std::string bytes_text(double bytes)
{
    const std::string text = count_text(bytes);
    return text + (text.find(' ') == std::string::npos ? " B" : "B");
}

std::string decimal_text(double value, int digits)
{
    char text[64];
    std::snprintf(text, sizeof text, "%.*f", digits, value);
    return text;
}

std::string time_text(double milliseconds)
{
    return decimal_text(milliseconds, 3);
}

std::string shortened_text(const std::string& text, size_t length)
{
    const size_t characters = character_count(text);
    if (characters <= length) return text;
    const size_t kept = length > 3 ? length - 3 : 1;
    const size_t front = kept / 2;
    return text.substr(0, find_character(text, front)) + "..." +
           text.substr(find_character(text, characters - (kept - front)));
}

size_t character_count(const std::string& text)
{
    return static_cast<size_t>(std::count_if(text.begin(), text.end(), begins_character));
}

std::string broken_table_text(const Rows& rows, const TableStyle& style)
{
    if (style.width == 0) return table_text(rows, style);
    std::string text;
    const size_t columns = rows.at(0).size();
    for (size_t next = 1; next < columns || text.empty();) {
        Rows piece(rows.size());
        for (size_t r = 0; r < rows.size(); ++r)
            piece[r] = {rows[r][0]};
        std::string fitting;
        for (size_t first = next; next < columns; ++next) {
            for (size_t r = 0; r < rows.size(); ++r)
                piece[r].push_back(rows[r][next]);
            const std::string wider = table_text(piece, style);
            if (next > first && width_of(wider) > style.width) break;
            fitting = wider;
        }
        text += (text.empty() ? "" : "\n") + fitting;
    }
    return text;
}

std::string table_text(const Rows& rows, const TableStyle& style)
{
    const std::vector<size_t> widths = column_widths(rows, style);
    std::string text;
    for (size_t r = 0; r < rows.size(); ++r) {
        std::string line;
        size_t blanks = 0;  // without following characters yet
        for (size_t c = 0; c < widths.size(); ++c) {
            const bool right = is_right_aligned(rows[0][c]);
            const std::string whole = r == 0 ? heading_of(rows[0][c]) : rows[r][c];
            const std::string cell = shortened_text(visible_text(whole), widths[c]);
            const size_t padding = widths[c] - character_count(cell);
            blanks += (c == 0 ? 0 : 2) + (right ? padding : 0);
            if (!cell.empty()) {
                line += std::string(blanks, ' ') + in_colour(cell, r, rows[0][c], style);
                blanks = 0;
            }
            blanks += right ? 0 : padding;
        }
        text += line + '\n';
    }
    return text;
}

std::string visible_text(std::string text)
{
    for (size_t i = 0; i < text.size(); ++i) {
        const auto byte = static_cast<unsigned char>(text[i]);
        // In UTF-8 the controls of eight bits, U+0080 to U+009F, have two bytes.
        const bool has_next = byte == 0xc2 && i + 1 < text.size();
        if (has_next && static_cast<unsigned char>(text[i + 1]) <= 0x9f)
            text[i] = text[i + 1] = '?';
        else if (byte < 0x20 || byte == 0x7f)
            text[i] = '?';
    }
    return text;
}

size_t width_of(const std::string& text)
{
    size_t width = 0;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);)
        width = std::max(width, character_count(line));
    return width;
}

std::vector<std::string> words_of(const std::string& text)
{
    std::istringstream stream(text);
    return {std::istream_iterator<std::string>(stream), {}};
}

std::string paragraph_text(const std::vector<std::string>& words, int indent, size_t width)
{
    const std::string margin(static_cast<size_t>(indent), ' ');
    std::string text;
    std::string line;
    for (const std::string& word : words) {
        if (!line.empty() &&
            margin.size() + character_count(line) + 1 + character_count(word) > width) {
            text += margin + line + '\n';
            line.clear();
        }
        line += (line.empty() ? "" : " ") + word;
    }
    return line.empty() ? text : text + margin + line + '\n';
}

std::string nearest_word(const std::string& word, const std::vector<std::string>& candidates)
{
    std::string nearest;
    size_t least = word.size() / 3 + 2;
    for (const std::string& candidate : candidates) {
        const bool is_beginning = word.size() > 2 && candidate.compare(0, word.size(), word) == 0;
        const size_t distance = is_beginning ? 1 : edit_distance(word, candidate);
        if (distance >= least) continue;
        least = distance;
        nearest = candidate;
    }
    return nearest;
}

}  // namespace tengine::tools
