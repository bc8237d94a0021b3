// SPDX-License-Identifier: Apache-2.0
// Words that betray a translation stand nowhere: messages, comments, help texts, pages. Those that
// are right in one sense and wrong in another (behind, wants, tells) are for reviews.
#include <gtest/gtest.h>
#include <regex>

#include "rules/source_tree.h"

namespace tengine::rules {
namespace {

// In pieces, since they are looked for here, too. "There is no" ends with "re" before the "is".
const std::regex kForeignWords(
    "\\b([Nn]obod"
    "y|[Aa]ne"
    "w|[Bb]ut fo"
    "r|[Ww]is"
    "h(es|ed)?|which there is no"
    "t)\\b|([^e]|[^r]e) is n"
    "o (?!longer|more|less|cheaper)\\w");

void check(const std::string& path, const std::vector<std::string>& lines)
{
    for (size_t i = 0; i < lines.size(); ++i) {
        std::smatch match;
        EXPECT_FALSE(std::regex_search(lines[i], match, kForeignWords))
            << path << ":" << i + 1 << ": " << match.str();
    }
}

TEST(Words, AreThoseOfTheField)
{
    for (const SourceFile& file : source_tree())
        check(file.path, file.lines);
    for (const std::string& page : pages()) {
        // It says which words are meant.
        if (page != "CONTRIBUTING.md") check(page, read_lines(page));
    }
}

TEST(Words, ForeignOnesAreRecognised)
{
    for (const char* text : {"Nobod"
                             "y frees it",
                             "'x' is n"
                             "o shape",
                             "the same but fo"
                             "r shapes"})
        EXPECT_TRUE(std::regex_search(text, kForeignWords)) << text;
    for (const char* text : {"there is no shape", "it is no longer used", "is not a shape"})
        EXPECT_FALSE(std::regex_search(text, kForeignWords)) << text;
}

}  // namespace
}  // namespace tengine::rules
