// SPDX-License-Identifier: Apache-2.0
// Tables that are fitted to a width, and names that are shortened in the middle.
#include "text.h"

#include <cmath>
#include <gtest/gtest.h>

namespace tengine::tools {
namespace {

TEST(ShortenedText, KeepsBothEnds)
{
    EXPECT_EQ(shortened_text("abcdefghij", 10), "abcdefghij");
    EXPECT_EQ(shortened_text("abcdefghijk", 10), "abc...hijk");
    EXPECT_EQ(shortened_text("abcdefghijk", 9), "abc...ijk");
    EXPECT_EQ(shortened_text("", 5), "");
}

TEST(ShortenedText, KeepsCharactersOfSeveralBytesWhole)
{
    const std::string name = "\u00e4\u00f6\u00fc\u00e4\u00f6\u00fc\u00e4\u00f6\u00fc";
    for (size_t length = 4; length <= name.size(); ++length) {
        const std::string text = shortened_text(name, length);
        EXPECT_LE(character_count(text), length);
        const size_t dots = text.find("...");
        EXPECT_EQ((dots == std::string::npos ? text.size() : dots) % 2, 0u) << text;
    }
}

TEST(ComplexText, HasBothSigns)
{
    EXPECT_EQ(complex_text({1, -2.5}), "1-2.5i");
    EXPECT_EQ(complex_text({-1e10, 0}), "-1e+10+0i");
    EXPECT_EQ(complex_text({NAN, INFINITY}), "nan+infi");
}

TEST(TableText, OnlyNamedColumnsGiveWay)
{
    const Rows rows = {{">ms", "node", "device"},
                       {"1.5", "/a/very/long/name/of/a/node", "CPU"},
                       {"10.25", "/short", "accelerator"}};
    EXPECT_EQ(table_text(rows),
              "   ms  node                         device\n"
              "  1.5  /a/very/long/name/of/a/node  CPU\n"
              "10.25  /short                       accelerator\n");
    TableStyle style;
    style.width = 36;
    style.shortened = {"node"};
    EXPECT_EQ(table_text(rows, style),
              "   ms  node              device\n"
              "  1.5  /a/ver.../a/node  CPU\n"
              "10.25  /short            accelerator\n");
    EXPECT_EQ(width_of(table_text(rows, style)), 36u);
    style.width = 5;
    EXPECT_EQ(width_of(table_text(rows, style)), 5u + 2 + 11 + 2 + 11) << "names stay readable";
}

TEST(TableText, NamesControlNoTerminal)
{
    EXPECT_EQ(visible_text("a\033[31m\n\x7f\xc2\x9b\xc3\xa4\xc2"), "a?[31m????\xc3\xa4\xc2");
    EXPECT_EQ(table_text({{"node"}, {"a\033[31m\n"}}), "node\na?[31m?\n");
}

TEST(TableText, ColoursDoNotCountAsWidth)
{
    TableStyle style;
    style.coloured = "device";
    style.codes = {{"CPU", "36"}};
    EXPECT_EQ(table_text({{"device", "node"}, {"CPU", "CPU"}, {"GPU", "b"}}, style),
              "device  node\n"
              "\033[36mCPU\033[0m     CPU\n"
              "GPU     b\n");
}

TEST(TableText, WidthsCountCharacters)
{
    const std::string text = table_text({{"name", ">ms"}, {"größe", "1"}, {"plain", "22"}});
    EXPECT_EQ(text, "name   ms\ngröße   1\nplain  22\n");
    EXPECT_EQ(width_of("größe\nab"), 5u);
    EXPECT_EQ(shortened_text("ääääääääää", 7), "ää...ää");
}

TEST(TableText, IsBrokenWhereALineIsTooShort)
{
    const Rows rows = {{"model", ">first", ">second", ">third"}, {"network.onnx", "1", "2", "3"}};
    TableStyle style;
    EXPECT_EQ(broken_table_text(rows, style), table_text(rows));
    style.width = 28;
    EXPECT_EQ(broken_table_text(rows, style),
              "model         first  second\n"
              "network.onnx      1       2\n"
              "\n"
              "model         third\n"
              "network.onnx      3\n");
}

}  // namespace
}  // namespace tengine::tools
