// SPDX-License-Identifier: Apache-2.0
// base/text.h: the string that grows.
#include "base/text.h"

#include <cstdint>
#include <gtest/gtest.h>
#include <string>

namespace tengine {
namespace {

TEST(Text, StartsEmptyAndAppends)
{
    text_t text = {};
    EXPECT_EQ(nullptr, text.data);
    append_text(&text, "%s", "");
    EXPECT_STREQ("", text.data);
    append_text(&text, "%s has %d inputs", "Add", 2);
    append_text(&text, "\n");
    EXPECT_STREQ("Add has 2 inputs\n", text.data);
    EXPECT_EQ(17u, text.length);
    EXPECT_FALSE(text.failed);
    free_text(&text);
    EXPECT_EQ(nullptr, text.data);
    EXPECT_EQ(0u, text.capacity);
    free_text(&text);
}

TEST(Text, Grows)
{
    text_t text = {};
    std::string expected;
    for (int i = 0; i < 3000; ++i) {
        append_text(&text, "%d ", i);
        expected += std::to_string(i) + " ";
        ASSERT_LT(text.length, text.capacity);
    }
    append_text(&text, "%s", std::string(100000, 'z').c_str());
    expected += std::string(100000, 'z');
    EXPECT_EQ(expected, text.data);
    EXPECT_EQ(expected.size(), text.length);
    free_text(&text);
}

TEST(Text, EveryLengthAroundTheFirstCapacity)
{
    for (size_t length = 250; length < 520; ++length) {
        text_t text = {};
        append_text(&text, "%s", std::string(length, 'q').c_str());
        append_text(&text, "!");
        EXPECT_EQ(std::string(length, 'q') + "!", text.data);
        free_text(&text);
    }
}

TEST(Text, FailureSticks)
{
    text_t text = {};
    append_text(&text, "kept");
    text.length = SIZE_MAX - 2;
    append_text(&text, "does not fit");
    EXPECT_TRUE(text.failed);
    text.length = 4;
    append_text(&text, "dropped");
    EXPECT_STREQ("kept", text.data);
    free_text(&text);
    EXPECT_FALSE(text.failed);
}

}  // namespace
}  // namespace tengine
