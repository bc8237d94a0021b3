// SPDX-License-Identifier: Apache-2.0
// Rules on the pages: each is in the index, no link is dead, and the map of the rooms is that of
// the include rules. integration/docs runs their code blocks.
#include <algorithm>
#include <cctype>
#include <filesystem>
#include <gtest/gtest.h>
#include <map>
#include <regex>
#include <set>

#include "rules/include_rules.h"
#include "rules/source_tree.h"

namespace tengine::rules {
namespace {

namespace fs = std::filesystem;

using Strings = std::set<std::string>;

// Returns the lines of a page without its code blocks.
std::vector<std::string> prose_of(const std::string& page)
{
    std::vector<std::string> prose;
    bool is_code = false;
    for (const std::string& line : read_lines(page)) {
        const bool is_fence = std::regex_search(line, std::regex("^ *```"));
        if (is_fence) is_code = !is_code;
        if (!is_code && !is_fence) prose.push_back(line);
    }
    return prose;
}

// Returns everything that `pattern` captures in a string.
std::vector<std::string> captures(const std::string& text, const std::regex& pattern)
{
    std::vector<std::string> found;
    for (std::sregex_iterator match(text.begin(), text.end(), pattern), end; match != end; ++match)
        found.push_back((*match)[1]);
    return found;
}

std::vector<std::string> links_of(const std::string& text)
{
    return captures(text, std::regex("\\]\\(([^)\\s]+)\\)"));
}

// Returns the anchor that GitHub gives a heading.
std::string anchor_of(const std::string& heading)
{
    std::string anchor;
    for (const char letter : heading) {
        const auto code = static_cast<unsigned char>(letter);
        if (letter == ' ') anchor += '-';
        if (std::isalnum(code) || letter == '-' || letter == '_' || code >= 0x80)
            anchor += static_cast<char>(std::tolower(code));
    }
    return anchor;
}

// Returns the anchors of its headings, and those that it sets itself.
Strings anchors_of(const std::string& page)
{
    const std::vector<std::string> set =
        captures(join_lines(prose_of(page)), std::regex("<a id=\"([^\"]*)\">"));
    Strings anchors(set.begin(), set.end());
    for (const std::string& line : prose_of(page)) {
        if (starts_with(line, "#")) anchors.insert(anchor_of(line.substr(line.find(' ') + 1)));
    }
    return anchors;
}

// Returns the error in a link of a page; "" if there is none.
std::string judge_link(const std::string& page, const std::string& link)
{
    if (std::regex_search(link, std::regex("^https?:"))) return "";
    const size_t hash = link.find('#');
    const std::string file = link.substr(0, hash);
    const fs::path folder = fs::path(page).parent_path();
    const std::string target =
        file.empty() ? page : (folder / file).lexically_normal().generic_string();
    if (!fs::exists(fs::path(TENGINE_SOURCE_DIR) / target)) return "there is no " + target;
    if (hash == std::string::npos || anchors_of(target).count(link.substr(hash + 1)) != 0)
        return "";
    return target + " has no such anchor";
}

TEST(DocsRules, NoLinkIsDead)
{
    int judged = 0;
    for (const std::string& page : pages()) {
        for (const std::string& link : links_of(join_lines(prose_of(page)))) {
            EXPECT_EQ(judge_link(page, link), "") << page << " has the link " << link;
            ++judged;
        }
    }
    EXPECT_GT(judged, 100);
}

TEST(DocsRules, DeadLinksAreRecognised)
{
    EXPECT_EQ(judge_link("README.md", "docs/build.md#presets"), "");
    EXPECT_EQ(judge_link("docs/build.md", "../README.md"), "");
    EXPECT_EQ(judge_link("docs/build.md", "#presets"), "");
    EXPECT_NE(judge_link("README.md", "build.md"), "");
    EXPECT_NE(judge_link("docs/build.md", "size.md#no-such-heading"), "");
    EXPECT_EQ(links_of("[a](b.md) and [c\nd](e/f.md#g)"),
              (std::vector<std::string>{"b.md", "e/f.md#g"}));
    EXPECT_EQ(anchor_of("Int8, `uint8`, bf16"), "int8-uint8-bf16");
}

TEST(DocsRules, TheIndexHasEveryPage)
{
    Strings linked;
    for (const std::string& link : links_of(join_lines(prose_of("docs/README.md"))))
        linked.insert((fs::path("docs") / link).lexically_normal().generic_string());
    for (const std::string& page : pages()) {
        if (page == "docs/README.md") continue;
        EXPECT_EQ(linked.count(page), 1u) << "docs/README.md does not link to " << page;
    }
}

// Returns the code in the cells of the table's row, first and last cell.
std::pair<std::string, std::vector<std::string>> split_row(const std::string& line)
{
    const std::regex code("`([^`]*)`");
    const std::string last = line.substr(line.rfind('|', line.size() - 2));
    const std::vector<std::string> first = captures(line.substr(0, line.find('|', 1)), code);
    return {first.empty() ? "" : first[0], captures(last, code)};
}

TEST(DocsRules, TheMapHasTheRoomsOfTheIncludeRules)
{
    std::map<std::string, std::vector<std::string>> rows;
    for (const std::string& line : prose_of("docs/architecture.md")) {
        if (starts_with(line, "| `")) rows.insert(split_row(line));
    }
    for (const Room& room : rooms()) {
        ASSERT_EQ(rows.count(room.folder), 1u) << "docs/architecture.md lacks " << room.folder;
        EXPECT_EQ(rows[room.folder], std::vector<std::string>(room.below.begin(), room.below.end()))
            << room.folder;
    }
}

TEST(DocsRules, ThePictureShowsItsSource)
{
    const std::string picture = join_lines(read_lines("docs/architecture.svg"));
    const std::string source = join_lines(read_lines("docs/architecture.dot"));
    int compared = 0;
    for (const std::string& label : captures(source, std::regex("label=\" *([^\"]*)\""))) {
        for (size_t begin = 0, end; begin < label.size(); begin = end + 2) {
            end = std::min(label.find("\\n", begin), label.size());
            const std::string shown = label.substr(begin, end - begin) + "</text>";
            EXPECT_NE(picture.find(shown), std::string::npos)
                << shown << " is not shown: dot -Tsvg docs/architecture.dot "
                << "-o docs/architecture.svg";
            ++compared;
        }
    }
    EXPECT_GT(compared, 10);
}

}  // namespace
}  // namespace tengine::rules
