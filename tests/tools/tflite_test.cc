// SPDX-License-Identifier: Apache-2.0
// Models of TensorFlow Lite on the command line: the files of ../shared/data/tflite.
#include <cstdlib>
#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "program.h"

namespace tengine::program {
namespace {

using testing::HasSubstr;

std::string model_file(const std::string& name)
{
    return TENGINE_SHARED_DATA_DIR "/tflite/models/" + name + ".tflite";
}

class TfliteProgramTest : public testing::Test
{
  protected:
    void SetUp() override
    {
        if (!std::filesystem::exists(model_file("mlperf_tiny_kws_int8")))
            GTEST_SKIP() << "needs ../shared/data/tflite";
    }
};

// The signal-to-noise ratio of the first output, in dB.
double quantise(const std::string& model, const std::string& folder)
{
    const Finished finished =
        run({"quantize", model, "--random", "4", "-o", folder + "/quantised.onnx"});
    EXPECT_EQ(finished.status, 0) << finished.errors;
    const size_t line = finished.output.find("\noutput ");
    const size_t end = finished.output.find(" dB", line);
    const size_t begin = finished.output.rfind(' ', end - 1);
    return std::strtod(finished.output.c_str() + begin, nullptr);
}

// Names of nodes in this model have more than 255 bytes.
TEST_F(TfliteProgramTest, QuantisesAsTheSameModelInOnnx)
{
    const std::string folder = scratch_folder(), onnx = folder + "/model.onnx";
    const std::string model = model_file("ultra_light_face_slim");
    ASSERT_EQ(run({"convert", model, onnx}).status, 0);
    const double noise = quantise(model, folder);
    EXPECT_GT(noise, 30);
    EXPECT_NEAR(noise, quantise(onnx, folder), 0.1);
}

TEST_F(TfliteProgramTest, QuantisesFloatOperatorsWithQuantisedWeights)
{
    EXPECT_GT(quantise(model_file("mobilenet_v2_035_dynamic"), scratch_folder()), 17);
}

TEST_F(TfliteProgramTest, VerifiesTheLayersOfTheFile)
{
    struct Case
    {
        const char* model;
        const char* precision;
        const char* last;  // passed, failed, skipped
    };
    for (const Case& each : {Case{"mobilenet_v2_035_dynamic", "fp32", "66       0        0"},
                             Case{"mobilenet_v2_035_dynamic", "bf16", "53       0       13"},
                             Case{"mlperf_tiny_resnet_float", "fp16", "16       0        0"},
                             Case{"mlperf_tiny_kws_int8", "int8", "13       0        0"}}) {
        const Finished finished = run({"verify", "--device", "CPU", "--precision", each.precision,
                                       "--model", model_file(each.model)});
        EXPECT_EQ(finished.status, 0) << finished.output;
        EXPECT_THAT(finished.output, HasSubstr(each.last)) << each.model << " " << each.precision;
    }
}

TEST_F(TfliteProgramTest, InspectsByTheNamesOfTheFile)
{
    const Finished finished = run({"inspect", model_file("mlperf_tiny_kws_int8")});
    EXPECT_THAT(finished.output, HasSubstr("AVERAGE_POOL_2D:1 CONV_2D:5 DEPTHWISE_CONV_2D:4 "
                                           "FULLY_CONNECTED:1 RESHAPE:1 SOFTMAX:1"));
}

TEST_F(TfliteProgramTest, ByteCodeNamesItsMaker)
{
    const Finished finished = run({"run", model_file("compiled_qualcomm")});
    EXPECT_NE(finished.status, 0);
    EXPECT_THAT(finished.errors, HasSubstr("it is byte code for Qualcomm SM8650"));
}

// The five networks of MLPerf Tiny and others give the same bytes from a compiled file.
TEST_F(TfliteProgramTest, RunsFromACompiledFile)
{
    for (const char* name : {"mlperf_tiny_kws_int8", "mlperf_tiny_resnet_float",
                             "mobilenet_v1_025_96_int8", "selfie_segmenter_fp16"}) {
        const std::string folder = scratch_folder(), compiled = folder + "/model.tmfile";
        const Finished written = run({"run", model_file(name), "--output", folder});
        ASSERT_EQ(written.status, 0) << written.errors;
        ASSERT_EQ(run({"compile", model_file(name), "-o", compiled}).status, 0) << name;
        std::vector<std::string> words = {"run", compiled, "--tolerance", "0"};
        for (const auto& file : std::filesystem::directory_iterator(folder))
            if (file.path().extension() == ".npy") {
                words.emplace_back("--expect");
                words.push_back(file.path().stem().string() + "=" + file.path().string());
            }
        const Finished finished = run(words);
        EXPECT_EQ(finished.status, 0) << name << ": " << finished.errors;
    }
}

}  // namespace
}  // namespace tengine::program
