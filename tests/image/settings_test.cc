// SPDX-License-Identifier: Apache-2.0
// Settings as JSON, and structs of other versions.
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>

#include "image/support.h"

namespace tengine::image {
namespace {

int parse(const std::string& json, tengine_image_settings* settings)
{
    return tengine_image_settings_parse(json.data(), json.size(), settings);
}

TEST(ImageSettings, DefaultsAreThoseOfTheHeader)
{
    const tengine_image_settings settings = make_settings();
    EXPECT_EQ(settings.size, sizeof settings);
    EXPECT_EQ(settings.fit, TENGINE_IMAGE_STRETCH);
    EXPECT_EQ(settings.format, TENGINE_IMAGE_RGB);
    EXPECT_EQ(settings.layout, TENGINE_IMAGE_ANY_LAYOUT);
    EXPECT_EQ(settings.orientation, 0);
    for (int c = 0; c < 3; ++c) {
        EXPECT_EQ(settings.mean[c], 0.0f);
        EXPECT_EQ(settings.scale[c], 0.0f);
        EXPECT_EQ(settings.fill[c], 114);
    }
}

TEST(ImageSettings, EveryKeyHasItsMember)
{
    TENGINE_NEEDS_JSON();
    const tengine_image_settings settings = make_settings(R"({
        "mean": [123.675, 116.28, 103.53], "scale": 0.017, "fit": "crop", "fill": [1, 2, 3],
        "format": "bgr", "layout": "nhwc", "orientation": "exif", "box": [4, 5, 6, 7],
        "shorter_side": 256, "size": [224, 225]})");
    EXPECT_EQ(settings.mean[0], 123.675f);
    EXPECT_EQ(settings.mean[2], 103.53f);
    for (const float scale : settings.scale)
        EXPECT_EQ(scale, 0.017f);
    EXPECT_EQ(settings.fit, TENGINE_IMAGE_CROP);
    EXPECT_EQ(settings.fill[1], 2);
    EXPECT_EQ(settings.format, TENGINE_IMAGE_BGR);
    EXPECT_EQ(settings.layout, TENGINE_IMAGE_NHWC);
    EXPECT_EQ(settings.orientation, 1);
    EXPECT_EQ(settings.box[3], 7);
    EXPECT_EQ(settings.shorter_side, 256);
    EXPECT_EQ(settings.height, 224);
    EXPECT_EQ(settings.width, 225);
}

TEST(ImageSettings, OtherMembersKeepTheirValues)
{
    TENGINE_NEEDS_JSON();
    tengine_image_settings settings = make_settings(R"({"fit": "letterbox", "mean": 5})");
    ASSERT_EQ(parse(R"({"mean": 6})", &settings), 0) << get_tengine_error();
    EXPECT_EQ(settings.fit, TENGINE_IMAGE_LETTERBOX);
    EXPECT_EQ(settings.mean[1], 6.0f);
    const tengine_image_settings before = settings;
    EXPECT_EQ(parse(R"({"fit": "crop", "mean": "x"})", &settings), -1);
    EXPECT_EQ(std::memcmp(&before, &settings, sizeof settings), 0);
}

struct Refused
{
    const char* json;
    const char* message;
};

const Refused kRefused[] = {
    {"", "parse error"},
    {"[1]", "not a JSON object"},
    {"3", "not a JSON object"},
    {R"({"maen": 1})", "unknown key 'maen', expected one of box, fill, fit, format, layout, mean"},
    {R"({"fit": "crop", "fit": "crop"})", "'fit' is given twice"},
    {R"({"fit": "middle"})", R"('fit' is "middle", expected "stretch", "crop" or "letterbox")"},
    {R"({"fit": "\u001b[2J"})", R"('fit' is "?[2J", expected)"},
    {R"({"\u001b[2J": 1})", "unknown key '?[2J'"},
    {R"({"fit": 1})", "'fit' is 1, expected"},
    {R"({"fit": null})", "'fit' is of another kind, expected"},
    {R"({"mean": [1, 2]})", "'mean' is [1, 2], expected a number or [red, green, blue]"},
    {R"({"mean": [1, 2, "x"]})", "'mean' is of another kind"},
    {R"({"mean": [1, [2], 3]})", "'mean' is of another kind"},
    {R"({"mean": {"red": 1}})", "'mean' is of another kind"},
    {R"({"mean": 1e300})", "'mean' is 1e+300"},
    {R"({"scale": 0})", "'scale' is 0, expected a number other than 0"},
    {R"({"scale": [1, 0, 1]})", "'scale' is [1, 0, 1]"},
    {R"({"fill": 256})", "'fill' is 256, expected an integer from 0 to 255"},
    {R"({"fill": 1.5})", "'fill' is 1.5"},
    {R"({"format": "grey"})", R"(expected "rgb" or "bgr")"},
    {R"({"layout": "hwc"})", R"(expected "any", "nchw" or "nhwc")"},
    {R"({"orientation": true})", R"(expected "stored" or "exif")"},
    {R"({"box": [1, 2, 3]})", "expected [left, top, right, bottom] in pixels"},
    {R"({"box": [1, 2, 3, -4]})", "'box' is [1, 2, 3, -4]"},
    {R"({"shorter_side": 0, "fit": "crop"})", "'shorter_side' is 0, expected a number of pixels"},
    {R"({"shorter_side": 256})", "shorter_side is 256, which needs the fit crop, but fit is"},
    {R"({"size": [224]})", "'size' is [224], expected [height, width] in pixels"},
    {R"({"size": [224, 99999999999999999999]})", "expected [height, width]"},
};

TEST(ImageSettings, FaultsAreNamed)
{
    TENGINE_NEEDS_JSON();
    tengine_image_settings settings = make_settings();
    for (const Refused& refused : kRefused) {
        EXPECT_EQ(parse(refused.json, &settings), -1) << refused.json;
        EXPECT_TRUE(failed(TENGINE_EINVAL, refused.message)) << refused.json;
    }
    const std::string deep(60000, '[');
    EXPECT_EQ(parse("{\"mean\": " + deep, &settings), -1);
    EXPECT_TRUE(failed(TENGINE_EINVAL, "parse error"));
    EXPECT_EQ(parse(std::string(65537, ' '), &settings), -1);
    EXPECT_TRUE(failed(TENGINE_ELIMIT, "65537 bytes, expected at most 65536"));
}

TEST(ImageSettings, AreFoundBesideAModel)
{
    TENGINE_NEEDS_JSON();
    const std::filesystem::path folder = testing::TempDir() + "tengine_settings.d";
    std::filesystem::create_directories(folder);
    const std::string model = (folder / "net.v1.onnx").string();
    const std::string file = (folder / "net.v1.preprocess.json").string();
    std::filesystem::remove(file);
    tengine_image_settings settings = make_settings();
    EXPECT_EQ(tengine_image_settings_load_beside(model.c_str(), &settings), 0);
    std::ofstream(file) << R"({"fit": "crop"})";
    EXPECT_EQ(tengine_image_settings_load_beside(model.c_str(), &settings), 1)
        << get_tengine_error();
    EXPECT_EQ(settings.fit, TENGINE_IMAGE_CROP);
    const std::string bare = (folder / "net.v1").string();  // ".v1" is its extension
    EXPECT_EQ(tengine_image_settings_load_beside(bare.c_str(), &settings), 0);
    std::ofstream(file) << R"({"fut": "crop"})";
    EXPECT_EQ(tengine_image_settings_load_beside(model.c_str(), &settings), -1);
    EXPECT_TRUE(failed(TENGINE_EINVAL, "net.v1.preprocess.json: unknown key 'fut'"));
    EXPECT_EQ(tengine_image_settings_load(bare.c_str(), &settings), -1);
    EXPECT_TRUE(failed(TENGINE_EIO, "cannot read the settings"));
    std::filesystem::remove_all(folder);
}

TEST(ImageSettings, StructsOfOtherVersionsAreTaken)
{
    struct Longer
    {
        tengine_image_settings settings;
        int added;
    } longer = {{}, 7};
    ASSERT_EQ(tengine_image_settings_init(&longer.settings, sizeof longer), 0);
    EXPECT_EQ(longer.settings.size, sizeof longer);
    EXPECT_EQ(longer.added, 0);
    EXPECT_EQ(longer.settings.fill[2], 114);

    // A program that only knows the members before `fill`.
    tengine_image_settings older;
    std::memset(&older, 0x55, sizeof older);
    const size_t known = offsetof(tengine_image_settings, fill);
    ASSERT_EQ(tengine_image_settings_init(&older, known), 0);
    EXPECT_EQ(older.fill[0], 0x55555555);
    const unsigned char pixels[] = {1, 2, 3, 4, 5, 6};
    const tengine_image image = {pixels, 3, 2, TENGINE_IMAGE_GREY, 0, 0};
    EXPECT_EQ(convert_bytes(image, 1, 2, 3, older), std::vector<unsigned char>(pixels, pixels + 6));
}

TEST(ImageSettings, MustBeInitialised)
{
    tengine_image_settings settings = {};
    EXPECT_EQ(tengine_image_settings_init(&settings, 0), -1);
    EXPECT_TRUE(failed(TENGINE_EINVAL, "tengine_image_settings_init has set"));
    const unsigned char pixel = 1;
    const tengine_image image = {&pixel, 1, 1, TENGINE_IMAGE_GREY, 0, 0};
    EXPECT_TRUE(convert_bytes(image, 1, 1, 1, settings).empty());
    EXPECT_TRUE(failed(TENGINE_EINVAL, "settings is not initialised"));
    EXPECT_EQ(parse("{}", nullptr), -1);
    EXPECT_TRUE(failed(TENGINE_EINVAL, "settings is NULL"));
}

TEST(ImageSettings, WithoutAParserAreNotSupported)
{
    if (TENGINE_READS_JSON) GTEST_SKIP() << "built with nlohmann-json";
    tengine_image_settings settings = make_settings();
    EXPECT_EQ(parse("{}", &settings), -1);
    EXPECT_TRUE(failed(TENGINE_ENOTSUP, "this build cannot read JSON"));
}

}  // namespace
}  // namespace tengine::image
