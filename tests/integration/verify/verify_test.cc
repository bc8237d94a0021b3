// SPDX-License-Identifier: Apache-2.0
// Each planted error is found by the check that is there for it, and by no other; without one,
// nothing is.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <set>

#include "tensor_file/tensor_file.h"
#include "tools/program.h"

namespace tengine::program {
namespace {

using nlohmann::json;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;

using Words = std::vector<std::string>;

// The output of `verify` for FAULTY with an error.
struct Verified
{
    Finished finished;
    json report;

    std::set<std::string> subjects(const std::string& check, const std::string& verdict) const
    {
        std::set<std::string> subjects;
        for (const json& finding : report["findings"])
            if (finding["check"] == check && finding["verdict"] == verdict)
                subjects.insert(finding["subject"].get<std::string>());
        return subjects;
    }

    std::set<std::string> failed_checks() const
    {
        std::set<std::string> checks;
        for (const json& finding : report["findings"])
            if (finding["verdict"] == "failed") checks.insert(finding["check"].get<std::string>());
        return checks;
    }
};

Verified verify(const std::string& error, const std::string& folder, const Words& more)
{
    const std::string file = folder + "/report.json";
    Words arguments = {"verify", "--plugin", TENGINE_FAULTY_PLUGIN,   "--device",
                       "FAULTY", "--option", "FAULTY.error=" + error, "--json",
                       file};
    arguments.insert(arguments.end(), more.begin(), more.end());
    Verified verified;
    verified.finished = run(arguments);
    verified.report = json::parse(tools::read_file(file));
    return verified;
}

struct Planted
{
    const char* error;
    const char* check;
};

std::ostream& operator<<(std::ostream& stream, const Planted& planted)
{
    return stream << planted.error;
}

class PlantedError : public testing::TestWithParam<Planted>
{
};

// Sanitizers have a heap of their own, which the program cannot count.
bool needs_the_heap(const std::string& check)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    return check == "memory" || check == "allocation";
#else
    (void)check;
    return false;
#endif
}

TEST_P(PlantedError, IsFoundByItsCheck)
{
    const auto& [error, check] = GetParam();
    if (needs_the_heap(check)) GTEST_SKIP() << "the sanitizer has replaced the heap";
    const Verified verified = verify(error, scratch_folder(), {"--only", "Conv fp32"});
    EXPECT_EQ(verified.finished.status, 1);
    EXPECT_THAT(verified.finished.errors, HasSubstr("FAULTY"));
    EXPECT_EQ(verified.failed_checks(), std::set<std::string>{check}) << verified.finished.output;
    EXPECT_THAT(verified.finished.output,
                HasSubstr(std::string("failed: ") + check + " Conv fp32"));
    EXPECT_EQ(verified.report["passed"], false);
}

INSTANTIATE_TEST_SUITE_P(Verify, PlantedError,
                         testing::Values(Planted{"scale", "values"}, Planted{"row", "values"},
                                         Planted{"odd_width", "values"},
                                         Planted{"reshape", "reshape"},
                                         Planted{"drift", "determinism"}, Planted{"race", "races"},
                                         Planted{"threads", "threads"},
                                         Planted{"allocate", "allocation"},
                                         Planted{"grow", "memory"}, Planted{"compile", "faults"},
                                         Planted{"async", "async"}),
                         testing::PrintToStringParamName());

TEST(Verify, ADeviceThatIsRightPasses)
{
    const Verified verified = verify("none", scratch_folder(), {});
    EXPECT_EQ(verified.finished.status, 0) << verified.finished.output << verified.finished.errors;
    EXPECT_EQ(verified.failed_checks(), std::set<std::string>{});
    for (const char* check :
         {"values", "determinism", "misuse", "memory", "reshape", "threads", "races", "async"})
        EXPECT_GT(verified.report["checks"][check]["passed"], 0) << check;
}

// A fault in one of a thousand results is found in any part of the results, not only on average.
TEST(Verify, AScaleThatIsOffByAThousandthIsFoundInAllSizes)
{
    const Verified verified = verify("scale", scratch_folder(), {"--only", "Conv fp32"});
    EXPECT_THAT(verified.subjects("values", "failed"), Contains("Conv 1x1x1x1 #1x1x1x1 #1"));
    EXPECT_THAT(verified.subjects("values", "failed"),
                Contains("Conv 1x64x28x28 #64x64x3x3 #64 pads=1,1,1,1"));
}

TEST(Verify, WhatIsWrongAtOddWidthsIsRightAtOthers)
{
    const Verified verified = verify("odd_width", scratch_folder(), {"--only", "Conv fp32"});
    EXPECT_THAT(verified.subjects("values", "failed"), Contains("Conv 1x13x7x17 #7x13x1x1 #7"));
    EXPECT_THAT(verified.subjects("values", "passed"),
                Contains("Conv 1x64x28x28 #64x64x3x3 #64 pads=1,1,1,1"));
}

// Like a device with NHWC kernels, which do not compute single nodes.
TEST(Verify, WhatIsWrongBehindAConvolutionIsFound)
{
    const Verified verified = verify("layout", scratch_folder(), {"--only", "AveragePool fp32"});
    EXPECT_EQ(verified.finished.status, 1);
    EXPECT_EQ(verified.failed_checks(), std::set<std::string>{"values"});
    const std::set<std::string> wrong = verified.subjects("values", "failed");
    EXPECT_GT(wrong.size(), 5U);
    for (const std::string& subject : wrong)
        EXPECT_THAT(subject, HasSubstr(" behind=Conv"));
    EXPECT_GT(verified.subjects("values", "passed").size(), 5U);
}

// ---- a model, layer by layer ----

const char kFirstConvolution[] = "/stem/Conv";

TEST(VerifyModel, NamesTheFirstWrongLayerAndWritesItAsAModel)
{
    const std::string folder = scratch_folder();
    const Words words = {"--model", data_file("digits.onnx"), "--shape",
                         "1x1x8x8", "--layer-folder",         folder};
    const Verified whole = verify("scale", folder, words);
    EXPECT_EQ(whole.finished.status, 1);
    ASSERT_EQ(whole.failed_checks(), std::set<std::string>{"layers"});
    const json& first = whole.report["findings"][0];
    EXPECT_EQ(first["subject"], kFirstConvolution);
    EXPECT_EQ(first["verdict"], "failed");
    EXPECT_GT(first["error"], first["bound"]);
    EXPECT_THAT(whole.subjects("layers", "passed"), Contains("/Relu"));

    const std::string model = folder + "/digits.stem_Conv.onnx";
    const std::string input = "image=" + folder + "/digits.stem_Conv.image.npy";
    EXPECT_THAT(first["reproduce"], HasSubstr("--model " + model + " --input '" + input + "'"));
    const Words alone = {"--model", model, "--input", input, "--layer-folder", folder};
    const Verified again = verify("scale", folder, alone);
    EXPECT_EQ(again.finished.status, 1);
    ASSERT_EQ(again.report["findings"].size(), 1u);
    EXPECT_EQ(again.report["findings"][0]["subject"], kFirstConvolution);
    EXPECT_EQ(again.report["findings"][0]["detail"], first["detail"]);
    EXPECT_EQ(verify("none", folder, alone).finished.status, 0);
}

// Only the layers of odd widths are wrong, and these only where the model's input has one.
TEST(VerifyModel, LayersAreVerifiedInTheShapesOfTheRun)
{
    const std::string folder = scratch_folder();
    for (const auto& [shape, status] : {std::pair("1x1x8x8", 0), std::pair("1x1x9x9", 1)}) {
        const Verified verified = verify(
            "odd_width", folder,
            {"--model", data_file("digits.onnx"), "--shape", shape, "--layer-folder", folder});
        EXPECT_EQ(verified.finished.status, status) << shape << verified.finished.output;
        EXPECT_EQ(verified.subjects("layers", "failed").count(kFirstConvolution),
                  static_cast<size_t>(status));
    }
}

TEST(VerifyModel, SaysWhatTheDeviceDoesNotTake)
{
    const std::string folder = scratch_folder();
    const Verified verified =
        verify("none", folder, {"--model", data_file("digits.onnx"), "--shape", "1x1x8x8"});
    EXPECT_EQ(verified.finished.status, 0) << verified.finished.output;
    EXPECT_THAT(verified.subjects("layers", "skipped"), Contains("/Softmax"));
    EXPECT_THAT(verified.finished.output, HasSubstr("the device has no Softmax"));
}

// Converting values and weights changes nothing: they are numbers that bf16 has.
TEST(VerifyModel, InAnotherPrecisionTheArithmeticIsJudged)
{
    const Finished finished = run({"verify", "--device", "CPU", "--precision", "bf16", "--model",
                                   data_file("digits.onnx"), "--shape", "1x1x8x8"});
    EXPECT_EQ(finished.status, 0) << finished.output;
    EXPECT_THAT(finished.output, Not(HasSubstr("failed:")));
}

TEST(VerifyModel, RefusesAFolderThatIsNotThere)
{
    const Finished finished = run({"verify", "--device", "CPU", "--model", data_file("digits.onnx"),
                                   "--layer-folder", scratch_folder() + "/none"});
    EXPECT_EQ(finished.status, 1);
    EXPECT_THAT(finished.errors, HasSubstr("is not a folder"));
}

// ---- a quantised model, in integers ----

constexpr int kIntegerLayers = 10;  // of digits: all but Softmax

std::string quantised_digits(const std::string& folder, const Words& more = {})
{
    const std::string file = folder + "/digits_int8.onnx";
    Words words = {"quantize", data_file("digits.onnx"), "--random", "16", "-o",
                   file,       "--activations",          "int8"};
    words.insert(words.end(), more.begin(), more.end());
    const Finished finished = run(words);
    EXPECT_EQ(finished.status, 0) << finished.errors;
    return file;
}

// Bytes between layers, and of weights one scale or one for each channel.
TEST(VerifyQuantised, PassesWhereEveryLayerRunsInIntegers)
{
    const std::string folder = scratch_folder();
    const bool has_tpu = run({"devices"}).output.find("\ndevice TPU") != std::string::npos;
    for (const Words& more : {Words{}, Words{"--per-channel"}}) {
        const std::string model = quantised_digits(folder, more);
        for (const std::string device : {"CPU", "TPU"}) {
            if (device == "TPU" && !has_tpu) continue;
            const std::string file = folder + "/report.json";
            const Finished finished = run({"verify", "--device", device, "--precision", "int8",
                                           "--model", model, "--shape", "1x1x8x8", "--json", file});
            EXPECT_EQ(finished.status, 0) << finished.output << finished.errors;
            const json checks = json::parse(tools::read_file(file))["checks"];
            EXPECT_EQ(checks["integer layers"]["passed"], kIntegerLayers) << device;
            EXPECT_EQ(checks["integer layers"]["skipped"], 0) << device;
            // The first QuantizeLinear, the last DequantizeLinear, and the node behind it.
            EXPECT_EQ(checks["layers"]["passed"], device == "CPU" ? 3 : 0);
            EXPECT_EQ(checks["layers"]["skipped"], device == "CPU" ? 0 : 3);
        }
    }
}

TEST(VerifyQuantised, NamesTheFirstWrongLayerAndWritesItWithItsBorders)
{
    const std::string folder = scratch_folder();
    const Words words = {"--model", quantised_digits(folder), "--shape", "1x1x8x8", "--precision",
                         "int8",    "--layer-folder",         folder};
    const Verified whole = verify("steps", folder, words);
    EXPECT_EQ(whole.finished.status, 1);
    EXPECT_EQ(whole.failed_checks(), std::set<std::string>{"integer layers"});
    const std::set<std::string> convolutions = {kFirstConvolution, "/depthwise/Conv",
                                                "/pointwise/Conv", "/block/conv1/Conv",
                                                "/block/conv2/Conv"};
    EXPECT_EQ(whole.subjects("integer layers", "failed"), convolutions);
    EXPECT_THAT(whole.subjects("integer layers", "skipped"), Contains("/pool/MaxPool"));
    EXPECT_THAT(whole.finished.output, HasSubstr("the device has no MaxPool"));
    EXPECT_THAT(whole.finished.errors, Not(HasSubstr("runs in float")));
    const json& first = whole.report["findings"][1];
    EXPECT_EQ(first["subject"], kFirstConvolution);
    EXPECT_EQ(first["operator"], "QLinearConv");

    const std::string model = folder + "/digits_int8.stem_Conv.onnx";
    const std::string input = "image_quantized";
    const std::string argument = input + "=" + folder + "/digits_int8.stem_Conv." + input + ".npy";
    EXPECT_THAT(first["reproduce"],
                HasSubstr("--precision int8 --model " + model + " --input '" + argument + "'"));
    const Words alone = {"--model",     model,  "--input",        argument,
                         "--precision", "int8", "--layer-folder", folder};
    const Verified again = verify("steps", folder, alone);
    EXPECT_EQ(again.finished.status, 1);
    ASSERT_EQ(again.report["findings"].size(), 1u) << again.finished.output;
    EXPECT_EQ(again.report["findings"][0]["subject"], kFirstConvolution);
    EXPECT_EQ(again.report["findings"][0]["detail"], first["detail"]);
    const Verified right = verify("none", folder, alone);
    EXPECT_EQ(right.finished.status, 0) << right.finished.output;
    EXPECT_EQ(right.subjects("integer layers", "passed").size(), 1u);
}

// Nodes that stay in float are verified one by one, with the DequantizeLinear before them.
TEST(VerifyQuantised, NodesBetweenQuantisedTensorsMayHaveNoIntegerForm)
{
    const std::string folder = scratch_folder();
    const std::string model = quantised_digits(folder);
    const Verified verified = verify("none", folder,
                                     {"--model", model, "--shape", "1x1x8x8", "--precision", "int8",
                                      "--option", "precision.keep_float=/block/Add"});
    EXPECT_EQ(verified.finished.status, 0) << verified.finished.output;
    EXPECT_THAT(verified.subjects("layers", "passed"), Contains("/block/Add"));
    EXPECT_THAT(verified.subjects("layers", "passed"), Contains("/block/Relu_1"));
    const json findings = verified.report["findings"];
    const auto place_of = [&](const std::string& subject) {
        size_t place = 0;
        while (place < findings.size() && findings[place]["subject"] != subject)
            ++place;
        return place;
    };
    EXPECT_LT(place_of("/block/norm2/BatchNormalization_output_0_DequantizeLinear"),
              place_of("/block/Add"));
    EXPECT_THAT(verified.finished.errors, Not(HasSubstr("runs in float")));
}

// ---- the page ----

size_t count(const std::string& text, const std::string& word)
{
    size_t number = 0;
    for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1))
        ++number;
    return number;
}

TEST(VerifyPage, StandsAloneAndShowsFailuresFirst)
{
    const std::string folder = scratch_folder();
    const std::string file = folder + "/page.html";
    verify("reshape", folder, {"--only", "Conv fp32", "--page", file});
    const std::string page = tools::read_file(file);
    EXPECT_THAT(page, testing::StartsWith("<!DOCTYPE html>"));
    // Nothing that a browser would fetch, and no program.
    for (const char* word : {"http:", "https:", "src=", "href=", "<script", "url("})
        EXPECT_THAT(page, Not(HasSubstr(word)));
    for (const std::string tag : {"html", "head", "body", "table", "tr", "td", "th", "p", "div",
                                  "details", "h2", "code", "span"})
        EXPECT_EQ(count(page, "<" + tag + ">") + count(page, "<" + tag + " "),
                  count(page, "</" + tag + ">"))
            << tag;
    EXPECT_LT(page.find("<h2>Failures</h2>"), page.find("<h2>Checks</h2>"));
    EXPECT_LT(page.find("<h2>Checks</h2>"), page.find("<h2>Operators</h2>"));
    EXPECT_THAT(page, HasSubstr("reshape Conv fp32"));
    EXPECT_THAT(page, HasSubstr("--only"));
}

}  // namespace
}  // namespace tengine::program
