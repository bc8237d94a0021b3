// SPDX-License-Identifier: Apache-2.0
// tengine/error.h: the last error of a thread.
#include "tengine/error.h"

#include <gtest/gtest.h>
#include <set>
#include <string>
#include <thread>

namespace tengine {
namespace {

TEST(Error, SetReturnsTheCodeAndKeepsTheSentence)
{
    EXPECT_EQ(TENGINE_EINVAL, tengine_error_set(TENGINE_EINVAL, "axis %d of %d", 5, 4));
    EXPECT_EQ(TENGINE_EINVAL, tengine_error_code());
    EXPECT_STREQ("axis 5 of 4", tengine_error_message());
    tengine_error_clear();
    EXPECT_EQ(TENGINE_OK, tengine_error_code());
    EXPECT_STREQ("", tengine_error_message());
}

TEST(Error, LongSentenceIsCut)
{
    tengine_error_set(TENGINE_EIO, "%s", std::string(5000, 'x').c_str());
    EXPECT_EQ(std::string(1023, 'x'), tengine_error_message());
}

TEST(Error, MayQuoteTheLastSentence)
{
    tengine_error_set(TENGINE_EIO, "cannot read");
    tengine_error_set(TENGINE_EFORMAT, "loading 'm': %s", tengine_error_message());
    EXPECT_STREQ("loading 'm': cannot read", tengine_error_message());
}

TEST(Error, NeverLooksLikeSuccess)
{
    EXPECT_EQ(TENGINE_EINTERNAL, tengine_error_set(0, "no code"));
    EXPECT_EQ(TENGINE_EINTERNAL, tengine_error_set(3, "no code"));
}

TEST(Error, ThreadsAreIndependent)
{
    tengine_error_set(TENGINE_EIO, "here");
    std::thread([] {
        EXPECT_EQ(TENGINE_OK, tengine_error_code());
        EXPECT_STREQ("", tengine_error_message());
        tengine_error_set(TENGINE_ENOMEM, "there");
    }).join();
    EXPECT_EQ(TENGINE_EIO, tengine_error_code());
    EXPECT_STREQ("here", tengine_error_message());
}

TEST(Error, EveryCodeHasItsOwnTextAndValue)
{
    std::set<std::string> texts;
    std::set<int> values;
    int num = 0;
#define CHECK_CODE(name, value, text)              \
    EXPECT_STREQ(text, tengine_error_text(name));  \
    EXPECT_STREQ(#name, tengine_error_name(name)); \
    EXPECT_LT(name, 0);                            \
    texts.insert(text);                            \
    values.insert(name);                           \
    ++num;
    TENGINE_ERROR_LIST(CHECK_CODE)
#undef CHECK_CODE
    EXPECT_EQ(static_cast<size_t>(num), texts.size());
    EXPECT_EQ(static_cast<size_t>(num), values.size());
    EXPECT_STREQ("no error", tengine_error_text(TENGINE_OK));
    EXPECT_STREQ("unknown error code", tengine_error_text(-12345));
    EXPECT_STREQ("TENGINE_EIO", tengine_error_name(-20));
    EXPECT_STREQ("TENGINE_OK", tengine_error_name(TENGINE_OK));
    for (const int code : {-12345, 1, -9})
        EXPECT_STREQ("", tengine_error_name(code));
}

// Terminals, which print messages, would execute control sequences in names of hostile models.
TEST(Error, NamesControlNoTerminal)
{
    tengine_error_set(TENGINE_EINVAL, "Relu '%s': bad", "a\033[31m\r\x7f\xc2\x9b\xc3\xa4\xc2");
    EXPECT_STREQ("Relu 'a?[31m????\xc3\xa4\xc2': bad", tengine_error_message());
    tengine_error_set(TENGINE_EINVAL, "a\n\tb");
    EXPECT_STREQ("a\n\tb", tengine_error_message());
}

int fail_with(int code)
{
    TENGINE_RETURN_IF_ERROR(code);
    return 1;
}

TEST(Error, ReturnIfErrorPassesOnNegativeValuesOnly)
{
    EXPECT_EQ(TENGINE_EIO, fail_with(TENGINE_EIO));
    EXPECT_EQ(1, fail_with(TENGINE_OK));
    EXPECT_EQ(1, fail_with(5));
}

}  // namespace
}  // namespace tengine
