// SPDX-License-Identifier: Apache-2.0
// Numbers and tables as the subcommands print them.
#pragma once

#include <complex>
#include <map>
#include <string>
#include <vector>

namespace tengine::tools {

// Six significant digits, "nan", "inf" and "-inf".
std::string number_text(double value);

// "1-2i"
std::string complex_text(std::complex<double> value);

// Three significant digits and a prefix: "1.82 G", "25.6 M", "412".
std::string count_text(double value);

// The same of bytes: "25.6 MB", "412 B".
std::string bytes_text(double bytes);

// A number with `digits` digits after the point.
std::string decimal_text(double value, int digits);

// Milliseconds to the microsecond: "0.042", "17.300".
std::string time_text(double milliseconds);

using Rows = std::vector<std::vector<std::string>>;

// The width of a table, and its colours. Columns are named by their headings.
struct TableStyle
{
    size_t width = 0;                          // a line's; 0: unlimited
    std::vector<std::string> shortened;        // whose cells are shortened if that is too narrow
    std::string coloured;                      // column with colours, "" for none
    std::map<std::string, std::string> codes;  // for its cells: the terminal's numbers ("32")
};

// Columns of visible text, padded to their widest cell, two spaces between them. The first row is
// the heading; a column whose heading begins with '>' (which is not printed) is right-aligned.
std::string table_text(const Rows& rows, const TableStyle& style = {});

// A name of a model, which may be anything: characters that control a terminal become question
// marks.
std::string visible_text(std::string text);

// table_text() in as many tables as it takes for each to fit into lines of `style.width`
// characters, one below the other. Each begins with the first column. A width of 0: one table.
std::string broken_table_text(const Rows& rows, const TableStyle& style);

// Characters of a text in UTF-8.
size_t character_count(const std::string& text);

// At most `length` characters of a text, which has "..." in its middle if it is longer: both ends
// of a name are informative.
std::string shortened_text(const std::string& text, size_t length);

// Characters of the longest line of a text.
size_t width_of(const std::string& text);

// Words, broken into lines of at most `width` characters that begin with `indent` spaces.
std::string paragraph_text(const std::vector<std::string>& words, int indent, size_t width = 96);

// The words that blanks separate.
std::vector<std::string> words_of(const std::string& text);

// The one of `candidates` that `word` most likely misspells; "" when none is near.
std::string nearest_word(const std::string& word, const std::vector<std::string>& candidates);

}  // namespace tengine::tools
