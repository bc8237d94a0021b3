// SPDX-License-Identifier: Apache-2.0
// base/print_text.hpp: the text that printf prints, as a String.
#include "base/print_text.hpp"

#include <gtest/gtest.h>
#include <string>

namespace tengine {
namespace {

TEST(PrintText, HasTheValues)
{
    EXPECT_EQ("", print_text("%s", ""));
    EXPECT_EQ("node 7, 'conv', of 3 %", print_text("node %u, '%s', of %d %%", 7u, "conv", 3));
}

TEST(PrintText, HasAnyLength)
{
    // String keeps up to 15 bytes in itself.
    for (const size_t length : {14, 15, 16, 1023, 1024, 100'000}) {
        const std::string value(length, 'x');
        EXPECT_EQ(("<" + value + ">").c_str(), print_text("<%s>", value.c_str())) << length;
    }
}

}  // namespace
}  // namespace tengine
