// SPDX-License-Identifier: Apache-2.0
// --bucket of the commands: files have the buckets and the compiled parts of each, and requests of
// other sizes run in them.
#include <cstring>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "../api/onnx_graph.h"
#include "tools/program.h"

namespace tengine::program {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

const std::string kPadded = "input 'image' of 3x1x8x8 is padded to 4x1x8x8";

json run_json(const std::string& model, const std::vector<std::string>& more)
{
    std::vector<std::string> words = {"run", model, "--json", "-"};
    words.insert(words.end(), more.begin(), more.end());
    const Finished finished = run(words);
    EXPECT_EQ(finished.status, 0) << finished.errors;
    return json::parse(finished.output);
}

TEST(Buckets, ACompiledFileHasThePartsOfEach)
{
    const std::string model = scratch_folder() + "/buckets.tmfile";
    Finished finished = run({"compile", data_file("digits.onnx"), "-o", model, "--bucket",
                             "4x1x8x8", "--bucket", "image=2x1x8x8"});
    ASSERT_EQ(finished.status, 0) << finished.errors;
    EXPECT_THAT(finished.output, HasSubstr("compiled parts: 2, new: 2"));
    finished = run({"inspect", model});
    EXPECT_THAT(finished.output, HasSubstr("image=4x1x8x8"));
    EXPECT_THAT(finished.output, HasSubstr("image=2x1x8x8"));

    for (const int samples : {1, 2, 3, 4}) {
        const std::string shape = std::to_string(samples) + "x1x8x8";
        const json report = run_json(model, {"--shape", shape});
        EXPECT_EQ(report["buckets"]["shapes"].size(), 2u);
        EXPECT_EQ(report["buckets"]["used"], samples > 2 ? 0 : 1);
        EXPECT_EQ(report["buckets"]["reason"].get<std::string>().empty(), samples % 2 == 0);
        ASSERT_EQ(report["parts"].size(), 1u);
        EXPECT_EQ(report["parts"][0]["origin"], "model") << samples;
        EXPECT_EQ(report["outputs"][0]["shape"][0], samples);
    }
    const json report = run_json(model, {"--shape", "5x1x8x8"});
    EXPECT_EQ(report["buckets"]["used"], json());
    EXPECT_EQ(report["buckets"]["reason"], "no bucket holds input 'image' of 5x1x8x8");
    EXPECT_EQ(report["parts"][0]["origin"], "compiled");
}

// The model is in opset 9, whose Clip has attributes: y is a convolution of Clip(x), two rows of
// which are a picture.
std::string make_pictures()
{
    using namespace onnx;
    const auto limit = [](const char* name, float value) {
        uint32_t bits;
        std::memcpy(&bits, &value, sizeof bits);
        std::string text = Message().bytes(1, name).number(20, 1).text() + "\x15";
        for (int shift = 0; shift < 32; shift += 8)
            text += static_cast<char>(bits >> shift & 0xff);
        return text;
    };
    return Message()
        .number(1, 8)
        .bytes(8, Message().bytes(1, "").number(2, 9).text())
        .bytes(7,
               graph({node("Clip", {"x"}, {"c"}, {limit("min", -0.5f), limit("max", 0.5f)}),
                      node("Shape", {"c"}, {"shape"}), node("Gather", {"shape", "first"}, {"n"}),
                      node("Div", {"n", "two"}, {"half"}),
                      node("Concat", {"half", "width"}, {"to"}, {number_attribute("axis", 0)}),
                      node("Reshape", {"c", "to"}, {"picture"}),
                      node("Conv", {"picture", "w"}, {"y"})},
                     {value("x", kFloat, {-1, 4})}, {value("y", kFloat, {-1, 16, 2, 2})},
                     {constant<int64_t>("first", kInt64, {1}, {0}),
                      constant<int64_t>("two", kInt64, {1}, {2}),
                      constant<int64_t>("width", kInt64, {3}, {2, 2, 2}),
                      constant<float>("w", kFloat, {16, 2, 1, 1}, std::vector<float>(32, 0.25f))}))
        .text();
}

// A tmfile of Tengine's operators has the sizes of one shape.
TEST(Buckets, AModelThatComputesItsShapes)
{
    const std::string folder = scratch_folder(), model = folder + "/pictures.onnx";
    const std::string compiled = folder + "/pictures.tmfile", expected = folder + "/y.npy";
    std::ofstream(model, std::ios::binary) << make_pictures();
    Finished finished =
        run({"compile", model, "-o", compiled, "--bucket", "x=8x4", "--bucket", "x=4x4"});
    ASSERT_EQ(finished.status, 0) << finished.errors;
    EXPECT_THAT(finished.errors, HasSubstr("graph 'g' has buckets"));
    finished = run({"inspect", compiled});
    EXPECT_THAT(finished.output, HasSubstr("x 8x4 fp32 in fp32 on CPU"));
    EXPECT_THAT(finished.output, HasSubstr("x 4x4 fp32 in fp32 on CPU"));
    for (const std::string shape : {"8x4", "4x4", "6x4", "2x4", "10x4"}) {
        SCOPED_TRACE(shape);
        const std::vector<std::string> request = {"--shape", shape, "--seed", "7"};
        std::vector<std::string> words = {"run", model, "--output", folder};
        words.insert(words.end(), request.begin(), request.end());
        finished = run(words);
        ASSERT_EQ(finished.status, 0) << finished.errors;
        words = {"run", compiled, "--expect", expected};
        words.insert(words.end(), request.begin(), request.end());
        finished = run(words);
        EXPECT_THAT(finished.output, HasSubstr("agrees  y  no difference")) << finished.errors;
        const json report = run_json(compiled, request);
        EXPECT_EQ(report["parts"][0]["origin"], shape == "10x4" ? "compiled" : "model");
        EXPECT_EQ(report["buckets"]["reason"] == "", shape == "8x4" || shape == "4x4");
    }
}

// Each has those that name its inputs.
TEST(Buckets, Entries)
{
    const std::string folder = scratch_folder(), pictures = folder + "/pictures.onnx";
    const std::string model = folder + "/two.tmfile", compiled = folder + "/compiled.tmfile";
    std::ofstream(pictures, std::ios::binary) << make_pictures();
    Finished finished =
        run({"convert", "--entry", "digits=" + data_file("digits.onnx"), "--entry",
             "pictures=" + pictures, model, "--shape", "image=1x1x8x8", "--shape", "x=4x4"});
    ASSERT_EQ(finished.status, 0) << finished.errors;
    finished = run({"compile", model, "-o", compiled, "--bucket", "image=4x1x8x8", "--bucket",
                    "image=2x1x8x8"});
    ASSERT_EQ(finished.status, 0) << finished.errors;
    for (const int samples : {1, 3, 4}) {
        const std::string shape = "image=" + std::to_string(samples) + "x1x8x8";
        const json report = run_json(compiled, {"--entry", "digits", "--shape", shape});
        EXPECT_EQ(report["buckets"]["used"], samples > 2 ? 0 : 1);
        EXPECT_EQ(report["parts"][0]["origin"], "model");
    }
    EXPECT_TRUE(run_json(compiled, {"--entry", "pictures"})["buckets"]["shapes"].empty());
    finished = run({"compile", model, "-o", compiled, "--bucket", "audio=4x1"});
    EXPECT_NE(finished.status, 0);
    EXPECT_THAT(finished.errors, HasSubstr("--bucket: no entry of the model has an input 'audio'"));
}

TEST(Buckets, RunSaysWhichOneItTakes)
{
    const std::string digits = data_file("digits.onnx"), folder = scratch_folder();
    const std::vector<std::string> request = {"--shape", "3x1x8x8", "--seed", "5"};
    const auto results = [&](std::vector<std::string> more) {
        std::vector<std::string> words = {"run", digits};
        words.insert(words.end(), request.begin(), request.end());
        words.insert(words.end(), more.begin(), more.end());
        const Finished finished = run(words);
        EXPECT_EQ(finished.status, 0) << finished.errors;
        return finished.output;
    };
    EXPECT_THAT(results({"--output", folder}), Not(HasSubstr("bucket")));
    const std::string expected = folder + "/probabilities.npy";
    const std::string output = results({"--bucket", "4x1x8x8", "--expect", expected});
    EXPECT_THAT(output, HasSubstr("bucket  " + kPadded));
    EXPECT_THAT(output, HasSubstr("agrees"));
}

TEST(Buckets, ConvertWritesThem)
{
    const std::string folder = scratch_folder();
    for (const std::string ending : {".onnx", ".tmfile", ".tflite"}) {
        const std::string model = folder + "/converted" + ending;
        const Finished finished = run({"convert", data_file("digits.onnx"), model, "--shape",
                                       "image=1x1x8x8", "--bucket", "image=4x1x8x8"});
        ASSERT_EQ(finished.status, 0) << finished.errors;
        EXPECT_THAT(run({"inspect", model}).output, HasSubstr("image=4x1x8x8")) << ending;
    }
}

TEST(Buckets, AWrongOneIsAnError)
{
    const Finished finished = run({"run", data_file("digits.onnx"), "--bucket", "picture=4x1x8x8"});
    EXPECT_NE(finished.status, 0);
    EXPECT_THAT(finished.errors, HasSubstr("names no input of the graph"));
}

}  // namespace
}  // namespace tengine::program
