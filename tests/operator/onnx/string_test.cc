// SPDX-License-Identifier: Apache-2.0
// Strings: operators that move, compare, cast, join, split and normalise them.
#include <cmath>
#include <cstring>
#include <limits>

#include "constant_graph.h"
#include "operator/param.h"

namespace tengine::test {
namespace {

using Texts = std::vector<std::string>;
using Floats = std::vector<float>;
using Ints = std::vector<int64_t>;
using Dims = std::vector<int>;

void set_text(node* made, const char* name, const char* text)
{
    ASSERT_EQ(set_node_text(made, name, text, std::strlen(text)), 0);
}

TEST(Strings, AreMoved)
{
    ConstantGraph graph;
    graph.texts("x", {2, 2}, {"a", "b", "c", ""});
    graph.builder().ints("i", {1});
    graph.add("Transpose", {"x"}, {"t"});
    graph.add("Gather", {"t", "i"}, {"g"});
    graph.add("Concat", {"g", "x"}, {"y"});
    EXPECT_EQ(texts_of(graph.evaluate()), (Texts{"b", "", "a", "b", "c", ""}));
}

TEST(Strings, BorderOfPadIsEmpty)
{
    ConstantGraph graph;
    graph.texts("x", {1}, {"a"});
    graph.builder().ints("pads", {1, 1});
    graph.add("Pad", {"x", "pads"});
    EXPECT_EQ(texts_of(graph.evaluate()), (Texts{"", "a", ""}));
}

TEST(Strings, AreSortedByUnique)
{
    ConstantGraph graph;
    graph.texts("x", {4}, {"b", "a", "b", "ab"});
    graph.add("Unique", {"x"}, {"y", "first"});
    EXPECT_EQ(texts_of(graph.evaluate()), (Texts{"a", "ab", "b"}));
    EXPECT_EQ(values_of<int64_t>(graph.evaluate("first")), (Ints{1, 3, 0}));
}

TEST(Strings, OthersDoNotTakeThem)
{
    ConstantGraph graph;
    graph.texts("x", {1}, {"a"});
    graph.add("Relu", {"x"});
    graph.expect_failure(TENGINE_EDTYPE, "is string, which it does not take");
}

template <class T>
Texts to_texts(const std::vector<T>& values)
{
    ConstantGraph graph;
    graph.input<T>("x", {static_cast<int>(values.size())}, values);
    EXPECT_EQ(set_node_int(graph.add("Cast", {"x"}), "to", 8), 0);
    return texts_of(graph.evaluate());
}

TEST(CastToString, HasTheFewestDigits)
{
    EXPECT_EQ(to_texts<float>({0.1f, -2, 1e20f, NAN, INFINITY, -INFINITY}),
              (Texts{"0.1", "-2", "1e+20", "NaN", "INF", "-INF"}));
    EXPECT_EQ(to_texts<int64_t>({std::numeric_limits<int64_t>::min(), 0}),
              (Texts{"-9223372036854775808", "0"}));
}

template <class T>
std::vector<T> from_texts(const Texts& texts, int to)
{
    ConstantGraph graph;
    graph.texts("x", {static_cast<int>(texts.size())}, texts);
    EXPECT_EQ(set_node_int(graph.add("Cast", {"x"}), "to", to), 0);
    return values_of<T>(graph.evaluate());
}

TEST(CastFromString, ReadsNumbers)
{
    const Floats reals =
        from_texts<float>({"+0.5", "-1e2", "inf", "+INF", "-Inf", "nan", "1e99"}, 1);
    ASSERT_EQ(reals.size(), 7u);
    EXPECT_EQ(Floats(reals.begin(), reals.begin() + 5),
              (Floats{0.5f, -100, INFINITY, INFINITY, -INFINITY}));
    EXPECT_TRUE(std::isnan(reals[5]));
    EXPECT_EQ(reals[6], INFINITY);
    EXPECT_EQ(from_texts<int64_t>({"9223372036854775807", "-3.9", "1e3"}, 7),
              (Ints{std::numeric_limits<int64_t>::max(), -3, 1000}));
}

TEST(CastFromString, AWordIsAnErrorThatNamesIt)
{
    for (const char* word : {"seven", "", "1x", "+-1", " 1"}) {
        ConstantGraph graph;
        graph.texts("x", {2}, {"1", word});
        ASSERT_EQ(set_node_int(graph.add("Cast", {"x"}), "to", 1), 0);
        graph.expect_failure(TENGINE_EINVAL, "element 1 is \"" + std::string(word) + "\"");
    }
    ConstantGraph large;
    large.texts("x", {1}, {"300"});
    ASSERT_EQ(set_node_int(large.add("Cast", {"x"}), "to", 2), 0);
    large.expect_failure(TENGINE_EINVAL, "expected uint8");
}

TEST(StringConcat, Broadcasts)
{
    ConstantGraph graph;
    graph.texts("a", {2, 1}, {"x", ""});
    graph.texts("b", {2}, {"1", "\xc3\xa4"});
    graph.add("StringConcat", {"a", "b"});
    const tensor* joined = graph.evaluate();
    EXPECT_EQ(dims_of(joined), (Dims{2, 2}));
    EXPECT_EQ(texts_of(joined), (Texts{"x1", "x\xc3\xa4", "1", "\xc3\xa4"}));
}

Texts split(const Texts& texts, const char* delimiter, int most, Ints* out_numbers)
{
    ConstantGraph graph;
    graph.texts("x", {static_cast<int>(texts.size())}, texts);
    node* made = graph.add("StringSplit", {"x"}, {"y", "n"});
    if (delimiter) set_text(made, "delimiter", delimiter);
    EXPECT_EQ(set_node_int(made, "maxsplit", most), 0);
    *out_numbers = values_of<int64_t>(graph.evaluate("n"));
    return texts_of(graph.evaluate());
}

TEST(StringSplit, AtBlanksAndAtDelimiters)
{
    Ints numbers;
    EXPECT_EQ(split({" a  b ", "c"}, nullptr, -1, &numbers), (Texts{"a", "b", "c", ""}));
    EXPECT_EQ(numbers, (Ints{2, 1}));
    EXPECT_EQ(split({" a b  c "}, "", 1, &numbers), (Texts{"a", "b  c "}));
    EXPECT_EQ(split({"a--b----"}, "--", -1, &numbers), (Texts{"a", "b", "", ""}));
    EXPECT_EQ(split({"a-b-c"}, "-", 1, &numbers), (Texts{"a", "b-c"}));
    EXPECT_EQ(split({""}, "-", -1, &numbers), (Texts{""}));
    EXPECT_EQ(split({""}, nullptr, -1, &numbers), Texts());
    EXPECT_EQ(numbers, (Ints{0}));
}

Texts normalize(const Texts& texts, const char* action, int is_case_sensitive,
                std::vector<const char*> stop_words)
{
    ConstantGraph graph;
    graph.texts("x", {static_cast<int>(texts.size())}, texts);
    node* made = graph.add("StringNormalizer", {"x"});
    set_text(made, "case_change_action", action);
    EXPECT_EQ(set_node_int(made, "is_case_sensitive", is_case_sensitive), 0);
    EXPECT_EQ(
        set_node_texts(made, "stopwords", stop_words.data(), static_cast<int>(stop_words.size())),
        0);
    return texts_of(graph.evaluate());
}

TEST(StringNormalizer, DropsWordsAndChangesCase)
{
    EXPECT_EQ(normalize({"Monday", "monday", "b"}, "NONE", 1, {"monday"}), (Texts{"Monday", "b"}));
    EXPECT_EQ(normalize({"Monday", "monday", "b"}, "UPPER", 0, {"MONDAY"}), (Texts{"B"}));
    EXPECT_EQ(normalize({"monday"}, "NONE", 1, {"monday"}), (Texts{""}));
    // A umlaut, a Greek and a Cyrillic letter; sharp s has no capital of one character.
    EXPECT_EQ(normalize({"\xc3\xa4\xce\xb2\xd0\xb6\xc3\x9f"}, "UPPER", 0, {}),
              (Texts{"\xc3\x84\xce\x92\xd0\x96\xc3\x9f"}));
    EXPECT_EQ(normalize({"\xc3\x84\xc3\x97\xd0\x81"}, "LOWER", 0, {}),
              (Texts{"\xc3\xa4\xc3\x97\xd1\x91"}));
}

TEST(CategoryMapper, GoesBothWays)
{
    const char* const words[] = {"one", "two"};
    const int64_t numbers[] = {1, 2};
    for (const bool to_text : {false, true}) {
        ConstantGraph graph;
        if (to_text)
            graph.builder().ints("x", {2, 3});
        else
            graph.texts("x", {2}, {"two", "three"});
        node* made = graph.add("ai.onnx.ml.CategoryMapper", {"x"});
        ASSERT_EQ(set_node_texts(made, "cats_strings", words, 2), 0);
        ASSERT_EQ(set_node_ints(made, "cats_int64s", numbers, 2), 0);
        if (to_text) {
            EXPECT_EQ(texts_of(graph.evaluate()), (Texts{"two", "_Unused"}));
        } else {
            EXPECT_EQ(values_of<int64_t>(graph.evaluate()), (Ints{2, -1}));
        }
    }
}

}  // namespace
}  // namespace tengine::test
