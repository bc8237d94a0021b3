// SPDX-License-Identifier: Apache-2.0
// Comments, messages and pages use the words of docs/glossary.md: phrases that stand in code font
// in the last column of its tables are refused in favour of the term in the first. Words without
// code font are right in one sense and wrong in another; reviews judge those.
#include <algorithm>
#include <cctype>
#include <gtest/gtest.h>
#include <map>
#include <regex>

#include "rules/source_tree.h"

namespace tengine::rules {
namespace {

constexpr const char* kGlossary = "docs/glossary.md";
constexpr const char* kExceptions = "## Where refused words are right";

// Copies of code that was written elsewhere, or for an earlier version.
const std::vector<std::string> kFrozen = {"tests/integration/original_device/toynpu",
                                          "tests/integration/plugin/abi_1"};

using Phrase = std::vector<std::string>;  // in small letters, or as a statement begins

struct Word
{
    std::string text;
    size_t line;
};

struct Term
{
    Phrase refused;
    std::string accepted;
};

struct Glossary
{
    std::map<std::string, std::vector<Term>> refused;  // by the first word in small letters
    std::vector<Phrase> exceptions;
};

std::string lower(std::string word)
{
    std::transform(word.begin(), word.end(), word.begin(),
                   [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
    return word;
}

bool is_letter(char letter)
{
    const auto code = static_cast<unsigned char>(letter);
    return std::isalnum(code) || letter == '_' || letter == '\'' || letter == '-' || code >= 0x80;
}

const std::string kEnds(".?!;:|\0", 7);

// Splits a text into words. The end of a statement, and a gap of '\0', is a word "." that no phrase
// has.
std::vector<Word> split_words(const std::string& text)
{
    std::vector<Word> words;
    size_t line = 1;
    for (size_t i = 0; i < text.size(); ++i) {
        size_t end = i;
        while (end < text.size() && is_letter(text[end]))
            ++end;
        if (end > i) words.push_back({text.substr(i, end - i), line});
        i = std::max(i, end);
        const bool ends = i < text.size() && kEnds.find(text[i]) != std::string::npos;
        if (ends && (words.empty() || words.back().text != ".")) words.push_back({".", line});
        if (i < text.size() && text[i] == '\n') ++line;
    }
    return words;
}

Phrase make_phrase(const std::string& text)
{
    Phrase phrase;
    for (const Word& word : split_words(text))
        phrase.push_back(word.text);
    return phrase;
}

std::vector<std::string> find_code_spans(const std::string& text)
{
    const std::regex code("`([^`]*)`");
    std::vector<std::string> spans;
    for (std::sregex_iterator match(text.begin(), text.end(), code), end; match != end; ++match)
        spans.push_back((*match)[1]);
    return spans;
}

Glossary read_glossary(const std::vector<std::string>& lines)
{
    Glossary glossary;
    bool lists_exceptions = false;
    for (const std::string& line : lines) {
        if (starts_with(line, "#")) lists_exceptions = line == kExceptions;
        if (lists_exceptions) {
            for (const std::string& span : find_code_spans(line))
                glossary.exceptions.push_back(make_phrase(span));
        } else if (starts_with(line, "| ")) {
            const std::string term = line.substr(2, line.find(" |", 2) - 2);
            const std::string last = line.substr(line.rfind('|', line.size() - 2));
            for (const std::string& span : find_code_spans(last)) {
                const Phrase phrase = make_phrase(span);
                glossary.refused[lower(phrase.at(0))].push_back({phrase, term});
            }
        }
    }
    return glossary;
}

// A word of the glossary with a capital is refused at the beginning of a statement only.
bool has_phrase_at(const std::vector<Word>& words, size_t begin, const Phrase& phrase)
{
    if (phrase.size() > words.size() - begin) return false;
    for (size_t i = 0; i < phrase.size(); ++i) {
        const std::string& word = words[begin + i].text;
        if (word != phrase[i] && lower(word) != phrase[i]) return false;
    }
    return true;
}

bool is_excepted(const Glossary& glossary, const std::vector<Word>& words, size_t begin,
                 size_t size)
{
    for (const Phrase& exception : glossary.exceptions)
        for (size_t before = 0; before + size <= exception.size() && before <= begin; ++before)
            if (has_phrase_at(words, begin - before, exception)) return true;
    return false;
}

std::string join_words(const Phrase& phrase, const std::string& between)
{
    std::string text = phrase[0];
    for (size_t i = 1; i < phrase.size(); ++i)
        text += between + phrase[i];
    return text;
}

// Returns one line for each refused phrase: "7: 'under way': in flight".
std::vector<std::string> judge(const Glossary& glossary, const std::string& text)
{
    std::vector<std::string> faults;
    const std::vector<Word> words = split_words(text);
    for (size_t i = 0; i < words.size(); ++i) {
        const auto terms = glossary.refused.find(lower(words[i].text));
        if (terms == glossary.refused.end()) continue;
        for (const auto& [phrase, accepted] : terms->second)
            if (has_phrase_at(words, i, phrase) && !is_excepted(glossary, words, i, phrase.size()))
                faults.push_back(std::to_string(words[i].line) + ": '" + join_words(phrase, " ") +
                                 "': " + accepted);
    }
    return faults;
}

// Blanks names and words of other programs: those in backticks or double quotes, on one line.
std::string drop_names(std::string text)
{
    for (size_t open = text.find_first_of("`\""); open != std::string::npos;) {
        const size_t close = text.find_first_of(std::string{text[open], '\n'}, open + 1);
        if (close == std::string::npos) break;
        if (text[close] != '\n') std::fill(&text[open], &text[close] + 1, 'x');
        open = text.find_first_of("`\"", close + 1);
    }
    return text;
}

std::string prose_of_page(const std::string& page)
{
    std::string text;
    bool is_code = false;
    for (const std::string& line : read_lines(page)) {
        const bool is_fence = line.find_first_not_of(' ') != std::string::npos &&
                              line.compare(line.find_first_not_of(' '), 3, "```") == 0;
        if (is_fence) is_code = !is_code;
        text += (is_code || is_fence ? "" : line) + '\n';
    }
    return text;
}

void expect_words(const Glossary& glossary, const std::string& path, const std::string& text)
{
    for (const std::string& fault : judge(glossary, drop_names(text)))
        ADD_FAILURE() << path << ":" << fault;
}

bool is_frozen(const std::string& path)
{
    return std::any_of(kFrozen.begin(), kFrozen.end(),
                       [&](const std::string& folder) { return starts_with(path, folder); });
}

TEST(Words, AreThoseOfTheGlossary)
{
    const Glossary glossary = read_glossary(read_lines(kGlossary));
    EXPECT_GT(glossary.refused.size(), 20u) << kGlossary << " looks different now";
    for (const SourceFile& file : source_tree())
        if (!is_frozen(file.path)) expect_words(glossary, file.path, comments_and_messages(file));
    for (const std::string& page : pages())
        expect_words(glossary, page, prose_of_page(page));
}

TEST(Words, EachRefusedPhraseIsFoundAndEachExceptionIsNot)
{
    const Glossary glossary = read_glossary(read_lines(kGlossary));
    for (const auto& [first, terms] : glossary.refused)
        for (const auto& [phrase, accepted] : terms) {
            const std::string text = "x\n" + join_words(phrase, "\n");
            const std::vector<std::string> faults = judge(glossary, text);
            const std::string expected = "2: '" + join_words(phrase, " ") + "': " + accepted;
            EXPECT_EQ(std::count(faults.begin(), faults.end(), expected), 1) << expected;
        }
    for (const Phrase& exception : glossary.exceptions) {
        const std::string text = join_words(exception, " ");
        EXPECT_EQ(judge(glossary, text), std::vector<std::string>()) << text;
        EXPECT_NE(judge({glossary.refused, {}}, text), std::vector<std::string>())
            << "'" << text << "' has no refused word";
    }
}

TEST(Words, AreFoundInCommentsAndMessagesOnly)
{
    const Glossary glossary = read_glossary(
        {"| sum | meaning | `heap`, `big heap`, `Heap of` |", kExceptions, "* `heap sort`"});
    const auto judge_code = [&](const std::string& path, const std::vector<std::string>& lines) {
        return judge(glossary, drop_names(comments_and_messages({path, lines})));
    };
    using Faults = std::vector<std::string>;
    EXPECT_EQ(judge_code("a.c", {"int heap; // a Big", "// heap"}),
              (Faults{"1: 'big heap': sum", "2: 'heap': sum"}));
    EXPECT_EQ(judge_code("a.c", {"f(\"no heap: %d\", \"heap\");"}), Faults{"1: 'heap': sum"});
    EXPECT_EQ(judge_code("a.c", {"// Heap sort, of `heap` and \"heap\", heap's, on_heap"}),
              Faults());
    EXPECT_EQ(judge_code("a.sh", {"heap $heap # heap"}), Faults{"1: 'heap': sum"});
    EXPECT_EQ(judge_code("a.c", {"int big; // big. Heap of"}),
              (Faults{"1: 'heap': sum", "1: 'Heap of': sum"}));
    EXPECT_EQ(judge_code("a.c", {"int b; // big", "int heap; // sum"}), Faults());
}

}  // namespace
}  // namespace tengine::rules
