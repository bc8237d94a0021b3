// SPDX-License-Identifier: Apache-2.0
// --bucket of the commands: files have the buckets and the compiled parts of each, and requests of
// other sizes run in them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

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
