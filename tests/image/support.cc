// SPDX-License-Identifier: Apache-2.0
// The contract is in support.h.
#include "image/support.h"

#include <fstream>
#include <iterator>

namespace tengine::image {

std::string data_path(const std::string& name)
{
    return std::string(TENGINE_IMAGE_DATA_DIR) + "/" + name;
}

std::string read_file(const std::string& path)
{
    std::ifstream file(path, std::ios::binary);
    EXPECT_TRUE(file) << path;
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

tengine_image_settings make_settings(const std::string& json)
{
    tengine_image_settings settings;
    EXPECT_EQ(tengine_image_settings_init(&settings, sizeof settings), 0);
    if (json == "{}") return settings;
    EXPECT_EQ(tengine_image_settings_parse(json.data(), json.size(), &settings), 0)
        << get_tengine_error();
    return settings;
}

tengine_image_target make_target(int data_type, int n, int second, int third, int fourth)
{
    return {data_type, {n, second, third, fourth}, 0, 0};
}

std::vector<unsigned char> convert_bytes(const tengine_image& image, int channels, int height,
                                         int width, const tengine_image_settings& settings)
{
    const auto size = static_cast<size_t>(channels * height * width);
    std::vector<unsigned char> bytes(size);
    const tengine_image_target target =
        settings.layout == TENGINE_IMAGE_NHWC
            ? make_target(TENGINE_DT_UINT8, 1, height, width, channels)
            : make_target(TENGINE_DT_UINT8, 1, channels, height, width);
    if (tengine_image_convert(&image, 1, &settings, &target, bytes.data(), size) == 0) return bytes;
    return {};
}

testing::AssertionResult failed(int code, const std::string& text)
{
    const int actual = get_tengine_errno();
    const std::string message = get_tengine_error();
    clr_tengine_errno();
    if (actual == code && message.find(text) != std::string::npos)
        return testing::AssertionSuccess();
    return testing::AssertionFailure() << "code " << actual << ", expected " << code << ": '"
                                       << message << "', expected '" << text << "'";
}

}  // namespace tengine::image
