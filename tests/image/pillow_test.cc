// SPDX-License-Identifier: Apache-2.0
// Pictures against the bytes that Pillow makes of them: data/expected.txt, which make_expected.py
// writes.
#include <cstdlib>
#include <fstream>
#include <gtest/gtest.h>
#include <sstream>

#include "image/support.h"

namespace tengine::image {
namespace {

struct Expected
{
    std::string picture;
    int channels = 0, height = 0, width = 0, difference = 0;
    std::string settings, digits;

    std::string text() const
    {
        return picture + " " + std::to_string(channels) + "x" + std::to_string(height) + "x" +
               std::to_string(width) + " " + settings;
    }
    int byte(size_t index) const { return std::stoi(digits.substr(2 * index, 2), nullptr, 16); }
};

void compare(const Expected& expected)
{
    Decoded picture;
    ASSERT_EQ(picture.load(expected.picture), 0) << get_tengine_error();
    const std::vector<unsigned char> made =
        convert_bytes(picture.get(), expected.channels, expected.height, expected.width,
                      make_settings(expected.settings));
    ASSERT_EQ(made.size() * 2, expected.digits.size()) << get_tengine_error();
    int largest = 0;
    for (size_t i = 0; i < made.size(); ++i)
        largest = std::max(largest, std::abs(made[i] - expected.byte(i)));
    EXPECT_LE(largest, expected.difference);
}

TEST(Pillow, GivesTheSameBytes)
{
    TENGINE_NEEDS_DECODER();
    TENGINE_NEEDS_JSON();
    std::ifstream file(data_path("expected.txt"));
    int number = 0;
    for (std::string line; std::getline(file, line); ++number) {
        std::istringstream words(line);
        Expected expected;
        ASSERT_TRUE(words >> expected.picture >> expected.channels >> expected.height >>
                    expected.width >> expected.difference >> expected.settings >> expected.digits);
        SCOPED_TRACE(expected.text());
        compare(expected);
    }
    EXPECT_GT(number, 80);
}

}  // namespace
}  // namespace tengine::image
