// SPDX-License-Identifier: Apache-2.0
// --affinity and --hint of the commands that write models, and the effect of hints in `inspect`.
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tools/program.h"

namespace tengine::program {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

json inspect(const std::string& model, const std::vector<std::string>& more)
{
    std::vector<std::string> words = {"inspect", model, "--json", "-", "--precision", "bf16"};
    words.insert(words.end(), more.begin(), more.end());
    const Finished finished = run(words);
    EXPECT_EQ(finished.status, 0) << finished.errors;
    return json::parse(finished.output);
}

// The device that runs the nodes of an operator.
std::string device_of(const json& report, const std::string& op)
{
    for (const json& node : report["nodes"])
        if (node["op"] == op) return node["device"];
    return "none";
}

void expect_hints(const std::string& model)
{
    SCOPED_TRACE(model);
    json report = inspect(model, {"--device", "TPU"});
    EXPECT_EQ(device_of(report, "Conv"), "CPU");
    EXPECT_EQ(device_of(report, "Gemm"), "TPU");
    ASSERT_EQ(report["hints"].size(), 3u);
    EXPECT_EQ(report["hints"][0]["nodes"], "op:Gemm");
    EXPECT_EQ(report["hints"][0]["value"], "TPU");
    EXPECT_EQ(report["hints"][0]["node_number"], 1);
    EXPECT_EQ(report["hints"][2]["option"], "split.prune");
    EXPECT_EQ(report["hints"][2]["used"], true);
    report = inspect(model, {"--device", "TPU", "--affinity", "*=TPU"});
    EXPECT_EQ(device_of(report, "Conv"), "TPU");
    report = inspect(model, {"--device", "TPU", "--option", "model.hints=0"});
    EXPECT_EQ(report["hints"][0]["reason"], "the option model.hints is 0");
    report = inspect(model, {});
    EXPECT_EQ(report["hints"][0]["reason"], "the graph has no device 'TPU'");
}

const std::vector<std::string> kHints = {"--affinity",   "op:Gemm=TPU", "--affinity",
                                         "op:Conv=!TPU", "--hint",      "split.prune=0"};

std::vector<std::string> with_hints(std::vector<std::string> words)
{
    words.insert(words.end(), kHints.begin(), kHints.end());
    return words;
}

TEST(ModelHints, CommandsWriteAndKeepThem)
{
    const std::string folder = scratch_folder(), digits = data_file("digits.onnx");
    for (const std::string ending : {".onnx", ".tmfile"}) {
        const std::string model = folder + "/placed" + ending;
        const Finished finished =
            run(with_hints({"convert", digits, model, "--shape", "image=1x1x8x8"}));
        ASSERT_EQ(finished.status, 0) << finished.errors;
        expect_hints(model);
    }
    ASSERT_EQ(run({"convert", folder + "/placed.onnx", folder + "/placed.tflite"}).status, 0);
    ASSERT_EQ(run({"convert", folder + "/placed.tflite", folder + "/again.onnx"}).status, 0);
    EXPECT_EQ(inspect(folder + "/again.onnx", {})["hints"].size(), 3u);
}

TEST(ModelHints, CompileWritesThem)
{
    const std::string folder = scratch_folder(), model = folder + "/compiled.tmfile";
    const Finished finished = run(with_hints({"compile", data_file("digits.onnx"), "-o", model,
                                              "--device", "TPU", "--precision", "bf16"}));
    ASSERT_EQ(finished.status, 0) << finished.errors;
    const json report = inspect(model, {"--device", "TPU"});
    EXPECT_EQ(device_of(report, "Conv"), "CPU");
    EXPECT_EQ(report["hints"].size(), 3u);
    for (const json& part : report["parts"])
        EXPECT_TRUE(part["device"] == "CPU" || part["origin"] == "model") << part;
}

TEST(ModelHints, QuantizeKeepsThem)
{
    const std::string folder = scratch_folder(), model = folder + "/placed.onnx";
    ASSERT_EQ(run(with_hints({"convert", data_file("digits.onnx"), model})).status, 0);
    for (const std::string ending : {".onnx", ".tmfile"}) {
        const Finished finished =
            run({"quantize", model, "--random", "2", "-o", folder + "/int8" + ending});
        ASSERT_EQ(finished.status, 0) << finished.errors;
        EXPECT_EQ(inspect(folder + "/int8" + ending, {})["hints"].size(), 3u);
    }
}

TEST(ModelHints, WrongArguments)
{
    const std::string folder = scratch_folder();
    Finished finished =
        run({"convert", data_file("digits.onnx"), folder + "/x.onnx", "--hint", "cache.dir=/tmp"});
    EXPECT_NE(finished.status, 0);
    EXPECT_THAT(finished.errors, HasSubstr("hint 'cache.dir': a model may set split.prune"));
    finished = run({"convert", data_file("digits.onnx"), folder + "/x.onnx", "--hint", "=1"});
    EXPECT_THAT(finished.errors, HasSubstr("expected KEY=VALUE"));
    finished = run({"inspect", data_file("digits.onnx")});
    EXPECT_THAT(finished.output, Not(HasSubstr("the model's hint")));
}

}  // namespace
}  // namespace tengine::program
