// SPDX-License-Identifier: Apache-2.0
// Pictures as inputs of `tengine run`, and small files that claim to be large.
#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tensor_file/tensor_file.h"
#include "tools/program.h"
#include "tools/quantize_model.h"

namespace tengine::program {
namespace {

using testing::HasSubstr;

std::string little_endian(uint32_t number)
{
    std::string bytes;
    for (int shift = 0; shift < 32; shift += 8)
        bytes += static_cast<char>(number >> shift);
    return bytes;
}

// Returns the header of a .bmp file of 24 bits a pixel, without pixels.
std::string bmp_header(uint32_t height, uint32_t width)
{
    const std::string no_more(24, '\0');
    return "BM" + little_endian(54) + little_endian(0) + little_endian(54) + little_endian(40) +
           little_endian(width) + little_endian(height) + std::string("\1\0\x18\0", 4) + no_more;
}

TEST(Picture, OneThatItsFileCannotHoldIsRefusedBeforeItIsDecoded)
{
    const std::string path = scratch_folder() + "/large.bmp";
    tools::write_file(path, bmp_header(16384, 16384));
    const Finished finished = run({"run", data_file("digits.onnx"), "--input", "image=" + path});
    EXPECT_EQ(finished.status, 1);
    EXPECT_THAT(finished.errors, HasSubstr("which its file of 54 bytes cannot hold"));
}

// Writes 9 rows of 13 pixels, (37 i) mod 251 for each byte.
std::string write_colours(const std::string& folder)
{
    std::string bytes = "P6 13 9 255\n";
    for (int i = 0; i < 9 * 13 * 3; ++i)
        bytes += static_cast<char>(37 * i % 251);
    tools::write_file(folder + "/colours.ppm", bytes);
    return folder + "/colours.ppm";
}

// Returns the pixels that an input of this shape gets from it.
std::vector<int> pixels_of(const std::vector<int64_t>& shape,
                           const std::vector<std::string>& more = {})
{
    const std::string folder = scratch_folder();
    ModelMaker maker(shape);
    maker.node("Identity", {"x"}, "y");
    std::vector<std::string> arguments = {
        "run", maker.write(folder), "--input", write_colours(folder), "--output", folder + "/out"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    if (std::find(more.begin(), more.end(), "--scale") == more.end())
        arguments.insert(arguments.end(), {"--scale", "1"});
    const Finished finished = run(arguments);
    EXPECT_EQ(finished.status, 0) << finished.errors;
    if (finished.status != 0) return {};
    const tools::Tensor tensor = tools::read_tensor(folder + "/out/y.npy");
    std::vector<int> pixels;
    for (size_t i = 0; i < tensor.element_number(); ++i)
        pixels.push_back(static_cast<int>(tools::get_element(tensor, i)));
    return pixels;
}

// Returns a sum that depends on positions.
int64_t weighted_sum(const std::vector<int>& pixels)
{
    int64_t sum = 0;
    for (size_t i = 0; i < pixels.size(); ++i)
        sum += pixels[i] * static_cast<int64_t>(i % 97);
    return sum;
}

// The numbers are those of Pillow 9.4 for numpy.asarray of
//     image.resize((4, 5), BILINEAR), ImageOps.fit(image, (4, 5), BILINEAR),
//     ImageOps.pad(image, (4, 5), BILINEAR, color=(114, 114, 114)), image.resize((17, 11),
//     BILINEAR)
TEST(Picture, IsResizedAsPillowDoesIt)
{
    const std::vector<int> stretched = pixels_of({1, 5, 4, 3});
    EXPECT_THAT(std::vector<int>(stretched.begin(), stretched.begin() + 6),
                testing::ElementsAre(114, 113, 118, 132, 132, 120));
    EXPECT_EQ(weighted_sum(stretched), 220261);
    EXPECT_EQ(weighted_sum(pixels_of({1, 5, 4, 3}, {"--fit", "crop"})), 218743);
    EXPECT_EQ(weighted_sum(pixels_of({1, 5, 4, 3}, {"--fit", "letterbox"})), 213052);
    EXPECT_EQ(weighted_sum(pixels_of({1, 11, 17, 3})), 3268242);
}

TEST(Picture, ChannelsComeInTheOrderThatIsAskedFor)
{
    const std::vector<int> last = pixels_of({1, 5, 4, 3});
    const std::vector<int> planes = pixels_of({1, 3, 5, 4});
    const std::vector<int> blue_first = pixels_of({1, 3, 5, 4}, {"--bgr"});
    ASSERT_EQ(planes.size(), last.size());
    for (size_t i = 0; i < 20; ++i) {
        for (size_t c = 0; c < 3; ++c) {
            EXPECT_EQ(planes[c * 20 + i], last[i * 3 + c]);
            EXPECT_EQ(blue_first[(2 - c) * 20 + i], last[i * 3 + c]);
        }
    }
}

// The settings of a file are those of options, which come first.
TEST(Picture, SettingsMayStandBesideTheModel)
{
    const std::string folder = scratch_folder();
    ModelMaker maker({1, 3, 5, 4});
    maker.node("Identity", {"x"}, "y");
    const std::string model = maker.write(folder), picture = write_colours(folder);
    const auto pixels = [&](const std::vector<std::string>& more) {
        std::vector<std::string> arguments = {"run",   model,      "--input",
                                              picture, "--output", folder + "/out"};
        arguments.insert(arguments.end(), more.begin(), more.end());
        const Finished finished = run(arguments);
        EXPECT_EQ(finished.status, 0) << finished.errors;
        return tools::read_tensor(folder + "/out/y.npy").bytes;
    };
    const auto expected =
        pixels({"--fit", "letterbox", "--mean", "1,2,3", "--scale", "0.5", "--bgr"});
    const auto usual = pixels({});
    EXPECT_NE(usual, expected);
    const std::string settings =
        R"({"fit": "letterbox", "mean": [1, 2, 3], "scale": 0.5, "format": "bgr"})";
    tools::write_file(folder + "/other.json", settings);
    EXPECT_EQ(pixels({"--preprocess", folder + "/other.json"}), expected);
    tools::write_file(model.substr(0, model.rfind('.')) + ".preprocess.json", settings);
    EXPECT_EQ(pixels({}), expected);
    EXPECT_EQ(
        pixels({"--fit", "stretch", "--mean", "0", "--scale", "1/255", "--picture", "format=rgb"}),
        usual);
    EXPECT_EQ(pixels({"--picture", "fit=stretch", "--picture", "mean=0,0,0", "--picture",
                      "scale=0.00392156862745098", "--picture", "format=rgb"}),
              usual);
}

// The same picture in both formats, all precisions, integer inputs, devices and schedulers.
TEST(Picture, IsReadInEveryModeOfARun)
{
    const std::string folder = scratch_folder(), onnx = data_file("digits.onnx");
    const std::string tmfile = folder + "/net.tmfile", quantised = folder + "/int8.tmfile";
    EXPECT_EQ(run({"convert", onnx, tmfile}).status, 0);
    EXPECT_EQ(run({"quantize", onnx, "--random", "20", "--integer-io", "-o", quantised}).status, 0);
    const std::vector<std::string> modes[] = {
        {onnx},
        {onnx, "--precision", "fp16"},
        {onnx, "--precision", "bf16", "--device", "CPU"},
        {onnx, "--precision", "hybrid_int8"},
        {onnx, "--option", "scheduler=pipeline", "--threads", "2"},
        {tmfile},
        {quantised},
        {quantised, "--precision", "int8"},
    };
    for (std::vector<std::string> arguments : modes) {
        const std::string mode = arguments[0] + " " + arguments.back();
        arguments.insert(arguments.begin(), "run");
        arguments.insert(arguments.end(), {"--input", data_file("digit_7_007.png"), "--top", "1",
                                           "--labels", data_file("digits_labels.txt")});
        const Finished finished = run(arguments);
        EXPECT_EQ(finished.status, 0) << mode << ": " << finished.errors;
        EXPECT_THAT(finished.output, testing::ContainsRegex("\n +7 +0\\.9[0-9]* +7\n")) << mode;
    }
}

struct Refused
{
    std::vector<std::string> arguments;
    const char* message;
};

TEST(Picture, FaultySettingsAreNamed)
{
    const std::string folder = scratch_folder();
    tools::write_file(folder + "/bad.json", R"({"fut": "crop"})");
    const Refused refusals[] = {
        {{"--picture", "fut=crop"}, "--picture: the settings: unknown key 'fut', expected one of"},
        {{"--picture", "fit"}, "invalid --picture 'fit': expected KEY=VALUE"},
        {{"--picture", "a\"b=crop"}, "expected KEY=VALUE"},
        {{"--picture", "fit=\"crop\""}, "invalid --picture value '\"crop\"'"},
        {{"--picture", "fit=crop", "--picture", "fit=crop"}, "'fit' is given twice"},
        {{"--picture", "shorter_side=9"}, "needs the fit crop"},
        {{"--picture", "box=0,0,99,99"}, "box is 0,0,99,99: expected left < right"},
        {{"--preprocess", folder + "/bad.json"}, "bad.json: unknown key 'fut'"},
        {{"--preprocess", folder + "/none.json"}, "none.json': No such file"},
    };
    for (const Refused& refusal : refusals) {
        std::vector<std::string> arguments = {"run", data_file("digits.onnx"), "--input",
                                              data_file("digit_7_007.png")};
        arguments.insert(arguments.end(), refusal.arguments.begin(), refusal.arguments.end());
        const Finished finished = run(arguments);
        EXPECT_EQ(finished.status, 1) << refusal.message;
        EXPECT_THAT(finished.errors, HasSubstr(refusal.message));
    }
    for (const char* scale : {"0", "1,0,1"})
        EXPECT_EQ(run({"run", data_file("digits.onnx"), "--scale", scale}).status, 2) << scale;
}

// A model that leaves height and width free has the size of the settings, or the picture's.
TEST(Picture, SettingsGiveASizeThatTheModelLeavesFree)
{
    const std::string folder = scratch_folder();
    ModelMaker maker({-1, 3, -1, -1});
    maker.node("Identity", {"x"}, "y");
    const std::string model = maker.write(folder), picture = write_colours(folder);
    EXPECT_THAT(run({"run", model, "--input", picture}).output, HasSubstr("x  1x3x9x13  fp32"));
    EXPECT_THAT(run({"run", model, "--input", picture, "--picture", "size=5,4"}).output,
                HasSubstr("x  1x3x5x4  fp32"));
    EXPECT_THAT(
        run({"run", model, "--input", picture, "--picture", "size=5,4", "--shape", "1x3x6x7"})
            .output,
        HasSubstr("x  1x3x6x7  fp32"));
    EXPECT_THAT(run({"run", model, "--input", picture, "--picture", "box=2,3,6,5"}).output,
                HasSubstr("x  1x3x2x4  fp32"));
}

TEST(Picture, AScaleMayBeAFraction)
{
    const std::vector<int> whole = pixels_of({1, 3, 5, 4}, {"--mean", "1,2,3"});
    const std::vector<int> doubled =
        pixels_of({1, 3, 5, 4}, {"--mean", "1,2,3", "--scale", "4/2,2,2"});
    ASSERT_EQ(doubled.size(), whole.size());
    for (size_t i = 0; i < whole.size(); ++i)
        EXPECT_EQ(doubled[i], 2 * whole[i]);
    for (const char* wrong : {"1/0", "/2", "1/", "x", "1/2/3", "", "1,,2"}) {
        const Finished finished = run({"run", data_file("digits.onnx"), "--input",
                                       data_file("digit_7_007.png"), "--scale", wrong});
        EXPECT_EQ(finished.status, 2) << wrong;
        EXPECT_THAT(finished.errors, HasSubstr("--scale")) << wrong;
    }
}

}  // namespace
}  // namespace tengine::program
